// Each rule of docs/flash.md, broken.
#include "example.h"
#include "support/catch.h"

#include <limits>
#include <utility>

using namespace flash_test;

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

// Keeps the buffer for as long as the example is there.
template <class Example>
Tensor_view kept(Example& call, Buffer const& buffer) {
    return call.arena.buffers.emplace_back(buffer).view();
}

template <class Change>
cudnn_frontend::error_object padded(Change const& change) {
    Padded call;
    change(call);
    return call.forward();
}

template <class Change>
cudnn_frontend::error_object padded_backward(Change const& change) {
    Padded call;
    change(call);
    return call.backward();
}

template <class Change>
cudnn_frontend::error_object packed(Change const& change) {
    Packed call;
    change(call);
    return call.forward();
}

template <class Change>
cudnn_frontend::error_object packed_backward(Change const& change) {
    Packed call;
    change(call);
    return call.backward();
}

// The call as if the tensors were in a GPU's memory: rules refuse before anything reads it.
template <class Example>
void move_to_gpu(Example& call) {
    for (Buffer* const buffer : {&call.q, &call.k, &call.v, &call.dout, &call.out, &call.log_sums, &call.generator})
        buffer->view().device = sdpa_graph::Device_kind::CUDA;
}

}  // namespace

TEST_CASE("flash rules: the examples are valid") {
    CHECK(padded([](Padded&) {}).get_message() == "");
    CHECK(padded_backward([](Padded&) {}).get_message() == "");
    CHECK(packed([](Packed&) {}).get_message() == "");
    CHECK(packed_backward([](Packed&) {}).get_message() == "");
    CHECK(packed([](Packed& c) { c.use_pages(3, {2, 0}); }).get_message() == "");
}

TEST_CASE("flash.c01: every tensor that has elements has memory") {
    check(padded([](Padded& c) { c.v.view().data = nullptr; }), {"flash.c01", "v", "no memory"});
    check(packed([](Packed& c) { c.totals_k.view().data = nullptr; }), {"flash.c01", "cu_seqlens_k", "no memory"});
    check(padded_backward([](Padded& c) { c.log_sums.view().data = nullptr; }),
          {"flash.c01", "softmax_lse", "no memory"});
}

TEST_CASE("flash.c02: tensors have as many dims as the function takes, and a stride for each") {
    check(padded([](Padded& c) { c.q.view().dim.pop_back(); }),
          {"flash.c02", "q", "dims [2, 3, 2] and strides [48, 16, 8, 1]"});
    check(packed([](Packed& c) { c.k = Padded().k; }), {"flash.c02", "k", "dims [2, 4, 2, 8] and strides"});
    check(padded([](Padded& c) {
              c.slopes_ = kept(c, Buffer(DataType_t::FLOAT, {1, 1, 1}));
          }),
          {"flash.c02", "alibi_slopes", "dims [1, 1, 1]"});
    check(padded([](Padded& c) { c.k.view().dim[1] = -4; }), {"flash.c02", "k", "dims [2, -4, 2, 8]"});
}

TEST_CASE("flash.c02: dims and strides that no memory has are refused before anything is computed with them") {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = -most - 1;
    for (std::int64_t const size : {most, std::int64_t{1} << 62, std::int64_t{1} << 49}) {
        CAPTURE(size);
        for (std::size_t const dim : {0u, 1u, 2u, 3u}) {
            check(padded([&](Padded& c) { c.q.view().dim[dim] = size; }), {"flash.c02", "q", "dims ["});
            check(padded([&](Padded& c) { c.k.view().dim[dim] = size; }), {"flash.c02", "k", "dims ["});
        }
        check(padded([&](Padded& c) { c.q.view().dim = {size, size, 0, 8}; }), {"flash.c02", "q", "dims ["});
        check(packed([&](Packed& c) { c.totals_q.view().dim[0] = size; }), {"flash.c02", "cu_seqlens_q", "dims ["});
        check(packed([&](Packed& c) {
                  c.use_pages(3, {2, 0});
                  c.table_->dim[1] = size;
              }),
              {"flash.c02", "block_table", "dims ["});
    }
    for (std::int64_t const stride : {most, least, std::int64_t{1} << 48}) {
        CAPTURE(stride);
        check(packed([&](Packed& c) { c.q.view().stride[0] = stride; }), {"flash.c02", "q", "dims ["});
        check(packed([&](Packed& c) { c.v.view().stride[1] = stride; }), {"flash.c02", "v", "dims ["});
        check(packed([&](Packed& c) {
                  c.use_pages(3, {2, 0});
                  c.k.view().stride[1] = stride;
              }),
              {"flash.c02", "k", "dims ["});
        CHECK(packed([&](Packed& c) {
                  c.q.view().dim[0] = 1;
                  c.q.view().stride[0] = stride;  // says nothing
                  c.totals_q = c.totals_k = Buffer::integers({0, 1});
              }).get_message() == "");
    }
}

TEST_CASE("flash.c03: all tensors are on one device") {
    using sdpa_graph::Device_kind;
    check(padded([](Padded& c) { c.k.view().device = Device_kind::CUDA; }), {"flash.c03", "k", "GPU 0"});
    check(packed([](Packed& c) { c.totals_q.view().device = Device_kind::CUDA; }),
          {"flash.c03", "cu_seqlens_q", "GPU 0"});
    check(padded([](Padded& c) { c.q.view().device = Device_kind::UNKNOWN; }), {"flash.c03", "q", "an unknown device"});
    check(padded([](Padded& c) {
              move_to_gpu(c);
              c.v.view().device_index = 1;
          }),
          {"flash.c03", "v", "GPU 1"});
}

TEST_CASE("flash.c04: the target runs where the tensors are") {
    using cudnn_frontend::Target;
    check(padded([](Padded& c) { c.place.target = Target::cuda(nullptr); }),
          {"flash.c04", "", "the target cuda for tensors of a CPU"});
    check(padded([](Padded& c) {
              move_to_gpu(c);
              c.place.target = Target::reference();
          }),
          {"flash.c04", "", "the target reference for tensors of GPU 0"});
}

TEST_CASE("flash.c05: q is HALF or BFLOAT16") {
    check(padded([](Padded& c) {
              for (Buffer* const buffer : {&c.q, &c.k, &c.v}) buffer->view().type = DataType_t::FLOAT;
          }),
          {"flash.c05", "q", "the type FLOAT"});
}

TEST_CASE("flash.c06: k, v, out, dout and the gradients have the type of q") {
    check(padded([](Padded& c) { c.k.view().type = DataType_t::BFLOAT16; }), {"flash.c06", "k", "the type BFLOAT16"});
    check(padded([](Padded& c) {
              c.out_ = kept(c, Buffer(DataType_t::FLOAT, {2, 3, 2, 8}));
          }),
          {"flash.c06", "out", "the type FLOAT"});
    check(padded_backward([](Padded& c) { c.dout.view().type = DataType_t::BFLOAT16; }),
          {"flash.c06", "dout", "the type BFLOAT16"});
    check(padded_backward([](Padded& c) {
              c.dk_ = kept(c, Buffer(DataType_t::FLOAT, {2, 4, 2, 8}));
          }),
          {"flash.c06", "dk", "the type FLOAT"});
}

TEST_CASE("flash.c07: lengths and tables are INT32") {
    check(packed([](Packed& c) { c.totals_q = Buffer(DataType_t::INT64, {3}); }),
          {"flash.c07", "cu_seqlens_q", "the type INT64"});
    check(packed([](Packed& c) { c.used_ = kept(c, Buffer(DataType_t::FLOAT, {2})); }),
          {"flash.c07", "seqused_k", "the type FLOAT"});
    check(packed([](Packed& c) {
              c.use_pages(3, {0, 1});
              c.table_->type = DataType_t::INT64;
          }),
          {"flash.c07", "block_table", "the type INT64"});
}

TEST_CASE("flash.c08: slopes and log-sum-exps are FLOAT") {
    check(padded([](Padded& c) { c.slopes_ = kept(c, Buffer(DataType_t::HALF, {2})); }),
          {"flash.c08", "alibi_slopes", "the type HALF"});
    check(padded_backward([](Padded& c) {
              c.log_sums = Buffer(DataType_t::HALF, {2, 2, 3});
          }),
          {"flash.c08", "softmax_lse", "the type HALF"});
}

TEST_CASE("flash.c09: the stride of the last dim is 1") {
    check(padded([](Padded& c) {
              c.k.view().stride = {64, 8, 4, 2};
          }),
          {"flash.c09", "k", "2 as the stride of the last dim"});
    check(padded_backward([](Padded& c) { c.dout.view().stride.back() = 2; }),
          {"flash.c09", "dout", "2 as the stride of the last dim"});
    check(padded([](Padded& c) { c.slopes_ = kept(c, Buffer(DataType_t::FLOAT, {2}, {2})); }),
          {"flash.c09", "alibi_slopes", "2 as the stride of the last dim"});
    check(packed([](Packed& c) {
              c.use_pages(3, {0, 0, 1, 1});
              c.table_->stride = {2, 2};
          }),
          {"flash.c09", "block_table", "2 as the stride of the last dim"});
}

TEST_CASE("flash.c10: tensors have the dims that follow from q and k") {
    check(padded([](Padded& c) {
              c.v = Buffer(DataType_t::HALF, {2, 5, 2, 8});
          }),
          {"flash.c10", "v", "dims [2, 5, 2, 8]; expected dims [2, 4, 2, 8]"});
    check(padded([](Padded& c) {
              c.k = Buffer(DataType_t::HALF, {1, 4, 2, 8});
          }),
          {"flash.c10", "k", "dims [1, 4, 2, 8]; expected dims [2, 4, 2, 8]"});
    check(padded([](Padded& c) {
              c.out_ = kept(c, Buffer(DataType_t::HALF, {2, 4, 2, 8}));
          }),
          {"flash.c10", "out", "dims [2, 4, 2, 8]"});
    check(padded([](Padded& c) {
              c.slopes_ = kept(c, Buffer::floats({1, 2, 3}, {3}));
          }),
          {"flash.c10", "alibi_slopes", "dims [3]; expected dims [2]"});
    check(padded([](Padded& c) {
              c.slopes_ = kept(c, Buffer::floats({1, 2}, {1, 2}));
          }),
          {"flash.c10", "alibi_slopes", "dims [1, 2]; expected dims [2, 2]"});
    check(padded_backward([](Padded& c) {
              c.log_sums = Buffer(DataType_t::FLOAT, {2, 3, 2});
          }),
          {"flash.c10", "softmax_lse", "dims [2, 3, 2]; expected dims [2, 2, 3]"});
    check(padded_backward([](Padded& c) {
              c.dq_ = kept(c, Buffer(DataType_t::HALF, {2, 4, 2, 8}));
          }),
          {"flash.c10", "dq", "dims [2, 4, 2, 8]"});
    check(packed([](Packed& c) {
              c.totals_k = Buffer::integers({0, 5});
          }),
          {"flash.c10", "cu_seqlens_k", "dims [2]; expected dims [3]"});
    check(packed([](Packed& c) {
              c.used_ = kept(c, Buffer::integers({1, 1, 1}));
          }),
          {"flash.c10", "seqused_k", "dims [3]; expected dims [2]"});
    check(packed([](Packed& c) {
              c.use_pages(3, {0, 1});
              c.table_->dim[0] = 1;
          }),
          {"flash.c10", "block_table", "dims [1, 1]; expected dims [2, 1]"});
    check(packed_backward([](Packed& c) {
              c.log_sums = Buffer(DataType_t::FLOAT, {5, 2});
          }),
          {"flash.c10", "softmax_lse", "dims [5, 2]; expected dims [2, 5]"});
}

TEST_CASE("flash.c11: packed tensors have at least one sequence") {
    check(packed([](Packed& c) { c.totals_q = c.totals_k = Buffer::integers({0}); }),
          {"flash.c11", "cu_seqlens_q", "dims [1]"});
}

TEST_CASE("flash.c12: the head dim is at most 256") {
    check(padded([](Padded& c) {
              c.q = c.k = c.v = Buffer(DataType_t::HALF, {1, 1, 1, 264});
          }),
          {"flash.c12", "q", "a head dim of 264"});
}

TEST_CASE("flash.c13: the head dim is a multiple of 8") {
    check(padded([](Padded& c) {
              c.q = c.k = c.v = Buffer(DataType_t::HALF, {1, 1, 1, 12});
          }),
          {"flash.c13", "q", "a head dim of 12"});
}

TEST_CASE("flash.c14: the number of heads of k divides that of q") {
    check(padded([](Padded& c) {
              c.k = c.v = Buffer(DataType_t::HALF, {2, 4, 3, 8});
          }),
          {"flash.c14", "k", "3 heads with 2 in q"});
}

TEST_CASE("flash.c15: lengths and log-sum-exps are contiguous") {
    check(packed([](Packed& c) { c.totals_q = Buffer(DataType_t::INT32, {3}, {2}); }),
          {"flash.c15", "cu_seqlens_q", "strides [2] of dims [3]"});
    check(padded_backward([](Padded& c) {
              c.log_sums.view().stride = {6, 1, 3};
          }),
          {"flash.c15", "softmax_lse", "strides [6, 1, 3] of dims [2, 2, 3]"});
    Packed by_rows;
    by_rows.log_sums.view().stride = {1, 2};
    CHECK(by_rows.backward().is_good());
    check(packed_backward([](Packed& c) {
              c.log_sums.view().stride = {1, 3};
          }),
          {"flash.c15", "softmax_lse", "strides [1, 3] of dims [2, 5]"});
}

TEST_CASE("flash.c16: the rows of a page are a multiple of 256") {
    check(packed([](Packed& c) {
              c.use_pages(3, {0, 1});
              c.k = c.v = Buffer(DataType_t::HALF, {3, 128, 2, 8});
          }),
          {"flash.c16", "k", "pages of 128 rows"});
}

TEST_CASE("flash.c17: p_dropout is at least 0 and less than 1") {
    for (float const p : {1.0f, -0.5f, std::numeric_limits<float>::quiet_NaN()})
        check(padded([&](Padded& c) {
                  c.p_dropout = p;
                  c.generator_ = c.generator.view();
              }),
              {"flash.c17", "", "p_dropout of "});
}

TEST_CASE("flash.c18: return_softmax comes with dropout") {
    check(packed([](Packed& c) { c.return_softmax = true; }), {"flash.c18", "", "return_softmax without dropout"});
}

TEST_CASE("flash.c19: a soft cap comes without dropout") {
    auto const both = [](auto& c) {
        c.softcap = 2.0f;
        c.p_dropout = 0.5f;
        c.generator_ = c.generator.view();
        c.seed = c.generator.view();
    };
    check(padded(both), {"flash.c19", "", "softcap of 2 and p_dropout of 0.5"});
    check(packed_backward(both), {"flash.c19", "", "softcap of 2 and p_dropout of 0.5"});
}

TEST_CASE("flash.c20: softmax_scale and softcap are finite") {
    check(padded([](Padded& c) { c.scale = std::numeric_limits<float>::infinity(); }),
          {"flash.c20", "", "softmax_scale of inf"});
    check(padded([](Padded& c) { c.softcap = std::numeric_limits<float>::quiet_NaN(); }),
          {"flash.c20", "", "softmax_scale of 0.3 and softcap of nan"});
}

TEST_CASE("flash.c21: dropout has a seed and an offset of INT64") {
    check(padded([](Padded& c) { c.p_dropout = 0.5f; }), {"flash.c21", "", "no generator"});
    check(padded([](Padded& c) {
              c.p_dropout = 0.5f;
              c.generator_ = kept(c, Buffer::integers({1, 2}));
          }),
          {"flash.c21", "", "a seed of type INT32 with dims [2]"});
    check(padded_backward([](Padded& c) {
              c.p_dropout = 0.5f;
              c.seed = kept(c, Buffer::long_integers({1}));
          }),
          {"flash.c21", "", "a seed of type INT64 with dims [1]"});
}

TEST_CASE("flash.c22: keys in pages come without dropout") {
    check(packed([](Packed& c) {
              c.use_pages(3, {0, 1});
              c.p_dropout = 0.5f;
              c.generator_ = c.generator.view();
          }),
          {"flash.c22", "", "a block table and p_dropout of 0.5"});
}

TEST_CASE("flash.c23: max_seqlen_q and max_seqlen_k are at least 0") {
    check(packed([](Packed& c) { c.most_k = -1; }), {"flash.c23", "", "max_seqlen_q of 3 and max_seqlen_k of -1"});
}

TEST_CASE("flash.c24: a row of a packed tensor holds all heads") {
    check(packed([](Packed& c) {
              c.q.view().stride = {8, 40, 1};
          }),
          {"flash.c24", "q", "strides [8, 40, 1] of dims [5, 2, 8]"});
}

TEST_CASE("flash.c25: results are not read-only") {
    check(padded([](Padded& c) {
              c.out_ = c.out.view();
              c.out_->is_read_only = true;
          }),
          {"flash.c25", "out", "memory that is read-only"});
    CHECK(padded_backward([](Padded& c) { c.out.view().is_read_only = true; }).is_good());
}

TEST_CASE("flash.c26: pages whose rows are no power of two lie side by side") {
    check(packed([](Packed& c) {
              c.use_pages(3, {0, 1});
              c.k = Buffer(DataType_t::HALF, {2, 768, 2, 8});
              c.v = Buffer(DataType_t::HALF, {2, 768, 2, 8}, {768 * 16 + 16, 16, 8, 1});
          }),
          {"flash.c26", "v", "pages of 768 rows with strides [12304, 16, 8, 1]"});
    Packed one_page;
    one_page.use_pages(1, {0, 0});
    one_page.k = one_page.v = Buffer(DataType_t::HALF, {1, 768, 2, 8}, {1, 16, 8, 1});
    CHECK(one_page.forward().get_message() == "");
}

TEST_CASE("flash.c27: cu_seqlens start at 0 or later, do not decrease, and end within the tensor") {
    check(packed([](Packed& c) {
              c.totals_q = Buffer::integers({-1, 2, 5});
          }),
          {"flash.c27", "cu_seqlens_q", "cu_seqlens_q[0] of -1"});
    check(packed([](Packed& c) {
              c.totals_q = Buffer::integers({0, 3, 2});
          }),
          {"flash.c27", "cu_seqlens_q", "cu_seqlens_q[2] of 2; expected a number from 3 to 5"});
    check(packed_backward([](Packed& c) {
              c.totals_k = Buffer::integers({0, 4, 6});
          }),
          {"flash.c27", "cu_seqlens_k", "cu_seqlens_k[2] of 6; expected a number from 4 to 5"});
}

TEST_CASE("flash.c27: lengths of cu_seqlens that 32 bits do not hold are no other lengths") {
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max(), least = -most - 1;
    auto const message = packed([](Packed& c) {
                             c.totals_q = Buffer::integers({least, most, 5});
                             c.totals_k = Buffer::integers({least, most, 5});
                             c.used_ = kept(c, Buffer::integers({1, 1}));
                         }).get_message();
    INFO(message);
    CHECK(message.find("flash.c27") != std::string::npos);
    CHECK(message.find("sequence 0 with a length of 4294967295") != std::string::npos);
    CHECK(message.find("seqused_k[1]") != std::string::npos);
    CHECK(message.find("seqused_k[0]") == std::string::npos);
}

TEST_CASE("flash.c28: no sequence is longer than max_seqlen_q or max_seqlen_k") {
    check(packed([](Packed& c) { c.most_q = 2; }),
          {"flash.c28", "cu_seqlens_q", "sequence 1 with a length of 3; expected at most 2, which max_seqlen_q says"});
    check(packed_backward([](Packed& c) { c.most_k = 3; }),
          {"flash.c28", "cu_seqlens_k", "sequence 0 with a length of 4; expected at most 3"});
}

TEST_CASE("flash.c29: seqused_k is at least 0 and within the sequence") {
    check(packed([](Packed& c) {
              c.used_ = kept(c, Buffer::integers({2, -1}));
          }),
          {"flash.c29", "seqused_k", "seqused_k[1] of -1; expected a number from 0 to 1"});
    check(packed([](Packed& c) {
              c.used_ = kept(c, Buffer::integers({2, 2}));
          }),
          {"flash.c29", "seqused_k", "seqused_k[1] of 2"});
}

TEST_CASE("flash.c30: the block table names blocks that k has") {
    check(packed([](Packed& c) {
              c.use_pages(3, {0, 3});
          }),
          {"flash.c30", "block_table", "block 3 at [1, 0]; expected a number from 0 to 2"});
    check(packed([](Packed& c) { c.use_pages(3, {-1, 0}); }), {"flash.c30", "block_table", "block -1 at [0, 0]"});
    check(packed([](Packed& c) {
              c.use_pages(3, {0, 1});
              c.totals_k = Buffer::integers({0, 300, 301});
              c.most_k = 300;
          }),
          {"flash.c30", "block_table", "1 blocks for each sequence; expected 2 for the 300 keys of sequence 0"});
}

TEST_CASE("flash.c31: the allocator gives memory for what is not passed") {
    check(padded([](Padded& c) { c.arena.is_exhausted = true; }), {"flash.c31", "out", "no memory from the allocator"});
    check(padded([](Padded& c) { c.place.allocator = {}; }), {"flash.c31", "out", "neither memory nor an allocator"});
    check(padded_backward([](Padded& c) {
              c.arena.is_exhausted = true;
              c.dq_ = c.q.view();
          }),
          {"flash.c31", "dk", "no memory from the allocator"});
}

TEST_CASE("flash.c31: results that no memory holds are not asked for") {
    Packed call;
    call.p_dropout = 0.5f;
    call.return_softmax = true;
    call.generator_ = call.generator.view();
    call.most_q = call.most_k = std::numeric_limits<int>::max();
    check(call.forward(), {"flash.c31", "p", "dims [2, 2, 2147483648, 2147483648]"});
    CHECK(call.arena.names == std::vector<std::string>{"out", "softmax_lse"});
}

TEST_CASE("flash rules: all that is wrong is said at once, and nothing is written") {
    Padded call;
    call.out_ = call.out.view();
    double const before = value_at(call.out.view(), {1, 2, 1, 7});
    call.p_dropout = 2.0f;
    call.k.view().type = DataType_t::FLOAT;
    call.v.view().type = DataType_t::FLOAT;
    cudnn_frontend::error_object const error = call.forward();
    CHECK(error.get_message().find("[flash.c06] node 'mha_fwd', tensors 'k', 'v'") != std::string::npos);
    CHECK(error.get_message().find("[flash.c17]") != std::string::npos);
    CHECK(value_at(call.out.view(), {1, 2, 1, 7}) == before);
    CHECK(call.arena.names.empty());
}
