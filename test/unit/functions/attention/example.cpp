#include "example.h"

namespace attention_test {

Example::Example(Kind kind) {
    constexpr DataType_t kType = DataType_t::HALF;
    bool const is_packed = kind == Kind::Packed, has_pages = kind == Kind::Paged;
    Dims const of_q = is_packed ? Dims{5, 4, 8} : Dims{2, 4, 3, 8};
    Dims const of_k = is_packed ? Dims{9, 2, 8} : has_pages ? Dims{5, 2, 4, 8} : Dims{2, 2, 5, 8};
    Dims of_stats = of_q;
    of_stats.back() = 1;
    inputs.q = made(kType, of_q);
    inputs.k = made(kType, of_k);
    inputs.v = made(kType, of_k);
    grad_o = made(kType, of_q);
    o = made(kType, of_q);
    stats = made(DataType_t::FLOAT, of_stats);
    if (is_packed) {
        inputs.cu_seqlens_q = integers({0, 2, 5});
        inputs.cu_seqlens_kv = integers({0, 4, 9});
        options.longest_q = 3;
        options.longest_kv = 5;
    }
    if (has_pages) {
        inputs.page_table = integers({3, 1, 0, 4});
        inputs.page_table->dim = {2, 2};
        inputs.page_table->stride = {2, 1};
        inputs.seq_len_kv = integers({7, 8});
        options.longest_kv = 8;
    }
}

Tensor_view Example::made(DataType_t type, Dims const& dim) {
    return kept(Buffer::random(random_, type, dim, sdpa_graph::row_major(dim)));
}

void Example::add_bias() {
    inputs.bias = made(DataType_t::HALF, {1, 4, 3, 5});
    backward_results.dbias = made(DataType_t::HALF, {1, 4, 3, 5});
}

void Example::add_sink() {
    inputs.sink = made(DataType_t::FLOAT, {1, 4, 1, 1});
    backward_results.dsink = made(DataType_t::FLOAT, {1, 4, 1, 1});
}

void Example::add_dropout() {
    options.dropout_p = 0.5f;
    inputs.seed = kept(Buffer::long_integers({3, 5}));
}

static sdpa_graph::Place with_allocator(sdpa_graph::Place place, Arena& arena) {
    place.allocator = arena.place().allocator;
    return place;
}

cudnn_frontend::error_object Example::forward(bool wants_stats) {
    return attention::forward(inputs, options, wants_stats, with_allocator(place, arena), forward_results);
}

cudnn_frontend::error_object Example::backward() {
    return attention::backward(grad_o, inputs, o, stats, options, with_allocator(place, arena), backward_results);
}

}  // namespace attention_test
