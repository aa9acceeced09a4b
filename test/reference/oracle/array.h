// The oracle's arrays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace oracle {

// A dense array of four dims. An index into a dim of size 1 is ignored, which broadcasts.
struct Array {
    std::array<std::int64_t, 4> dim{0, 0, 0, 0};
    std::vector<double> values;

    Array() = default;
    Array(std::int64_t d0, std::int64_t d1, std::int64_t d2, std::int64_t d3, double value = 0.0)
        : dim{d0, d1, d2, d3}, values(static_cast<std::size_t>(d0 * d1 * d2 * d3), value) {}

    double& at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) { return values[place(b, h, i, j)]; }
    double at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
        return values[place(b, h, i, j)];
    }
    // The elements of the last dim, for the inner loops, which spend most of the tests' time.
    double* row(std::int64_t b, std::int64_t h, std::int64_t i) { return values.data() + place(b, h, i, 0); }
    double const* row(std::int64_t b, std::int64_t h, std::int64_t i) const {
        return values.data() + place(b, h, i, 0);
    }

   private:
    std::size_t place(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
        auto const in = [this](std::size_t axis, std::int64_t index) { return dim[axis] == 1 ? 0 : index; };
        return static_cast<std::size_t>(((in(0, b) * dim[1] + in(1, h)) * dim[2] + in(2, i)) * dim[3] + in(3, j));
    }
};

// The sum of term(i) for all i < count, in four parts, which a processor adds side by side.
template <class Term>
double sum_in_parts(std::int64_t count, Term const& term) {
    std::array<double, 4> parts{};
    std::int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (std::int64_t part = 0; part < 4; ++part) parts[static_cast<std::size_t>(part)] += term(i + part);
    }
    for (; i < count; ++i) parts[0] += term(i);
    return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

}  // namespace oracle
