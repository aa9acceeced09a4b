// Each rule of docs/attention-functions.md, broken.
#include "example.h"
#include "support/catch.h"

#include "calls/result_memory.h"
#include "functions/attention/rules.h"

#include <climits>
#include <limits>

using namespace attention_test;
using cudnn_frontend::error_code_t;
using sdpa_graph::Device_kind;

namespace {

struct Wanted {
    std::string rule, tensor, found;
};

void check(cudnn_frontend::error_object const& error, Wanted const& wanted) {
    INFO(error.get_message());
    CHECK(error.is_bad());
    CHECK(error.where.rule == wanted.rule);
    CHECK(error.where.tensor == wanted.tensor);
    CHECK(error.get_message().find("found " + wanted.found) != std::string::npos);
}

template <class Change>
cudnn_frontend::error_object forward(Change const& change, Kind kind = Kind::Padded) {
    Example call(kind);
    change(call);
    return call.forward();
}

template <class Change>
cudnn_frontend::error_object backward(Change const& change, Kind kind = Kind::Padded) {
    Example call(kind);
    change(call);
    return call.backward();
}

}  // namespace

TEST_CASE("attention rules: the examples are valid") {
    for (Kind const kind : {Kind::Padded, Kind::Packed, Kind::Paged}) {
        CHECK(forward([](Example&) {}, kind).get_message() == "");
        if (kind != Kind::Paged) CHECK(backward([](Example&) {}, kind).get_message() == "");
    }
    auto const add_all = [](Example& c) {
        c.add_bias();
        c.add_sink();
        c.add_dropout();
        c.inputs.seq_len_q = c.integers({3, 1});
        c.inputs.seq_len_kv = c.integers({0, 5});
    };
    CHECK(forward(add_all).get_message() == "");
    CHECK(backward(add_all).get_message() == "");
}

TEST_CASE("attention.c01: every tensor that has elements has memory") {
    check(forward([](Example& c) { c.inputs.k.data = nullptr; }), {"attention.c01", "k", "no memory"});
    check(forward([](Example& c) { c.inputs.cu_seqlens_q->data = nullptr; }, Kind::Packed),
          {"attention.c01", "cu_seqlens_q", "no memory"});
    check(backward([](Example& c) { c.stats.data = nullptr; }), {"attention.c01", "stats", "no memory"});
}

TEST_CASE("attention.c02: tensors have the number of dims that the function needs") {
    check(forward([](Example& c) { c.inputs.q.dim.pop_back(); }),
          {"attention.c02", "q", "dims [2, 4, 3] and strides [96, 24, 8, 1]"});
    check(forward(
              [](Example& c) {
                  c.inputs.v.dim = {9, 16}, c.inputs.v.stride = {16, 1};
              },
              Kind::Packed),
          {"attention.c02", "v", "dims [9, 16]"});
    check(forward([](Example& c) { c.inputs.k.dim[2] = -5; }), {"attention.c02", "k", "dims [2, 2, -5, 8]"});
    check(forward([](Example& c) { c.inputs.q.dim = {LLONG_MAX, LLONG_MAX, 3, 8}; }), {"attention.c02", "q", "dims ["});
    check(forward([](Example& c) { c.inputs.v.stride[0] = LLONG_MIN; }), {"attention.c02", "v", "dims ["});
    check(forward([](Example& c) {
              c.inputs.seq_len_q = c.made(DataType_t::INT32, {1, 2});
          }),
          {"attention.c02", "seq_len_q", "dims [1, 2]"});
    check(forward([](Example& c) { c.inputs.page_table->dim = {4}, c.inputs.page_table->stride = {1}; }, Kind::Paged),
          {"attention.c02", "page_table", "dims [4]"});
}

TEST_CASE("attention.c03: all tensors are on one device") {
    check(forward([](Example& c) { c.inputs.v.device = Device_kind::CUDA; }), {"attention.c03", "v", "GPU 0"});
    check(forward([](Example& c) {
              for (Tensor_view* const view : {&c.inputs.q, &c.inputs.k, &c.inputs.v})
                  view->device = Device_kind::UNKNOWN;
          }),
          {"attention.c03", "q", "an unknown device"});
}

TEST_CASE("attention.c04: the target runs where the tensors are") {
    check(forward([](Example& c) { c.place.target = cudnn_frontend::Target::offline("{}"); }),
          {"attention.c04", "", "the target offline for tensors of a CPU"});
}

TEST_CASE("attention.c05: the stride of the last dim of tensors with rows is 1") {
    check(forward([](Example& c) { c.inputs.k.stride.back() = 2; }),
          {"attention.c05", "k", "2 as the stride of the last dim"});
    check(backward([](Example& c) { c.grad_o.stride.back() = 0; }),
          {"attention.c05", "grad_o", "0 as the stride of the last dim"});
}

TEST_CASE("attention.c06: tensors have their types") {
    check(forward([](Example& c) { c.inputs.k.type = DataType_t::BFLOAT16; }),
          {"attention.c06", "k", "the type BFLOAT16"});
    check(forward([](Example& c) {
              c.add_dropout();
              c.inputs.seed->type = DataType_t::INT32;
          }),
          {"attention.c06", "seed", "the type INT32"});
    check(forward([](Example& c) { c.inputs.cu_seqlens_kv->type = DataType_t::INT64; }, Kind::Packed),
          {"attention.c06", "cu_seqlens_kv", "the type INT64"});
    check(backward([](Example& c) { c.stats.type = DataType_t::HALF; }), {"attention.c06", "stats", "the type HALF"});
    check(backward([](Example& c) {
              c.add_sink();
              c.inputs.sink->type = DataType_t::HALF;
          }),
          {"attention.c06", "sink", "the type HALF"});
    check(backward([](Example& c) {
              c.add_bias();
              c.backward_results.dbias.type = DataType_t::FLOAT;
          }),
          {"attention.c06", "dbias", "the type FLOAT"});
}

TEST_CASE("attention.c06: tensors of other types are refused, also where nothing is computed") {
    for (DataType_t const type : {DataType_t::DOUBLE, DataType_t::FP8_E4M3, DataType_t::INT32}) {
        auto const change = [&](Example& c) {
            for (Tensor_view* const view : {&c.inputs.q, &c.inputs.k, &c.inputs.v}) view->type = type;
            c.inputs.k.dim[2] = c.inputs.v.dim[2] = 0;
        };
        check(forward(change), {"attention.c06", "q", std::string("the type ") + cudnn_frontend::core::name_of(type)});
    }
    check(backward([](Example& c) {
              c.add_bias();
              c.inputs.bias->type = c.backward_results.dbias.type = DataType_t::FP8_E4M3;
          }),
          {"attention.c06", "bias", "the type FP8_E4M3"});
}

TEST_CASE("attention.c07: tensors have the dims that follow") {
    check(forward([](Example& c) { c.inputs.k.dim[0] = 1; }), {"attention.c07", "k", "dims [1, 2, 5, 8]"});
    check(forward([](Example& c) { c.inputs.v.dim[2] = 4; }), {"attention.c07", "v", "dims [2, 2, 4, 8]"});
    check(forward([](Example& c) { c.inputs.v.dim[0] = 8; }, Kind::Packed), {"attention.c07", "v", "dims [8, 2, 8]"});
    check(forward([](Example& c) {
              c.inputs.seq_len_q = c.integers({3, 3, 3});
          }),
          {"attention.c07", "seq_len_q", "dims [3]"});
    check(forward(
              [](Example& c) {
                  c.inputs.cu_seqlens_kv = c.integers({0, 4});
              },
              Kind::Packed),
          {"attention.c07", "cu_seqlens_kv", "dims [2]"});
    check(forward([](Example& c) { c.inputs.page_table->dim[0] = 1; }, Kind::Paged),
          {"attention.c07", "page_table", "dims [1, 2]"});
    check(backward([](Example& c) { c.o.dim[3] = 7; }), {"attention.c07", "o", "dims [2, 4, 3, 7]"});
    check(backward([](Example& c) {
              c.add_sink();
              c.backward_results.dsink.dim[1] = 2;
          }),
          {"attention.c07", "dsink", "dims [1, 2, 1, 1]"});
    check(forward([](Example& c) {
              c.add_dropout();
              c.inputs.seed = c.kept(Buffer::long_integers({1, 2, 3}));
          }),
          {"attention.c07", "seed", "dims [3]"});
}

TEST_CASE("attention.c07: ends have a first number") {
    auto const change = [](Example& c) { c.inputs.cu_seqlens_q = c.inputs.cu_seqlens_kv = c.integers({}); };
    check(forward(change, Kind::Packed), {"attention.c07", "cu_seqlens_q", "dims [0]"});
}

TEST_CASE("attention.c08: lengths, ends, tables, the seed and the sink are contiguous") {
    check(forward([](Example& c) { c.inputs.cu_seqlens_q->stride = {2}; }, Kind::Packed),
          {"attention.c08", "cu_seqlens_q", "strides [2] of dims [3]"});
    check(forward(
              [](Example& c) {
                  c.inputs.page_table->stride = {1, 2};
              },
              Kind::Paged),
          {"attention.c08", "page_table", "strides [1, 2] of dims [2, 2]"});
    check(forward([](Example& c) {
              c.add_sink();
              c.inputs.sink->stride[1] = 2;
          }),
          {"attention.c08", "sink", "strides ["});
}

TEST_CASE("attention.c09: results are not read-only") {
    check(forward([](Example& c) {
              c.forward_results.o = c.o;
              c.forward_results.o.is_read_only = true;
          }),
          {"attention.c09", "o", "memory that is read-only"});
    check(backward([](Example& c) {
              c.backward_results.dk = c.inputs.v;
              c.backward_results.dk.is_read_only = true;
          }),
          {"attention.c09", "dk", "memory that is read-only"});
    CHECK(backward([](Example& c) { c.o.is_read_only = c.stats.is_read_only = true; }).get_message() == "");
}

TEST_CASE("attention.c10: the scale and the soft cap are finite, and the soft cap is above 0") {
    static constexpr float kInfinity = std::numeric_limits<float>::infinity();
    check(forward([](Example& c) { c.options.scale = kInfinity; }), {"attention.c10", "scale", "inf"});
    check(forward([](Example& c) { c.options.softcap = kInfinity; }), {"attention.c10", "softcap", "inf"});
    check(forward([](Example& c) { c.options.softcap = 0.0f; }), {"attention.c10", "softcap", "0"});
}

TEST_CASE("attention.c11: dropout_p is at least 0 and less than 1") {
    for (float const p : {-0.5f, 1.0f, std::numeric_limits<float>::quiet_NaN()}) {
        auto const change = [&](Example& c) {
            c.add_dropout();
            c.options.dropout_p = p;
        };
        check(forward(change), {"attention.c11", "dropout_p", sdpa_graph::calls::text(p)});
    }
}

TEST_CASE("attention.c12: dropout has a seed") {
    check(forward([](Example& c) { c.options.dropout_p = 0.5f; }), {"attention.c12", "seed", "no tensor"});
}

TEST_CASE("attention.c13: bounds and longest lengths are numbers of 31 bits") {
    check(forward([](Example& c) { c.options.left_bound = LLONG_MIN; }),
          {"attention.c13", "left_bound", "-9223372036854775808"});
    check(forward([](Example& c) { c.options.right_bound = 1LL << 31; }),
          {"attention.c13", "right_bound", "2147483648"});
    check(forward([](Example& c) { c.options.longest_q = -1; }, Kind::Packed), {"attention.c13", "longest_q", "-1"});
    check(forward([](Example& c) { c.options.longest_kv = 1LL << 31; }, Kind::Packed),
          {"attention.c13", "longest_kv", "2147483648"});
}

TEST_CASE("attention.c14: sequences have ends or lengths, not both") {
    check(forward(
              [](Example& c) {
                  c.inputs.seq_len_q = c.integers({2, 3});
              },
              Kind::Packed),
          {"attention.c14", "seq_len_q", "a tensor, and cu_seqlens_q too"});
    check(forward(
              [](Example& c) {
                  c.inputs.cu_seqlens_kv = c.integers({0, 4, 8});
                  c.inputs.seq_len_kv.reset();
              },
              Kind::Paged),
          {"attention.c14", "page_table", "a tensor, and cu_seqlens_kv too"});
}

TEST_CASE("attention.c15: backward has no keys in pages") {
    check(backward([](Example&) {}, Kind::Paged), {"attention.c15", "page_table", "a tensor"});
}

TEST_CASE("attention.c16: ends start at 0 or later, do not decrease, and are within the tensors") {
    check(forward(
              [](Example& c) {
                  c.inputs.cu_seqlens_q = c.integers({-1, 2, 5});
              },
              Kind::Packed),
          {"attention.c16", "cu_seqlens_q", "cu_seqlens_q[0] of -1"});
    check(forward(
              [](Example& c) {
                  c.inputs.cu_seqlens_kv = c.integers({0, 5, 4});
              },
              Kind::Packed),
          {"attention.c16", "cu_seqlens_kv", "cu_seqlens_kv[2] of 4"});
    check(backward(
              [](Example& c) {
                  c.inputs.cu_seqlens_q = c.integers({0, 2, 6});
              },
              Kind::Packed),
          {"attention.c16", "cu_seqlens_q", "cu_seqlens_q[2] of 6"});
}

TEST_CASE("attention.c17: no packed sequence is longer than the longest one") {
    check(forward([](Example& c) { c.options.longest_q = 2; }, Kind::Packed),
          {"attention.c17", "cu_seqlens_q", "sequence 1 with a length of 3"});
    check(forward([](Example& c) { c.options.longest_kv = 4; }, Kind::Packed),
          {"attention.c17", "cu_seqlens_kv", "sequence 1 with a length of 5"});
}

TEST_CASE("attention.c18: lengths are at least 0, and sequences have as many rows") {
    check(forward([](Example& c) {
              c.inputs.seq_len_q = c.integers({0, -1});
          }),
          {"attention.c18", "seq_len_q", "seq_len_q[1] of -1"});
    check(forward([](Example& c) {
              c.inputs.seq_len_kv = c.integers({6, 5});
          }),
          {"attention.c18", "seq_len_kv", "seq_len_kv[0] of 6"});
    check(forward(
              [](Example& c) {
                  c.inputs.seq_len_kv = c.integers({9, 8});
              },
              Kind::Paged),
          {"attention.c18", "seq_len_kv", "seq_len_kv[0] of 9"});
}

TEST_CASE("attention.c19: the allocator gives memory for what is not passed") {
    check(forward([](Example& c) { c.arena.is_exhausted = true; }),
          {"attention.c19", "o", "no memory from the allocator"});
    check(backward([](Example& c) { c.arena.is_exhausted = true; }),
          {"attention.c19", "dq", "no memory from the allocator"});
    Example call;
    call.inputs.q.device = Device_kind::CUDA;
    auto const workspace = sdpa_graph::calls::Workspace::make(
        {call.place, "attention::forward", attention::memory_rule()}, call.inputs.q, 64);
    check(workspace.error(), {"attention.c19", "workspace", "neither memory nor an allocator"});
}

TEST_CASE("attention rules: all faults of a call are reported at once") {
    auto const error = backward([](Example& c) {
        c.options.dropout_p = 2.0f;
        c.options.softcap = -1.0f;
        c.o.type = DataType_t::FLOAT;
    });
    for (char const* const id : {"[attention.c06]", "[attention.c10]", "[attention.c11]", "[attention.c12]"})
        CHECK(error.get_message().find(id) != std::string::npos);
    CHECK(error.where.node == "attention::backward");
}

TEST_CASE("attention rules: tensors of nothing are refused, and never crash") {
    auto const empty_all = [](Example& c) {
        c.inputs.q = c.inputs.k = c.inputs.v = c.o = c.stats = c.grad_o = Tensor_view();
    };
    for (Kind const kind : {Kind::Padded, Kind::Packed, Kind::Paged}) {
        CHECK(forward(empty_all, kind).is_bad());
        CHECK(backward(empty_all, kind).is_bad());
    }
}
