// Each rule of the functions over tensors in docs/neighborhood-functions.md, broken.
#include "example.h"
#include "support/catch.h"

#include "calls/result_memory.h"
#include "neighborhood/rules.h"

#include <climits>
#include <limits>

using namespace neighborhood_test;

namespace {

struct Wanted {
    std::string rule, tensor, found;
};

void check(error_object const& error, Wanted const& wanted) {
    INFO(error.get_message());
    CHECK(error.is_bad());
    CHECK(error.where.rule == wanted.rule);
    CHECK(error.where.tensor == wanted.tensor);
    CHECK(error.get_message().find("found " + wanted.found) != std::string::npos);
}

using Function = error_object (Example<2>::*)();

template <class Change>
error_object changed(Function function, Change const& change) {
    Example<2> call;
    change(call);
    return (call.*function)();
}

template <class Change>
error_object forward(Change const& change) {
    return changed(&Example<2>::forward, change);
}

constexpr Function kAll[] = {&Example<2>::forward,     &Example<2>::backward, &Example<2>::qk,
                             &Example<2>::qk_backward, &Example<2>::av,       &Example<2>::av_backward};

}  // namespace

TEST_CASE("na: the examples are valid") {
    for (Function const function : kAll) CHECK(changed(function, [](Example<2>&) {}).get_message() == "");
}

TEST_CASE("na.c01: every tensor that has elements has memory") {
    check(forward([](auto& c) { c.k.view().data = nullptr; }), {"na.c01", "key", "no memory"});
    check(changed(&Example<2>::av_backward, [](auto& c) { c.dattn.view().data = nullptr; }),
          {"na.c01", "d_attn", "no memory"});
}

TEST_CASE("na.c02: tensors have as many dims as the function takes") {
    check(forward([](auto& c) { c.q.view().dim.pop_back(); }), {"na.c02", "query", "dims [2, 5, 6, 2]"});
    check(forward([](auto& c) { c.v.view().dim[1] = -5; }), {"na.c02", "value", "dims [2, -5, 6, 2, 8]"});
    check(forward([](auto& c) { c.out.view().stride.clear(); }),
          {"na.c02", "output", "dims [2, 5, 6, 2, 8] and strides []"});
    check(forward([](auto& c) { c.q.view().dim = {LLONG_MAX, LLONG_MAX, 6, 2, 8}; }), {"na.c02", "query", "dims ["});
    check(forward([](auto& c) { c.k.view().dim = {LLONG_MAX, LLONG_MAX, 6, 0, 8}; }), {"na.c02", "key", "dims ["});
    check(forward([](auto& c) { c.v.view().stride[0] = LLONG_MIN; }), {"na.c02", "value", "dims ["});
}

TEST_CASE("na.c03: all tensors are on one device") {
    auto const cuda = sdpa_graph::Device_kind::CUDA;
    check(forward([&](auto& c) { c.v.view().device = cuda; }), {"na.c03", "value", "GPU 0"});
    check(forward([](auto& c) {
              for (Buffer* const b : {&c.q, &c.k, &c.v, &c.out, &c.lse})
                  b->view().device = sdpa_graph::Device_kind::UNKNOWN;
          }),
          {"na.c03", "query", "an unknown device"});
}

TEST_CASE("na.c04: the target runs where the tensors are") {
    check(forward([](auto& c) { c.place.target = cudnn_frontend::Target::offline("{}"); }),
          {"na.c04", "", "the target offline for tensors of a CPU"});
}

TEST_CASE("na.c05: query, or value where there is none, is of a floating-point type") {
    check(forward([](auto& c) {
              for (Buffer* const b : {&c.q, &c.k, &c.v, &c.out}) b->view().type = DataType_t::INT32;
          }),
          {"na.c05", "query", "the type INT32"});
    check(changed(&Example<2>::av,
                  [](auto& c) {
                      for (Buffer* const b : {&c.product_v, &c.attn, &c.product_out})
                          b->view().type = DataType_t::DOUBLE;
                  }),
          {"na.c05", "value", "the type DOUBLE"});
}

TEST_CASE("na.c06: all other tensors have that type") {
    check(forward([](auto& c) { c.k.view().type = DataType_t::HALF; }), {"na.c06", "key", "the type HALF"});
    check(forward([](auto& c) {
              c.has_bias = true;
              c.bias.view().type = DataType_t::HALF;
          }),
          {"na.c06", "rel_pos_bias", "the type HALF"});
}

TEST_CASE("na.c07: logsumexp is FLOAT") {
    check(forward([](auto& c) { c.lse.view().type = DataType_t::HALF; }), {"na.c07", "logsumexp", "the type HALF"});
}

TEST_CASE("na.c08: tensors have the dims that follow") {
    check(forward([](auto& c) { c.k.view().dim[1] = 4; }), {"na.c08", "key", "dims [2, 4, 6, 2, 8]"});
    check(changed(&Example<2>::qk, [](auto& c) { c.attn.view().dim.back() = 8; }),
          {"na.c08", "attn", "dims [2, 2, 5, 6, 8]"});
    check(changed(&Example<2>::qk_backward,
                  [](auto& c) {
                      c.has_bias = true;
                      c.dbias.view().dim[1] = 3;
                  }),
          {"na.c08", "d_rel_pos_bias", "dims [2, 3, 5]"});
}

TEST_CASE("na.c09: tensors are contiguous, except attn and d_attn") {
    check(forward([](auto& c) { c.q.view().stride[1] += 1; }), {"na.c09", "query", "strides ["});
    check(forward([](auto& c) { c.lse.view().stride[0] += 1; }), {"na.c09", "logsumexp", "strides ["});
}

TEST_CASE("na.c10: results are not read-only") {
    check(forward([](auto& c) { c.out.view().is_read_only = true; }), {"na.c10", "output", "memory that is read-only"});
    Example<2> call;
    call.out.view().is_read_only = true;
    CHECK(call.backward().get_message() == "");
}

TEST_CASE("na.c11: kernel_size is at least 2") {
    check(forward([](auto& c) { c.kernel = {1, 3}; }), {"na.c11", "kernel_size", "[1, 3]"});
    check(forward([](auto& c) { c.kernel = {3, INT_MIN}; }), {"na.c11", "kernel_size", "[3, -2147483648]"});
}

TEST_CASE("na.c12: dilation is at least 1") {
    check(forward([](auto& c) { c.dilation = {0, 1}; }), {"na.c12", "dilation", "[0, 1]"});
}

TEST_CASE("na.c13: kernel_size times dilation is at most the length") {
    check(forward([](auto& c) {
              c.dilation = {1, 3};
          }),
          {"na.c13", "kernel_size", "3 with a dilation of 3 along axis 1"});
    check(forward([](auto& c) {
              c.kernel = {INT_MAX, INT_MAX};
          }),
          {"na.c13", "kernel_size", "2147483647 with a dilation of 1 along axis 0"});
}

TEST_CASE("na.c14: the head dim of fused functions is a multiple of 16 bytes") {
    auto const narrow = [](auto& c) {
        for (Buffer* const b : {&c.q, &c.k, &c.v, &c.out}) *b = Buffer(DataType_t::FLOAT, c.heads_last(6));
    };
    check(forward(narrow), {"na.c14", "query", "a head dim of 6"});
    check(forward([](auto& c) {
              for (Buffer* const b : {&c.q, &c.k, &c.v, &c.out}) b->view().dim.back() = 0;
          }),
          {"na.c14", "query", "a head dim of 0"});
}

TEST_CASE("na.c15: a relative position bias comes without causal axes") {
    auto const change = [](auto& c) {
        c.has_bias = true;
        c.is_causal = {false, true};
    };
    check(forward(change), {"na.c15", "rel_pos_bias", "a relative position bias with is_causal [false, true]"});
    check(changed(&Example<2>::qk_backward, change),
          {"na.c15", "d_rel_pos_bias", "a relative position bias with is_causal [false, true]"});
}

TEST_CASE("na.c16: beside a relative position bias kernel_size is odd") {
    check(forward([](auto& c) {
              c.set_kernel({3, 4});
              c.has_bias = true;
          }),
          {"na.c16", "kernel_size", "[3, 4] with a relative position bias"});
}

TEST_CASE("na.c17: kernel_size of the qk and av functions is odd") {
    for (std::size_t function = 2; function < std::size(kAll); ++function)
        check(changed(kAll[function], [](auto& c) { c.set_kernel({2, 3}); }), {"na.c17", "kernel_size", "[2, 3]"});
}

TEST_CASE("na.c18: attn_scale is finite") {
    check(forward([](auto& c) { c.scale = std::numeric_limits<float>::quiet_NaN(); }), {"na.c18", "attn_scale", "nan"});
}

TEST_CASE("na.c19: tile sizes and splits are at least 1") {
    check(forward([](auto& c) { c.query_tiles = {0, 8}; }), {"na.c19", "query_tile_size", "[0, 8]"});
    check(changed(&Example<2>::backward, [](auto& c) { c.splits = {1, -1}; }), {"na.c19", "num_splits_key", "[1, -1]"});
}

TEST_CASE("na.c20: a GPU's scratch memory comes from the allocator") {
    Example<2> call;
    call.q.view().device = sdpa_graph::Device_kind::CUDA;
    auto const workspace =
        sdpa_graph::calls::Workspace::make({call.place, "na2d_forward", na::memory_rule()}, call.q.view(), 64);
    check(workspace.error(), {"na.c20", "workspace", "neither memory nor an allocator"});
}

TEST_CASE("na: all faults of a call are told at once") {
    auto const error = forward([](auto& c) {
        c.dilation = {0, 1};
        c.scale = std::numeric_limits<float>::infinity();
        c.k.view().type = c.v.view().type = DataType_t::HALF;
    });
    for (char const* const id : {"[na.c06]", "[na.c12]", "[na.c18]"})
        CHECK(error.get_message().find(id) != std::string::npos);
    CHECK(error.where.node == "na2d_forward");
}

TEST_CASE("na: tensors of nothing are refused, and never crash") {
    for (Function const function : kAll) {
        CHECK(changed(function, [](Example<2>& c) {
                  c.q = c.k = c.v = c.product_q = c.product_k = c.product_v = c.attn = c.dattn = Buffer();
              }).is_bad());
    }
}
