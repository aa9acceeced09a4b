// Refused calls, and the texts of their errors.
#include "cuda/driver.h"
#include "has_compiler.h"
#include "support/catch.h"
#include "support/kernels/joint_cases.h"
#include "support/system/own_process.h"

using namespace sdpa_test;
using cudnn_frontend::DataType_t;
using cudnn_frontend::error_code_t;
using cudnn_frontend::kernels::DeviceFacts;

namespace {

constexpr DeviceFacts kH200{90, 132};

kernels::MergeProblem good_merge() {
    return {{DataType_t::HALF, {3, 2, 5, 8}, {80, 40, 8, 1}},
            {DataType_t::FLOAT, {3, 2, 5, 1}, {10, 5, 1, 1}},
            {DataType_t::HALF, {2, 5, 8}, {40, 8, 1}},
            {}};
}

// The error of a problem that was changed.
template <class Change>
std::string refusal(Change const& change) {
    kernels::MergeProblem merge = good_merge();
    change(merge);
    auto const made = kernels::compile_merge(merge, kH200);
    return made.error().code == error_code_t::INVALID_VALUE ? made.error().err_msg : "no such error";
}

}  // namespace

TEST_CASE("operands that do not fit are refused by name, with what was found and what is needed") {
    using Merge = kernels::MergeProblem;
    CHECK(refusal([](Merge& merge) { merge.partial_o.type = DataType_t::DOUBLE; }) ==
          "merge: partial_o: found type DOUBLE; expected BFLOAT16, HALF or FLOAT.");
    CHECK(refusal([](Merge& merge) { merge.partial_stats.type = DataType_t::HALF; }) ==
          "merge: partial_stats: found type HALF; expected FLOAT.");
    CHECK(refusal([](Merge& merge) { merge.partial_lengths = merge.partial_stats; }) ==
          "merge: partial_lengths: found type FLOAT; expected INT32.");
    CHECK(refusal([](Merge& merge) { merge.partial_stats.dims[0] = 2; }) ==
          "merge: partial_stats: found dims [2, 2, 5, 1]; expected [3, 2, 5, 1], with one part or more.");
    CHECK(refusal([](Merge& merge) { merge.partial_o.dims[0] = 0; }) ==
          "merge: partial_o: found dims [0, 2, 5, 8]; expected [0, 2, 5, 8], with one part or more.");
    CHECK(refusal([](Merge& merge) { merge.partial_o.dims.clear(); }) ==
          "merge: partial_o: found dims []; expected [1, 2, 5, 8], with one part or more.");
    CHECK(refusal([](Merge& merge) { merge.o.dims = {}; }) ==
          "merge: o: found dims []; expected 1 to 6 dims, all positive.");
    CHECK(refusal([](Merge& merge) { merge.o.dims[1] = 0; }) ==
          "merge: o: found dims [2, 0, 8]; expected 1 to 6 dims, all positive.");
    CHECK(refusal([](Merge& merge) {
              merge.o.strides = {40, 8, -1};
          }) == "merge: o: found strides [40, 8, -1] for dims [2, 5, 8]; expected one for each dim, none negative.");
    CHECK(refusal([](Merge& merge) {
              merge.o.strides = {40, 8};
          }) == "merge: o: found strides [40, 8] for dims [2, 5, 8]; expected one for each dim, none negative.");
    CHECK(refusal([](Merge& merge) {
              merge.o.strides = {40, 0, 1};
          }) ==
          "merge: o: found strides [40, 0, 1] for dims [2, 5, 8]; expected strides by which no two "
          "elements share memory.");
    CHECK(refusal([](Merge& merge) { merge.partial_o.strides[0] = INT64_MAX; }) ==
          "merge: partial_o: found strides [9223372036854775807, 40, 8, 1] for dims [3, 2, 5, 8]; expected element "
          "indices below 2^63.");
}

TEST_CASE("devices without bfloat16, and devices that NVRTC does not know, are refused") {
    auto const old = kernels::compile_merge(good_merge(), {75, 40}).error();
    CHECK(old.code == error_code_t::GRAPH_NOT_SUPPORTED);
    CHECK(old.err_msg == "merge: found compute capability 7.5; expected 8.0 or newer.");

    if (!has_compiler()) return;
    auto const unknown = kernels::compile_merge(good_merge(), {95, 40}).error();
    CHECK(unknown.code == error_code_t::NVRTC_COMPILATION_FAILED);
    INFO(unknown.err_msg);
    CHECK(unknown.err_msg.starts_with("NVRTC "));
    CHECK(unknown.err_msg.find(", does not compile for compute capability 9.5, only for ") != std::string::npos);
    CHECK(unknown.err_msg.ends_with("; set SDPA_GRAPH_NVRTC_PATH to the folder of one that does"));
}

TEST_CASE("what is wrong with the pointers of a launch is said before anything runs") {
    if (!has_compiler()) return;
    auto const kernel = kernels::compile_merge(good_merge(), kH200);
    REQUIRE(kernel.is_good());
    alignas(16) static std::byte memory[64];
    auto const refusal_of = [&](std::vector<void*> const& pointers) {
        auto const error = kernel.value()->launch(nullptr, pointers);
        return error.code == error_code_t::INVALID_VARIANT_PACK ? error.err_msg : "no such error";
    };
    CHECK(refusal_of({memory, memory}) == "merge: found 2 pointers; expected one for each of its 3 operands.");
    CHECK(refusal_of({memory, nullptr, memory}) ==
          "merge: found a null pointer to partial_stats; expected GPU memory.");
    CHECK(refusal_of({memory, memory + 2, memory}) ==
          "merge: found an unaligned pointer to partial_stats; expected a multiple of its elements' 4 bytes.");
}

TEST_CASE("work with a kernel fails with an error where there is no GPU") {
    if (!has_compiler()) return;
    auto const kernel = kernels::compile_merge(good_merge(), kH200);
    REQUIRE(kernel.is_good());
    std::string const failed = in_own_process([&]() -> std::string {
        if (cudnn_frontend::cuda::check_driver().is_good()) return "";
        alignas(16) std::byte memory[64];
        std::vector<void*> const pointers{memory, memory, memory};
        auto const& made = *kernel.value();
        std::string text;
        text += made.launch(nullptr, pointers).is_bad() ? "launch " : "";
        text += made.load().is_bad() ? "load " : "";
        text += made.add_node(nullptr, {}, pointers).is_bad() ? "node " : "";
        text += made.update_node(nullptr, pointers).is_bad() ? "update " : "";
        text += made.update_node(nullptr, nullptr, pointers).is_bad() ? "instance " : "";
        text += cudnn_frontend::cuda::device_facts(0).is_bad() ? "facts" : "";
        return text;
    });
    CHECK((failed.empty() || failed == "launch load node update instance facts"));
}
