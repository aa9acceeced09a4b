// Problems as loops: as few as the strides allow, by vectors where they can be.
#include "core/dims.h"
#include "kernels/launch/strided_kernel.h"
#include "support/catch.h"
#include "support/kernels/joint_cases.h"

using namespace sdpa_test;
using cudnn_frontend::DataType_t;
using cudnn_frontend::core::Dims;
using kernels::Operand;

namespace {

Operand packed(DataType_t type, Dims dims) {
    Dims strides = cudnn_frontend::core::packed_strides(dims);
    return {type, std::move(dims), std::move(strides)};
}

kernels::MergeProblem merge_of(DataType_t type) {
    return {packed(type, {4, 2, 8, 16, 128}), packed(DataType_t::FLOAT, {4, 2, 8, 16, 1}),
            packed(type, {2, 8, 16, 128}), packed(DataType_t::FLOAT, {2, 8, 16, 1})};
}

Dims sizes(kernels::LaunchForm const& form) {
    return {form.arguments.sizes, form.arguments.sizes + form.arguments.loops};
}

}  // namespace

TEST_CASE("packed operands take one loop, and columns beside statistics another") {
    kernels::SumProblem const sum{packed(DataType_t::BFLOAT16, {3, 2, 8, 64, 128}),
                                  packed(DataType_t::BFLOAT16, {2, 8, 64, 128})};
    auto const of_sum = kernels::launch_forms(kernels::operands_of(sum), 132);
    CHECK(sizes(of_sum.elements) == Dims{2 * 8 * 64 * 128});
    REQUIRE(of_sum.vectors);
    CHECK(sizes(*of_sum.vectors) == Dims{2 * 8 * 64 * 16});

    auto const merge = merge_of(DataType_t::BFLOAT16);
    auto const of_merge = kernels::launch_forms(kernels::operands_of(merge), 132);
    CHECK(sizes(of_merge.elements) == Dims{128, 256});
    REQUIRE(of_merge.vectors);
    CHECK(sizes(*of_merge.vectors) == Dims{16, 256});
    CHECK(of_merge.vectors->arguments.column_loop == 0);
    CHECK(of_merge.vectors->arguments.parts == 4);
    CHECK(of_merge.vector_alignments == std::vector<std::uintptr_t>{16, 4, 16, 4});
}

TEST_CASE("a layout with the heads inside takes a loop more") {
    auto merge = merge_of(DataType_t::HALF);
    merge.o.strides = {16 * 8 * 128, 128, 8 * 128, 1};
    auto const forms = kernels::launch_forms(kernels::operands_of(merge), 132);
    REQUIRE(forms.vectors);
    CHECK(sizes(*forms.vectors) == Dims{16, 16, 8, 2});
}

TEST_CASE("vectors need stride 1, and whole vectors in every row") {
    auto const allows_vectors = [](kernels::MergeProblem const& merge) {
        return kernels::launch_forms(kernels::operands_of(merge), 132).vectors.has_value();
    };
    auto merge = merge_of(DataType_t::FLOAT);
    CHECK(allows_vectors(merge));
    merge.partial_o.strides[3] += 2;  // rows whose distance is no multiple of 16 bytes
    CHECK_FALSE(allows_vectors(merge));
    merge.partial_o.strides[3] += 2;
    CHECK(allows_vectors(merge));
    merge.o.strides = {8 * 16 * 128, 16 * 128, 1, 16};  // columns that are not adjacent
    CHECK_FALSE(allows_vectors(merge));
    kernels::SumProblem const odd{packed(DataType_t::BFLOAT16, {2, 3, 129}), packed(DataType_t::BFLOAT16, {3, 129})};
    CHECK_FALSE(kernels::launch_forms(kernels::operands_of(odd), 132).vectors);
}

TEST_CASE("small problems get small blocks, and large ones large blocks") {
    auto const merge = merge_of(DataType_t::BFLOAT16);  // 4,096 vectors
    auto const threads = [&](int multiprocessors) {
        return kernels::launch_forms(kernels::operands_of(merge), multiprocessors).vectors->threads;
    };
    CHECK(threads(16) == 256);
    CHECK(threads(64) == 64);
    CHECK(threads(132) == 32);
}

TEST_CASE("a thread has two vectors where threads enough are left for all multiprocessors") {
    auto const forms = [](std::int64_t rows, std::int64_t columns) {
        kernels::MergeProblem const merge{packed(DataType_t::BFLOAT16, {2, rows, columns}),
                                          packed(DataType_t::FLOAT, {2, rows, 1}),
                                          packed(DataType_t::BFLOAT16, {rows, columns}),
                                          {}};
        return *kernels::launch_forms(kernels::operands_of(merge), 1).vectors;
    };
    auto const pairs = forms(256, 128);  // 2,048 threads
    CHECK(pairs.share == kernels::Share::PairOfVectors);
    CHECK(sizes(pairs) == Dims{8, 256});
    CHECK(pairs.arguments.steps == 2048);
    CHECK(pairs.arguments.pair_distance == 64);
    CHECK(forms(255, 128).share == kernels::Share::Vector);
    CHECK(forms(4096, 72).share == kernels::Share::Vector);  // 9 vectors
}

TEST_CASE("threads, parts and elements are counted in 64 bits from 2^31 on") {
    auto const forms = [](std::int64_t columns) {
        kernels::SumProblem const sum{packed(DataType_t::HALF, {1, columns}), packed(DataType_t::HALF, {columns})};
        return kernels::launch_forms(kernels::operands_of(sum), 132);
    };
    CHECK_FALSE(forms((std::int64_t{1} << 31) - 256).is_wide);
    CHECK(forms((std::int64_t{1} << 31) - 255).is_wide);
    CHECK(forms(std::int64_t{1} << 31).elements.blocks == 1u << 23);

    auto const is_wide = [](std::int64_t parts, std::int64_t part_stride, std::int64_t row_stride) {
        kernels::SumProblem const sum{{DataType_t::HALF, {parts, 3, 8}, {part_stride, row_stride, 1}},
                                      packed(DataType_t::HALF, {3, 8})};
        return kernels::launch_forms(kernels::operands_of(sum), 132).is_wide;
    };
    CHECK_FALSE(is_wide(2, std::int64_t{1} << 40, (std::int64_t{1} << 30) - 8));  // parts are no places in an operand
    CHECK(is_wide(2, 24, std::int64_t{1} << 30));
    CHECK(is_wide(std::int64_t{1} << 31, 0, 8));
}
