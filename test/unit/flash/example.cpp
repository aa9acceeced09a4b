#include "example.h"

#include <algorithm>

namespace flash_test {
namespace {

namespace flash = sdpa_graph::flash;

Buffer random(std::uint64_t seed, Dims const& dim) {
    sdpa_test::Random numbers(seed);
    return Buffer::random(numbers, DataType_t::HALF, dim, sdpa_graph::row_major(dim));
}

Buffer ones(Dims const& dim) {
    Buffer buffer(DataType_t::FLOAT, dim);
    for (std::int64_t i = 0; i < sdpa_graph::span_of(dim, buffer.view().stride); ++i)
        cudnn_frontend::core::store(DataType_t::FLOAT, buffer.view().data, i, 1.0);
    return buffer;
}

}  // namespace

Padded::Padded(Dims const& of_q, Dims const& of_k)
    : q(random(1, of_q)),
      k(random(2, of_k)),
      v(random(3, of_k)),
      dout(random(4, of_q)),
      out(random(5, of_q)),
      log_sums(ones({of_q[0], of_q[2], of_q[1]})),
      slopes(Buffer::floats(std::vector<float>(static_cast<std::size_t>(of_q[2]), 0.1f), {of_q[2]})),
      generator(Buffer::long_integers({7, 0})),
      place(arena.place()) {}

cudnn_frontend::error_t Padded::forward() {
    return flash::mha_fwd(q.view(), k.view(), v.view(), out_, slopes_, p_dropout, scale, is_causal, left, right,
                          softcap, return_softmax, generator_, place, forward_results);
}

cudnn_frontend::error_t Padded::backward() {
    return flash::mha_bwd(dout.view(), q.view(), k.view(), v.view(), out.view(), log_sums.view(), dq_, dk_, dv_,
                          slopes_, p_dropout, scale, is_causal, left, right, softcap, true, seed, offset, place,
                          backward_results);
}

Packed::Packed()
    : q(random(1, {5, 2, 8})),
      k(random(2, {5, 2, 8})),
      v(random(3, {5, 2, 8})),
      dout(random(4, {5, 2, 8})),
      out(random(5, {5, 2, 8})),
      log_sums(ones({2, 5})),
      slopes(Buffer::floats({0.1f, 0.2f}, {2})),
      generator(Buffer::long_integers({7, 0})),
      totals_q(Buffer::integers({0, 2, 5})),
      totals_k(Buffer::integers({0, 4, 5})),
      place(arena.place()) {}

void Packed::use_pages(std::int64_t pages, std::vector<std::int32_t> const& entries) {
    k = random(2, {pages, 256, 2, 8});
    v = random(3, {pages, 256, 2, 8});
    Buffer table(DataType_t::INT32, {2, static_cast<std::int64_t>(entries.size()) / 2});
    std::copy(entries.begin(), entries.end(), static_cast<std::int32_t*>(table.view().data));
    arena.buffers.push_back(table);
    table_ = table.view();
}

cudnn_frontend::error_t Packed::forward() {
    return flash::mha_varlen_fwd(q.view(), k.view(), v.view(), out_, totals_q.view(), totals_k.view(), used_, table_,
                                 slopes_, most_q, most_k, p_dropout, scale, zero_tensors, is_causal, left, right,
                                 softcap, return_softmax, generator_, place, forward_results);
}

cudnn_frontend::error_t Packed::backward() {
    return flash::mha_varlen_bwd(dout.view(), q.view(), k.view(), v.view(), out.view(), log_sums.view(), dq_, dk_, dv_,
                                 totals_q.view(), totals_k.view(), slopes_, most_q, most_k, p_dropout, scale,
                                 zero_tensors, is_causal, left, right, softcap, true, seed, offset, place,
                                 backward_results);
}

}  // namespace flash_test
