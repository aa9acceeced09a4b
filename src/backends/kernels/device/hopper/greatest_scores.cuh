// The greatest of a lane's scores, as products of warpgroups leave them: four of each group, two for each of two rows.
#pragma once

// The lane's greatest score of each row, or 0 where all are negative. Numbers that are not negative have the order of
// their bits, and one instruction finds the greatest of three integers. NaN counts as the greatest number, or as
// negative if it has a sign, which does no harm: the results of its row are NaN in any case.
template <int COUNT>
inline void find_greatest(float (&greatest)[2], float const (&scores)[COUNT][4]) {
    auto const greater = [](int a, int b) { return a > b ? a : b; };
    auto const bits = [](float score) { return static_cast<int>(__float_as_uint(score)); };
    int found[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            found[half] = greater(found[half], greater(bits(scores[i][2 * half]), bits(scores[i][2 * half + 1])));
        }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) greatest[half] = __uint_as_float(static_cast<unsigned>(found[half]));
}

// Whether one of the lane's scores, times a scale above 0, may exceed the base of its row by more than that.
template <int COUNT>
inline bool may_exceed(float const (&scores)[COUNT][4], float scale, float const (&bases)[2], float most_above) {
    float greatest[2];
    find_greatest(greatest, scores);
    return greatest[0] * scale > bases[0] + most_above || greatest[1] * scale > bases[1] + most_above;
}
