#include "functions/attention/call.h"

#include "core/dims.h"

#include <algorithm>

namespace sdpa_graph::attention {

using enum Argument;
using fe::core::saturating_multiply;

char const* name_of(Argument argument) {
    static constexpr std::array<char const*, kArguments> names = {"q",
                                                                  "k",
                                                                  "v",
                                                                  "o",
                                                                  "stats",
                                                                  "grad_o",
                                                                  "dq",
                                                                  "dk",
                                                                  "dv",
                                                                  "bias",
                                                                  "dbias",
                                                                  "sink",
                                                                  "dsink",
                                                                  "seq_len_q",
                                                                  "seq_len_kv",
                                                                  "cu_seqlens_q",
                                                                  "cu_seqlens_kv",
                                                                  "page_table",
                                                                  "seed"};
    return names[static_cast<std::size_t>(argument)];
}

bool is_of_keys(Argument argument) { return argument == K || argument == V || argument == DK || argument == DV; }

RowLayout Call::rows_of(Argument argument) const {
    Tensor_view const& view = *at(argument);
    auto const &dim = view.dim, &stride = view.stride;
    if (is_packed(argument)) return {0, stride[1], stride[0], dim[1], dim[2]};
    // The stride of a dim of 1 may be anything.
    std::int64_t const whole = std::max(saturating_multiply(dim[2], stride[2]), saturating_multiply(dim[1], stride[1]));
    return {dim[0] == 1 ? whole : stride[0], stride[1], stride[2], dim[1], dim[3]};
}

Sizes sizes_of(Call const& call) {
    Options const& options = call.options;
    auto const &q = call.at(Q)->dim, &k = call.at(K)->dim, &v = call.at(V)->dim;
    Sizes n{};
    n.batches = call.has(CuSeqlensQ) ? call.at(CuSeqlensQ)->dim[0] - 1 : q[0];
    n.queries = call.has(CuSeqlensQ) ? options.longest_q : q[2];
    n.heads = q[1];
    n.key_heads = k[1];
    n.value_heads = v[1];
    n.width = q.back();
    n.value_width = v.back();
    n.keys = call.has(CuSeqlensKv) || call.has_pages() ? options.longest_kv : k[2];
    n.total_q = call.has(CuSeqlensQ) ? q[0] : saturating_multiply(q[0], q[2]);
    n.total_kv = call.has(CuSeqlensKv) ? k[0] : saturating_multiply(n.batches, n.keys);
    return n;
}

Few_dims wanted_dims(Call const& call, Sizes const& sizes, Argument argument) {
    bool const has_keys = is_of_keys(argument);
    bool const is_like_v = argument == V || argument == DV;
    if (has_keys && call.has_pages()) {
        auto const& k = call.at(K)->dim;
        return {k[0], is_like_v ? sizes.value_heads : sizes.key_heads, k[2],
                is_like_v ? sizes.value_width : sizes.width};
    }
    std::int64_t const heads = is_like_v ? sizes.value_heads : has_keys ? sizes.key_heads : sizes.heads;
    bool const has_value_width = is_like_v || argument == O || argument == GradO;
    std::int64_t const width = argument == Stats ? 1 : has_value_width ? sizes.value_width : sizes.width;
    if (call.is_packed(argument)) return {has_keys ? sizes.total_kv : sizes.total_q, heads, width};
    return {sizes.batches, heads, has_keys ? sizes.keys : sizes.queries, width};
}

}  // namespace sdpa_graph::attention
