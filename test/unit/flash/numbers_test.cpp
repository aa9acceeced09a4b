// Compares the results of the functions with the formulas, forward and backward, on the CPU.
#include "flash_case.h"
#include "support/catch.h"

#include <cmath>

using namespace flash_test;

namespace {

struct Mask {
    bool is_causal;
    int left, right;
};

constexpr Mask kMasks[] = {{false, -1, -1}, {true, -1, -1}, {false, 3, -1}, {false, -1, 3},
                           {false, 2, 1},   {false, 0, 0},  {true, 2, -1},  {false, -1, 0}};

constexpr Sequence kSizes[] = {{1, 1}, {1, 7}, {7, 1}, {5, 3}, {3, 5}, {33, 34}, {29, 61}, {70, 16}};

Case masked(Mask const& mask) {
    Case c;
    c.is_causal = mask.is_causal;
    c.left = mask.left;
    c.right = mask.right;
    return c;
}

// One sequence of the size, packed between others, or two of it in a padded tensor.
void check_size(Case c, Sequence size) {
    c.sequences = {size, size};
    CHECK(faults_of(c) == "");
    c.is_packed = true;
    c.sequences = {{4, 6}, size, {0, 3}, {2, 0}};
    CHECK(faults_of(c) == "");
}

}  // namespace

TEST_CASE("flash numbers: masks and sizes") {
    for (Mask const& mask : kMasks)
        for (Sequence const size : kSizes) check_size(masked(mask), size);
}

TEST_CASE("flash numbers: slopes and soft caps with masks and sizes") {
    for (int const dims_of_slopes : {0, 1, 2})
        for (float const softcap : {0.0f, 0.7f})
            for (Mask const& mask : kMasks)
                for (Sequence const size : {Sequence{1, 7}, Sequence{7, 1}, Sequence{5, 3}, Sequence{9, 21}}) {
                    Case c = masked(mask);
                    c.dims_of_slopes = dims_of_slopes;
                    c.softcap = softcap;
                    if (dims_of_slopes > 0 || softcap > 0.0f) check_size(c, size);
                }
}

TEST_CASE("flash numbers: more than twice as many queries as keys") {
    for (Mask const mask : {Mask{false, -1, 5}, Mask{false, -1, 4}, Mask{false, -1, 3}, Mask{false, 2, -1},
                            Mask{false, 0, -1}, Mask{true, 0, -1}, Mask{false, 5, 5}})
        check_size(masked(mask), {13, 4});
}

TEST_CASE("flash numbers: a window ends where the longest sequence does") {
    for (Mask const mask : {Mask{false, 2, -1}, Mask{false, -1, 9}, Mask{false, 9, 9}}) {
        Case c = masked(mask);
        c.is_packed = true;
        c.sequences = {{13, 4}, {20, 9}, {3, 1}};
        CHECK(faults_of(c) == "");
        c.most_keys = 12;
        CHECK(faults_of(c) == "");
    }
}

TEST_CASE("flash numbers: windows that exclude everything") {
    Case c = masked({false, 0, 0});
    check_size(c, {9, 2});
    c.dims_of_slopes = 1;
    check_size(c, {9, 2});
}

TEST_CASE("flash numbers: lengths of 0, 1, 17 and 128 on either side") {
    Case c{.is_packed = true};
    for (std::int64_t const queries : {0, 1, 17, 128})
        for (std::int64_t const keys : {0, 1, 17, 128}) c.sequences.push_back({queries, keys});
    CHECK(faults_of(c) == "");
    c.is_causal = true;
    c.dims_of_slopes = 2;
    CHECK(faults_of(c) == "");
}

TEST_CASE("flash numbers: heads and head dims") {
    for (bool const is_packed : {false, true}) {
        Case c{.sequences = {{6, 9}, {6, 9}}, .is_packed = is_packed, .is_causal = true};
        for (std::int64_t const width : {8, 40, 64, 96, 128, 192, 256}) {
            c.width = width;
            CHECK(faults_of(c) == "");
        }
        c.width = 16;
        c.heads = 6;
        CHECK(faults_of(c) == "");
        c.dims_of_slopes = 2;
        c.heads = 4;
        c.key_heads = 1;
        CHECK(faults_of(c) == "");
    }
}

TEST_CASE("flash numbers: both types") {
    for (bool const is_packed : {false, true}) {
        Case c{.sequences = {{19, 25}, {19, 25}}, .is_packed = is_packed, .type = DataType_t::BFLOAT16};
        CHECK(faults_of(c) == "");
        c.softcap = 0.5f;
        CHECK(faults_of(c) == "");
    }
}

TEST_CASE("flash numbers: q, k and v as views of one tensor") {
    Case c{.sequences = {{8, 8}, {8, 8}}, .heads = 4, .is_interleaved = true};
    CHECK(faults_of(c) == "");
    c.is_packed = true;
    c.sequences = {{8, 8}, {3, 3}};
    CHECK(faults_of(c) == "");
}

TEST_CASE("flash numbers: one tensor of totals for q and k") {
    for (Mask const& mask : kMasks) {
        Case c = masked(mask);
        c.sequences = {{8, 8}, {0, 0}, {21, 21}, {1, 1}};
        c.is_packed = c.has_shared_totals = true;
        CHECK(faults_of(c) == "");
        c.dims_of_slopes = 1;
        CHECK(faults_of(c) == "");
    }
}

TEST_CASE("flash numbers: packed log-sum-exps by rows") {
    Case c{.sequences = {{5, 3}, {0, 2}, {4, 9}}, .is_packed = true, .heads = 4, .is_causal = true};
    c.has_log_sums_by_row = true;
    CHECK(faults_of(c) == "");
    c.zero_tensors = true;
    CHECK(faults_of(c) == "");
}

TEST_CASE("flash numbers: used keys and keys in pages") {
    for (std::int64_t const page_rows : {0, 256, 512, 768}) {
        Case c{.sequences = {{5, 7}, {1, 300}, {3, 800}, {2, 4}}, .is_packed = true, .page_rows = page_rows};
        c.heads = 4;
        CHECK(faults_of(c) == "");
        c.is_causal = true;
        CHECK(faults_of(c) == "");
        c.used = {3, 300, 0, 4};
        CHECK(faults_of(c) == "");
        c.dims_of_slopes = 2;
        c.softcap = 0.6f;
        CHECK(faults_of(c) == "");
    }
}

TEST_CASE("flash numbers: dropout is replayed by backward, under masks and slopes") {
    for (bool const is_packed : {false, true})
        for (Mask const& mask : kMasks) {
            Case c = masked(mask);
            c.is_packed = is_packed;
            c.sequences = {{9, 12}, {9, 12}};
            c.p_dropout = 0.17f;
            CHECK(faults_of(c) == "");
            c.dims_of_slopes = 1;
            CHECK(faults_of(c) == "");
        }
}

TEST_CASE("flash numbers: classes of shapes") {
    for (bool const is_packed : {false, true})
        for (Mask const& mask : kMasks)
            for (float const p_dropout : {0.0f, 0.17f})
                for (int const dims_of_slopes : {0, 1, 2}) {
                    Case c = masked(mask);
                    c.shape_policy = sdpa_graph::Shape_policy::CLASSES;
                    c.is_packed = is_packed;
                    c.sequences = {{9, 12}, {9, 12}, {9, 12}};
                    c.p_dropout = p_dropout;
                    c.dims_of_slopes = dims_of_slopes;
                    CHECK(faults_of(c) == "");
                }
}

TEST_CASE("flash numbers: the reference target") {
    for (bool const is_packed : {false, true}) {
        Case c = masked({true, 4, -1});
        c.is_packed = is_packed;
        c.sequences = {{9, 12}, {9, 12}};
        c.target = cudnn_frontend::Target::reference();
        c.p_dropout = 0.17f;
        CHECK(faults_of(c) == "");
    }
}

TEST_CASE("flash numbers: options in random company") {
    sdpa_test::Random random(27);
    for (int i = 0; i < 400; ++i) {
        Case c = masked(random.pick(kMasks));
        c.seed = static_cast<std::uint64_t>(i) + 100;
        c.is_packed = random.flip();
        c.type = random.pick({DataType_t::HALF, DataType_t::BFLOAT16});
        c.key_heads = random.between(1, 3);
        c.heads = c.key_heads * random.between(1, 3);
        c.width = 8 * random.between(1, 3);
        c.dims_of_slopes = random.chance(0.3) ? static_cast<int>(random.between(1, 2)) : 0;
        if (random.chance(0.25)) c.softcap = 0.9f;
        else if (random.chance(0.3)) c.p_dropout = 0.3f;
        c.zero_tensors = random.flip();
        Sequence const size{random.between(1, 40), random.between(1, 40)};
        for (std::int64_t n = random.between(1, 4); n > 0; --n)
            c.sequences.push_back(c.is_packed ? Sequence{random.between(0, 40), random.between(0, 40)} : size);
        if (c.is_packed) c.sequences.push_back({3, 5});
        CHECK(faults_of(c) == "");
    }
}

TEST_CASE("flash numbers: so many probabilities are dropped as asked") {
    Case c{.sequences = {{128, 128}, {128, 128}}, .heads = 4, .key_heads = 4, .p_dropout = 0.17f};
    CHECK(faults_of(c) == "");
    CHECK(share_dropped(c) == Approx(0.17).margin(0.01));
    c.seed = 2;
    CHECK(share_dropped(c) == Approx(0.17).margin(0.01));
}
