// Views made of DLPack's structures.
#include <sdpa_graph/tensor_view.h>

#include "support/catch.h"

#include <string>

namespace {

using cudnn_frontend::DataType_t;
using cudnn_frontend::error_code_t;
using sdpa_graph::Device_kind;
using sdpa_graph::Tensor_view;
namespace dlpack = sdpa_graph::dlpack;

// A tensor of half floats on the host, dims {2, 3, 4}.
struct Example {
    std::int64_t shape[3] = {2, 3, 4};
    std::int64_t strides[3] = {4, 8, 1};
    std::uint16_t memory[64] = {};
    dlpack::Tensor tensor{memory, {1, 0}, 3, {2, 16, 1}, shape, strides, 6};
};

}  // namespace

TEST_CASE("tensor view: what DLPack says is what the view says") {
    Example example;
    Tensor_view view;
    REQUIRE(sdpa_graph::make_view(example.tensor, view).is_good());
    CHECK(view.data == example.memory + 3);
    CHECK(view.dim == std::vector<std::int64_t>{2, 3, 4});
    CHECK(view.stride == std::vector<std::int64_t>{4, 8, 1});
    CHECK(view.type == DataType_t::HALF);
    CHECK(view.device == Device_kind::CPU);
    CHECK(view.device_index == 0);
    CHECK_FALSE(view.is_read_only);
    CHECK(sdpa_graph::span_of(view.dim, view.stride) == 4 + 16 + 3 + 1);
}

TEST_CASE("tensor view: no strides mean row-major") {
    Example example;
    example.tensor.strides = nullptr;
    Tensor_view view;
    REQUIRE(sdpa_graph::make_view(example.tensor, view).is_good());
    CHECK(view.stride == std::vector<std::int64_t>{12, 4, 1});
}

TEST_CASE("tensor view: devices") {
    CHECK(dlpack::kind_of({1, 0}) == Device_kind::CPU);
    CHECK(dlpack::kind_of({2, 1}) == Device_kind::CUDA);
    CHECK(dlpack::kind_of({3, 0}) == Device_kind::CPU);
    CHECK(dlpack::kind_of({13, 0}) == Device_kind::UNKNOWN);
    CHECK(dlpack::kind_of({10, 0}) == Device_kind::UNKNOWN);
}

TEST_CASE("tensor view: types") {
    CHECK(dlpack::type_of({4, 16, 1}) == DataType_t::BFLOAT16);
    CHECK(dlpack::type_of({2, 64, 1}) == DataType_t::DOUBLE);
    CHECK(dlpack::type_of({0, 32, 1}) == DataType_t::INT32);
    CHECK(dlpack::type_of({6, 8, 1}) == DataType_t::BOOLEAN);
    CHECK(dlpack::type_of({10, 8, 1}) == DataType_t::FP8_E4M3);
    CHECK(dlpack::type_of({12, 8, 1}) == DataType_t::FP8_E5M2);
    CHECK(dlpack::type_of({2, 16, 2}) == DataType_t::NOT_SET);
    CHECK(dlpack::type_of({5, 64, 1}) == DataType_t::NOT_SET);
}

TEST_CASE("tensor view: what cannot be read is an error, and leaves the view alone") {
    Example example;
    Tensor_view view;
    view.device_index = 7;
    example.tensor.type = {1, 16, 1};
    auto error = sdpa_graph::make_view(example.tensor, view);
    CHECK(error.code == error_code_t::INVALID_VALUE);
    CHECK(error.get_message() ==
          "a DLPack tensor of type code 1 with 16 bits in 1 lanes: the library has no such type");
    example.tensor.shape = nullptr;
    error = sdpa_graph::make_view(example.tensor, view);
    CHECK(error.get_message() == "a DLPack tensor of rank 3 without a shape");
    CHECK(view.device_index == 7);
}

TEST_CASE("tensor view: spans of empty, single and reversed dims, and without strides") {
    CHECK(sdpa_graph::span_of({}, {}) == 1);
    CHECK(sdpa_graph::span_of({2, 0}, {1, 1}) == 0);
    CHECK(sdpa_graph::span_of({3, 4}, {-4, 1}) == 4);
    std::int64_t const dim[] = {2, 3, 4};
    CHECK(sdpa_graph::span_of(3, dim, nullptr) == 24);
    CHECK(sdpa_graph::row_major({2, 3, 4}) == std::vector<std::int64_t>{12, 4, 1});
}

TEST_CASE("tensor view: sizes that no memory has give the greatest numbers, not others") {
    constexpr std::int64_t most = INT64_MAX;
    using Dims = std::vector<std::int64_t>;
    CHECK(sdpa_graph::row_major({2, most, most, 3}) == Dims{most, most, 3, 1});
    CHECK(sdpa_graph::row_major({2, 0, most, 3}) == Dims{0, most, 3, 1});
    CHECK(sdpa_graph::row_major({2, -3, 4}) == Dims{0, 4, 1});
    CHECK(sdpa_graph::span_of(Dims{most, most}, Dims{most, 1}) == most);
    CHECK(sdpa_graph::span_of(Dims{3, 2}, Dims{most / 2, most}) == most);
    CHECK(sdpa_graph::span_of(Dims{most}, Dims{1}) == most);
    CHECK(sdpa_graph::span_of(Dims{3, -2}, Dims{2, 1}) == 0);
    Dims const dim{4, most, most};
    CHECK(sdpa_graph::span_of(dim.size(), dim.data(), nullptr) == most);
}
