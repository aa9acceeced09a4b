#include <sdpa_graph/neighborhood.h>

#include "calls/class_plan.h"
#include "calls/result_memory.h"
#include "calls/row_work.h"
#include "calls/view_properties.h"
#include "core/guard.h"
#include "neighborhood/rules.h"
#include "neighborhood/shapes.h"

#include <utility>

namespace sdpa_graph::neighborhood {
namespace {

using enum Port;

template <std::size_t Rank>
struct WindowArguments {
    Tuple<Rank> const &kernel_size, &dilation;
    Boolean_tuple<Rank> const& is_causal;
};

template <std::size_t Rank>
Call call_of(Function function, WindowArguments<Rank> const& window, Place const& place) {
    auto const list_of = [](auto const& tuple) { return fe::core::Dims(tuple.begin(), tuple.end()); };
    auto const& causal = window.is_causal;
    // The iterators are in parentheses: a list of two pointers would be one of two truth values.
    return {.function = function,
            .options = {list_of(window.kernel_size), list_of(window.dilation),
                        std::vector<bool>(causal.begin(), causal.end())},
            .tensors = {},
            .hints = {},
            .place = &place};
}

template <std::size_t Rank>
void add_hint(Call& call, char const* name, Tuple<Rank> const& sizes) {
    call.hints.push_back({name, {sizes.begin(), sizes.end()}});
}

// Without tokens all results are empty, except a gradient that is summed over them.
error_t sum_nothing(Call const& call) {
    if (!call.has(DRelPosBias) || calls::is_empty(*call.at(DRelPosBias))) return {};
    auto const lease = calls::lease_target(*call.place, call.leading());
    if (lease.is_bad()) return lease.error();
    return calls::work_on_rows({*call.place, lease.value(), call.leading()}, calls::fill(*call.at(DRelPosBias), 0.0f));
}

error_t run(Call const& call) {
    SDPA_GRAPH_TRY(check(call));
    if (TokenSizes const sizes = *sizes_of(call); sizes.batches == 0 || sizes.heads == 0) return sum_nothing(call);
    auto const lease = calls::lease_target(*call.place, call.leading());
    if (lease.is_bad()) return lease.error();
    auto const plan = calls::ClassPlan<Shapes>::find(shapes_of(call, lease.value().target), lease.value().target);
    if (plan.is_bad()) return plan.error();
    calls::Pack pack;
    for (auto const& row : fe::neighborhood::kOperands) {
        if (call.has(row.port)) pack.bind(row.port, call.at(row.port)->data);
    }
    std::string const name = call.function_name();
    auto const workspace = calls::Workspace::make({*call.place, name.c_str(), memory_rule()}, call.leading(),
                                                  plan.value()->workspace_bytes());
    if (workspace.is_bad()) return workspace.error();
    return plan.value()->run(lease.value(), pack, workspace.value().data());
}

}  // namespace

template <std::size_t Rank>
error_t na_forward(Tensor_view const& output, Tensor_view const& query, Tensor_view const& key,
                   Tensor_view const& value, Optional_tensor const& rel_pos_bias, Optional_tensor const& logsumexp,
                   Tuple<Rank> const& kernel_size, Tuple<Rank> const& dilation, Boolean_tuple<Rank> const& is_causal,
                   float attn_scale, Tuple<Rank> const& query_tile_size, Tuple<Rank> const& key_tile_size,
                   Place const& place) noexcept {
    return fe::core::guarded([&] {
        Call call = call_of<Rank>(Function::Forward, {kernel_size, dilation, is_causal}, place);
        call.set(O, output);
        call.set(Q, query);
        call.set(K, key);
        call.set(V, value);
        call.set(RelPosBias, rel_pos_bias);
        call.set(Stats, logsumexp);
        call.attn_scale = attn_scale;
        add_hint(call, "query_tile_size", query_tile_size);
        add_hint(call, "key_tile_size", key_tile_size);
        return run(call);
    });
}

// How the sums of grad_output * output are computed changes nothing here.
template <std::size_t Rank>
error_t na_backward(Tensor_view const& grad_query, Tensor_view const& grad_key, Tensor_view const& grad_value,
                    Tensor_view const& query, Tensor_view const& key, Tensor_view const& value,
                    Tensor_view const& output, Tensor_view const& grad_output, Tensor_view const& logsumexp,
                    Tuple<Rank> const& kernel_size, Tuple<Rank> const& dilation, Boolean_tuple<Rank> const& is_causal,
                    float attn_scale, Tuple<Rank> const& query_tile_size, Tuple<Rank> const& key_tile_size,
                    Tuple<Rank> const& num_splits_key, bool /*compute_delta_with_torch*/, Place const& place) noexcept {
    return fe::core::guarded([&] {
        Call call = call_of<Rank>(Function::Backward, {kernel_size, dilation, is_causal}, place);
        call.set(DQ, grad_query);
        call.set(DK, grad_key);
        call.set(DV, grad_value);
        call.set(Q, query);
        call.set(K, key);
        call.set(V, value);
        call.set(O, output);
        call.set(DO, grad_output);
        call.set(Stats, logsumexp);
        call.attn_scale = attn_scale;
        add_hint(call, "query_tile_size", query_tile_size);
        add_hint(call, "key_tile_size", key_tile_size);
        add_hint(call, "num_splits_key", num_splits_key);
        return run(call);
    });
}

template <std::size_t Rank>
error_t na_qk_forward(Tensor_view const& attn, Tensor_view const& query, Tensor_view const& key,
                      Optional_tensor const& rel_pos_bias, Tuple<Rank> const& kernel_size, Tuple<Rank> const& dilation,
                      Boolean_tuple<Rank> const& is_causal, Place const& place) noexcept {
    return fe::core::guarded([&] {
        Call call = call_of<Rank>(Function::Qk, {kernel_size, dilation, is_causal}, place);
        call.set(Attn, attn);
        call.set(Q, query);
        call.set(K, key);
        call.set(RelPosBias, rel_pos_bias);
        return run(call);
    });
}

template <std::size_t Rank>
error_t na_qk_backward(Tensor_view const& d_query, Tensor_view const& d_key, Optional_tensor const& d_rel_pos_bias,
                       Tensor_view const& d_attn, Tensor_view const& query, Tensor_view const& key,
                       Tuple<Rank> const& kernel_size, Tuple<Rank> const& dilation,
                       Boolean_tuple<Rank> const& is_causal, Place const& place) noexcept {
    return fe::core::guarded([&] {
        Call call = call_of<Rank>(Function::QkBackward, {kernel_size, dilation, is_causal}, place);
        call.set(DQ, d_query);
        call.set(DK, d_key);
        call.set(DRelPosBias, d_rel_pos_bias);
        call.set(DAttn, d_attn);
        call.set(Q, query);
        call.set(K, key);
        return run(call);
    });
}

template <std::size_t Rank>
error_t na_av_forward(Tensor_view const& output, Tensor_view const& attn, Tensor_view const& value,
                      Tuple<Rank> const& kernel_size, Tuple<Rank> const& dilation, Boolean_tuple<Rank> const& is_causal,
                      Place const& place) noexcept {
    return fe::core::guarded([&] {
        Call call = call_of<Rank>(Function::Av, {kernel_size, dilation, is_causal}, place);
        call.set(O, output);
        call.set(Attn, attn);
        call.set(V, value);
        return run(call);
    });
}

template <std::size_t Rank>
error_t na_av_backward(Tensor_view const& d_attn, Tensor_view const& d_value, Tensor_view const& d_out,
                       Tensor_view const& attn, Tensor_view const& value, Tuple<Rank> const& kernel_size,
                       Tuple<Rank> const& dilation, Boolean_tuple<Rank> const& is_causal, Place const& place) noexcept {
    return fe::core::guarded([&] {
        Call call = call_of<Rank>(Function::AvBackward, {kernel_size, dilation, is_causal}, place);
        call.set(DAttn, d_attn);
        call.set(DV, d_value);
        call.set(DO, d_out);
        call.set(Attn, attn);
        call.set(V, value);
        return run(call);
    });
}

// The functions of a rank, which the header names.
template <std::size_t Rank>
struct Of_rank {
    static constexpr auto functions =
        std::make_tuple(&na_forward<Rank>, &na_backward<Rank>, &na_qk_forward<Rank>, &na_qk_backward<Rank>,
                        &na_av_forward<Rank>, &na_av_backward<Rank>);
};
template struct Of_rank<1>;
template struct Of_rank<2>;
template struct Of_rank<3>;

}  // namespace sdpa_graph::neighborhood
