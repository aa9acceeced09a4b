// Ready score modifiers: they add nodes of the graph like any others, which print, serialize and run on every target.
// Masking sets a score to minus infinity.
#pragma once

#include "graph.h"

#include <optional>

namespace cudnn_frontend {
namespace graph {
namespace attn {
namespace score_modifiers {

using Graph_ptr = std::shared_ptr<Graph>;
using Tensor_ptr = std::shared_ptr<Tensor_attributes>;

// These are passed to set_score_mod() as they are. They leave the gradient unchanged and need no set_score_mod_bprop().
// For a null tensor, one of other dims, or a number out of range they return null, and validation reports it.

// Adds slopes[h] (j - i) to the score of head h, query i and key j; slopes are {1, Hq, 1, 1}.
SDPA_GRAPH_API detail::Score_modifier alibi(Tensor_ptr slopes);
// Adds factor (j - i).
SDPA_GRAPH_API detail::Score_modifier relative_bias(float factor);
// Keeps scores where query and key belong to one document: integers, {B, 1, Sq, 1} and {B, 1, 1, Skv}. These are two
// tensors, though both may be bound to the same memory.
SDPA_GRAPH_API detail::Score_modifier document_mask(Tensor_ptr documents_of_queries, Tensor_ptr documents_of_keys);
// Keeps j <= i, and the keys of a prefix for all queries; the prefix lengths are integers {B, 1, 1, 1}.
SDPA_GRAPH_API detail::Score_modifier prefix_lm(Tensor_ptr prefix_lengths);
// Keeps |i - j| < reach where i - j is a multiple of the dilation.
SDPA_GRAPH_API detail::Score_modifier dilated_window(std::int32_t reach, std::int32_t dilation);

// Applies one after the other. Caps come before masks: they would turn minus infinity into a finite number.
SDPA_GRAPH_API detail::Score_modifier chain(detail::Score_modifier first, detail::Score_modifier second);

// cap tanh(score / cap), for a cap above 0. The two belong together: backward uses a tensor that forward made.
struct Capped {
    detail::Score_modifier forward, backward;
};
SDPA_GRAPH_API Capped softcap(float cap);

// The same as functions, to be called from a program's own modifier or bound to arguments.

SDPA_GRAPH_API float get_negative_inf_value();
SDPA_GRAPH_API Tensor_ptr bias(Graph_ptr graph, Tensor_ptr score, Tensor_ptr bias);
// Keeps j <= i.
SDPA_GRAPH_API Tensor_ptr causal_mask(Graph_ptr graph, Tensor_ptr score);
// Keeps j <= i + keys - queries, counted by the lengths if they are given.
SDPA_GRAPH_API Tensor_ptr causal_mask_bottom_right(Graph_ptr graph, Tensor_ptr score, std::int64_t queries,
                                                   std::int64_t keys, Tensor_ptr seq_len_q, Tensor_ptr seq_len_kv);
// Keeps i < seq_len_q[b] and j < seq_len_kv[b].
SDPA_GRAPH_API Tensor_ptr padding_mask(Graph_ptr graph, Tensor_ptr score, Tensor_ptr seq_len_kv, Tensor_ptr seq_len_q);
// The same mask as set_diagonal_band_left_bound() and set_diagonal_band_right_bound().
SDPA_GRAPH_API Tensor_ptr sliding_window_mask(Graph_ptr graph, Tensor_ptr score, DiagonalAlignment_t alignment,
                                              std::optional<std::int64_t> left, std::optional<std::int64_t> right,
                                              std::int64_t queries, std::int64_t keys, Tensor_ptr seq_len_q,
                                              Tensor_ptr seq_len_kv);
// Adds slopes[h] (j - i). Creates the tensor of slopes; the caller fills its memory of so many bytes.
SDPA_GRAPH_API Tensor_ptr alibi_mask(Graph_ptr graph, Tensor_ptr score, Tensor_ptr& slopes, std::int64_t heads,
                                     std::int64_t& bytes_of_slopes);

// cap tanh(score / cap) with the cap as a tensor of one element. One object serves forward and backward of a graph.
class SDPA_GRAPH_API Softcap {
   public:
    Tensor_ptr forward(Graph_ptr graph, Tensor_ptr score, Tensor_ptr cap);
    Tensor_ptr backward(Graph_ptr graph, Tensor_ptr gradient, Tensor_ptr cap);

   private:
    Tensor_ptr before_tanh_;
};

}  // namespace score_modifiers
}  // namespace attn
}  // namespace graph
}  // namespace cudnn_frontend
