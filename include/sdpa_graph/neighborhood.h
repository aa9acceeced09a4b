// Neighborhood attention as functions over tensors of any library: each query attends to a window of keys around it.
// Names, order and meaning of the arguments are those of NATTEN 0.17's C++ functions; docs/neighborhood-functions.md
// has the formulas, the rules, and what differs.
#pragma once

#include "place.h"

#include <array>
#include <cstddef>
#include <optional>

namespace sdpa_graph {
namespace neighborhood {

using Optional_tensor = std::optional<Tensor_view>;

// An entry for each axis of space.
template <std::size_t Rank>
using Tuple = std::array<int, Rank>;
template <std::size_t Rank>
using Boolean_tuple = std::array<bool, Rank>;

// All results are tensors that the caller passes, without memory of their own. A place's allocator is asked for scratch
// memory on a GPU alone, under the name "workspace".

// Heads last: output, query, key and value are {b, *space, h, d}, logsumexp is FLOAT {b, *space, h}. A relative
// position bias is {h, 2 k - 1 for each kernel size k}. The tile sizes and the splits say how other kernels would
// divide the work, and nothing about the results.
template <std::size_t Rank>
SDPA_GRAPH_API cudnn_frontend::error_t na_forward(Tensor_view const& output, Tensor_view const& query,
                                                  Tensor_view const& key, Tensor_view const& value,
                                                  Optional_tensor const& rel_pos_bias, Optional_tensor const& logsumexp,
                                                  Tuple<Rank> const& kernel_size, Tuple<Rank> const& dilation,
                                                  Boolean_tuple<Rank> const& is_causal, float attn_scale,
                                                  Tuple<Rank> const& query_tile_size, Tuple<Rank> const& key_tile_size,
                                                  Place const& place) noexcept;

template <std::size_t Rank>
SDPA_GRAPH_API cudnn_frontend::error_t na_backward(Tensor_view const& grad_query, Tensor_view const& grad_key,
                                                   Tensor_view const& grad_value, Tensor_view const& query,
                                                   Tensor_view const& key, Tensor_view const& value,
                                                   Tensor_view const& output, Tensor_view const& grad_output,
                                                   Tensor_view const& logsumexp, Tuple<Rank> const& kernel_size,
                                                   Tuple<Rank> const& dilation, Boolean_tuple<Rank> const& is_causal,
                                                   float attn_scale, Tuple<Rank> const& query_tile_size,
                                                   Tuple<Rank> const& key_tile_size, Tuple<Rank> const& num_splits_key,
                                                   bool compute_delta_with_torch, Place const& place) noexcept;

// Heads first: query, key, value and output are {b, h, *space, d}; attn is {b, h, *space, w}, with a row-major slot for
// each key of a window, and may have any strides. There is no scale.
template <std::size_t Rank>
SDPA_GRAPH_API cudnn_frontend::error_t na_qk_forward(Tensor_view const& attn, Tensor_view const& query,
                                                     Tensor_view const& key, Optional_tensor const& rel_pos_bias,
                                                     Tuple<Rank> const& kernel_size, Tuple<Rank> const& dilation,
                                                     Boolean_tuple<Rank> const& is_causal, Place const& place) noexcept;

template <std::size_t Rank>
SDPA_GRAPH_API cudnn_frontend::error_t na_qk_backward(Tensor_view const& d_query, Tensor_view const& d_key,
                                                      Optional_tensor const& d_rel_pos_bias, Tensor_view const& d_attn,
                                                      Tensor_view const& query, Tensor_view const& key,
                                                      Tuple<Rank> const& kernel_size, Tuple<Rank> const& dilation,
                                                      Boolean_tuple<Rank> const& is_causal,
                                                      Place const& place) noexcept;

template <std::size_t Rank>
SDPA_GRAPH_API cudnn_frontend::error_t na_av_forward(Tensor_view const& output, Tensor_view const& attn,
                                                     Tensor_view const& value, Tuple<Rank> const& kernel_size,
                                                     Tuple<Rank> const& dilation, Boolean_tuple<Rank> const& is_causal,
                                                     Place const& place) noexcept;

template <std::size_t Rank>
SDPA_GRAPH_API cudnn_frontend::error_t na_av_backward(Tensor_view const& d_attn, Tensor_view const& d_value,
                                                      Tensor_view const& d_out, Tensor_view const& attn,
                                                      Tensor_view const& value, Tuple<Rank> const& kernel_size,
                                                      Tuple<Rank> const& dilation, Boolean_tuple<Rank> const& is_causal,
                                                      Place const& place) noexcept;

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

}  // namespace neighborhood
}  // namespace sdpa_graph
