#include "flash/call.h"

#include "core/dims.h"

namespace sdpa_graph::flash {
namespace {

constexpr std::int64_t kRowsTogether = 128;  // softmax_d and p are padded to multiples of it

std::int64_t rounded_up(std::int64_t rows) { return (rows + kRowsTogether - 1) / kRowsTogether * kRowsTogether; }

}  // namespace

char const* name_of(Argument argument) {
    static constexpr std::array<char const*, kArguments> names = {
        "q",    "k",         "v", "dout",         "out",          "softmax_lse", "dq",          "dk",
        "dv",   "softmax_d", "p", "cu_seqlens_q", "cu_seqlens_k", "seqused_k",   "block_table", "alibi_slopes",
        "seed", "offset"};
    return names[static_cast<std::size_t>(argument)];
}

bool Call::has_log_sums_by_row() const {
    Tensor_view const* const view = at(Argument::SoftmaxLse);
    std::size_t const first = is_packed ? 0 : 1;
    if (view == nullptr || view->dim.size() != first + 2 || view->stride.size() != first + 2) return false;
    auto const &dim = view->dim, &stride = view->stride;
    std::int64_t const heads = dim[first], rows = dim[first + 1];
    bool const has_gaps = !is_packed && dim[0] > 1 && stride[0] != fe::core::saturating_multiply(heads, rows);
    return !has_gaps && (heads <= 1 || stride[first] == 1) && (rows <= 1 || stride[first + 1] == heads);
}

Sizes sizes_of(Call const& call) {
    auto const& q = call.at(Argument::Q)->dim;
    auto const& k = call.at(Argument::K)->dim;
    if (!call.is_packed) return {q[0], q[1], k[1], q[2], k[2], q[3], q[0] * q[1], k[0] * k[1]};
    std::int64_t const batches = call.at(Argument::CuSeqlensQ)->dim[0] - 1;
    std::size_t const heads = call.has_pages() ? 2 : 1;
    std::int64_t const columns = call.has_pages() ? call.at(Argument::BlockTable)->dim[1] : 0;
    std::int64_t const total_k = !call.has_pages() ? k[0] : columns == 0 ? 0 : k[0] * k[1];
    return {batches, call.max_seqlen_q, call.max_seqlen_k, q[1], k[heads], q[2], q[0], total_k};
}

Sizes Sizes::of_rows_there() const {
    Sizes sizes = *this;
    if (has_no_queries()) sizes.queries = 0;
    if (has_no_keys()) sizes.keys = 0;
    return sizes;
}

Few_dims wanted_dims(Call const& call, Sizes const& sizes, Argument argument) {
    using enum Argument;
    switch (argument) {
        case Q:
        case DOut:
        case Out:
        case DQ:
            if (call.is_packed) return {sizes.total_q, sizes.heads, sizes.width};
            return {sizes.batches, sizes.queries, sizes.heads, sizes.width};
        case K:
            if (call.has_pages()) return {call.at(K)->dim[0], call.at(K)->dim[1], sizes.key_heads, sizes.width};
            if (call.is_packed) return {sizes.total_k, sizes.key_heads, sizes.width};
            return {sizes.batches, sizes.keys, sizes.key_heads, sizes.width};
        case V:
        case DK:
        case DV: return wanted_dims(call, sizes, K);
        case SoftmaxLse:
            if (call.is_packed) return {sizes.heads, sizes.total_q};
            return {sizes.batches, sizes.heads, sizes.queries};
        case SoftmaxD:
            if (call.is_packed) return {sizes.heads, sizes.total_q + kRowsTogether * sizes.batches};
            return {sizes.batches, sizes.heads, rounded_up(sizes.queries)};
        case P: return {sizes.batches, sizes.heads, rounded_up(sizes.queries), rounded_up(sizes.keys)};
        case CuSeqlensQ:
        case CuSeqlensK: return {sizes.batches + 1};
        case SequsedK: return {sizes.batches};
        case BlockTable: return {sizes.batches, call.at(BlockTable)->dim.back()};
        case AlibiSlopes:
            if (call.at(AlibiSlopes)->dim.size() == 2) return {sizes.batches, sizes.heads};
            return {sizes.heads};
        case Seed: return {call.has(Offset) ? 1 : 2};
        case Offset: return {1};
    }
    return {};
}

}  // namespace sdpa_graph::flash
