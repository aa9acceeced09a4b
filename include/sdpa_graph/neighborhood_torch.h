// The functions of neighborhood.h on at::Tensor, for programs that call NATTEN's C++ functions on PyTorch's tensors:
// names, arguments and types are theirs. A call that the library refuses throws a c10::Error, whose text names the
// rule.
#pragma once

#include "neighborhood.h"
#include "place_torch.h"

#include <array>
#include <cstdint>
#include <optional>
#include <tuple>

namespace sdpa_graph {
namespace neighborhood_torch {

namespace detail {

using place_torch::Call;
using place_torch::check;
using place_torch::view_of;

// A tuple with an entry for each axis of space.
template <class T, std::size_t Rank>
using Tuple = decltype(std::tuple_cat(std::array<T, Rank>()));

template <class T, std::size_t Rank>
std::array<T, Rank> array_of(Tuple<T, Rank> const& tuple) {
    return std::apply([](auto... entries) { return std::array<T, Rank>{entries...}; }, tuple);
}

}  // namespace detail

template <std::size_t Rank>
using Tuple = detail::Tuple<std::int32_t, Rank>;
template <std::size_t Rank>
using Boolean_tuple = detail::Tuple<bool, Rank>;

template <std::size_t Rank>
void na_forward(at::Tensor const& output, at::Tensor const& query, at::Tensor const& key, at::Tensor const& value,
                std::optional<at::Tensor> const& rel_pos_bias, std::optional<at::Tensor> const& logsumexp,
                Tuple<Rank> const& kernel_size, Tuple<Rank> const& dilation, Boolean_tuple<Rank> const& is_causal,
                float attn_scale, Tuple<Rank> const& query_tile_size, Tuple<Rank> const& key_tile_size) {
    using namespace detail;
    Call const call(query);
    check(neighborhood::na_forward<Rank>(
        view_of(output), view_of(query), view_of(key), view_of(value), view_of(rel_pos_bias), view_of(logsumexp),
        array_of<int, Rank>(kernel_size), array_of<int, Rank>(dilation), array_of<bool, Rank>(is_causal), attn_scale,
        array_of<int, Rank>(query_tile_size), array_of<int, Rank>(key_tile_size), call.place()));
}

template <std::size_t Rank>
void na_backward(at::Tensor const& grad_query, at::Tensor const& grad_key, at::Tensor const& grad_value,
                 at::Tensor const& query, at::Tensor const& key, at::Tensor const& value, at::Tensor const& output,
                 at::Tensor const& grad_output, at::Tensor const& logsumexp, Tuple<Rank> const& kernel_size,
                 Tuple<Rank> const& dilation, Boolean_tuple<Rank> const& is_causal, float attn_scale,
                 Tuple<Rank> const& query_tile_size, Tuple<Rank> const& key_tile_size,
                 Tuple<Rank> const& num_splits_key, bool compute_delta_with_torch) {
    using namespace detail;
    Call const call(query);
    check(neighborhood::na_backward<Rank>(view_of(grad_query), view_of(grad_key), view_of(grad_value), view_of(query),
                                          view_of(key), view_of(value), view_of(output), view_of(grad_output),
                                          view_of(logsumexp), array_of<int, Rank>(kernel_size),
                                          array_of<int, Rank>(dilation), array_of<bool, Rank>(is_causal), attn_scale,
                                          array_of<int, Rank>(query_tile_size), array_of<int, Rank>(key_tile_size),
                                          array_of<int, Rank>(num_splits_key), compute_delta_with_torch, call.place()));
}

template <std::size_t Rank>
void na_qk_forward(at::Tensor const& attn, at::Tensor const& query, at::Tensor const& key,
                   std::optional<at::Tensor> const& rel_pos_bias, Tuple<Rank> const& kernel_size,
                   Tuple<Rank> const& dilation, Boolean_tuple<Rank> const& is_causal) {
    using namespace detail;
    Call const call(query);
    check(neighborhood::na_qk_forward<Rank>(view_of(attn), view_of(query), view_of(key), view_of(rel_pos_bias),
                                            array_of<int, Rank>(kernel_size), array_of<int, Rank>(dilation),
                                            array_of<bool, Rank>(is_causal), call.place()));
}

template <std::size_t Rank>
void na_qk_backward(at::Tensor const& d_query, at::Tensor const& d_key, std::optional<at::Tensor> const& d_rel_pos_bias,
                    at::Tensor const& d_attn, at::Tensor const& query, at::Tensor const& key,
                    Tuple<Rank> const& kernel_size, Tuple<Rank> const& dilation, Boolean_tuple<Rank> const& is_causal) {
    using namespace detail;
    Call const call(query);
    check(neighborhood::na_qk_backward<Rank>(view_of(d_query), view_of(d_key), view_of(d_rel_pos_bias), view_of(d_attn),
                                             view_of(query), view_of(key), array_of<int, Rank>(kernel_size),
                                             array_of<int, Rank>(dilation), array_of<bool, Rank>(is_causal),
                                             call.place()));
}

template <std::size_t Rank>
void na_av_forward(at::Tensor const& output, at::Tensor const& attn, at::Tensor const& value,
                   Tuple<Rank> const& kernel_size, Tuple<Rank> const& dilation, Boolean_tuple<Rank> const& is_causal) {
    using namespace detail;
    Call const call(value);
    check(neighborhood::na_av_forward<Rank>(view_of(output), view_of(attn), view_of(value),
                                            array_of<int, Rank>(kernel_size), array_of<int, Rank>(dilation),
                                            array_of<bool, Rank>(is_causal), call.place()));
}

template <std::size_t Rank>
void na_av_backward(at::Tensor const& d_attn, at::Tensor const& d_value, at::Tensor const& d_out,
                    at::Tensor const& attn, at::Tensor const& value, Tuple<Rank> const& kernel_size,
                    Tuple<Rank> const& dilation, Boolean_tuple<Rank> const& is_causal) {
    using namespace detail;
    Call const call(value);
    check(neighborhood::na_av_backward<Rank>(view_of(d_attn), view_of(d_value), view_of(d_out), view_of(attn),
                                             view_of(value), array_of<int, Rank>(kernel_size),
                                             array_of<int, Rank>(dilation), array_of<bool, Rank>(is_causal),
                                             call.place()));
}

// clang-format off
inline constexpr auto& na1d_forward = na_forward<1>;
inline constexpr auto& na2d_forward = na_forward<2>;
inline constexpr auto& na3d_forward = na_forward<3>;
inline constexpr auto& na1d_backward = na_backward<1>;
inline constexpr auto& na2d_backward = na_backward<2>;
inline constexpr auto& na3d_backward = na_backward<3>;
inline constexpr auto& na1d_qk_forward = na_qk_forward<1>;
inline constexpr auto& na2d_qk_forward = na_qk_forward<2>;
inline constexpr auto& na3d_qk_forward = na_qk_forward<3>;
inline constexpr auto& na1d_qk_backward = na_qk_backward<1>;
inline constexpr auto& na2d_qk_backward = na_qk_backward<2>;
inline constexpr auto& na3d_qk_backward = na_qk_backward<3>;
inline constexpr auto& na1d_av_forward = na_av_forward<1>;
inline constexpr auto& na2d_av_forward = na_av_forward<2>;
inline constexpr auto& na3d_av_forward = na_av_forward<3>;
inline constexpr auto& na1d_av_backward = na_av_backward<1>;
inline constexpr auto& na2d_av_backward = na_av_backward<2>;
inline constexpr auto& na3d_av_backward = na_av_backward<3>;
// clang-format on

}  // namespace neighborhood_torch
}  // namespace sdpa_graph
