// The attributes of a node: its options, and the tensors that are not arguments of the builder call.
#pragma once

#include "score_modifier.h"
#include "tensor.h"

#include <utility>
#include <vector>

namespace cudnn_frontend {

namespace nodes {
struct Draft;  // a node under construction, src/api/attributes/attributes_access.h
}

namespace detail {
using Tensor_ptr = std::shared_ptr<graph::Tensor_attributes>;
struct Attributes_access;
struct Optionals;

// Name and compute type of every node. Holds the node's ports and fields as a value: a copy is independent, and a move
// is a copy, so that no object is ever left empty. Nothing here throws: if memory runs out, the graph to which they are
// passed reports it.
class SDPA_GRAPH_API Attributes {
   public:
    std::string name;
    DataType_t compute_data_type = DataType_t::NOT_SET;

   protected:
    // Users cannot copy these: a copy between the attributes of two kinds of nodes would mix them up.
    Attributes(Attributes const&) noexcept;
    Attributes& operator=(Attributes const&) noexcept;
    ~Attributes();
    explicit Attributes(nodes::Draft* draft) noexcept;

    void rename(std::string const& value) noexcept;

    // Owned and never shared; null if memory ran out. A smart pointer would add to the compile time of every user.
    nodes::Draft* draft_;

   private:
    friend struct Attributes_access;
};

// The settings that all nodes have.
template <class Derived>
class SDPA_GRAPH_API Node_attributes : public Attributes {
   public:
    Derived& set_name(std::string const& value) noexcept {
        rename(value);
        return static_cast<Derived&>(*this);
    }
    Derived& set_compute_data_type(DataType_t value) noexcept {
        compute_data_type = value;
        return static_cast<Derived&>(*this);
    }

   protected:
    using Attributes::Attributes;

    template <class Change>
    Derived& change(Change const& body) noexcept;  // calls it with the draft, if there is one
};

// The options that forward and backward attention share. Members of this template and the next are compiled once, in
// src/api.
template <class Derived>
class SDPA_GRAPH_API Attention_attributes : public Node_attributes<Derived> {
   public:
    Derived& set_attn_scale(Tensor_ptr const& scale) noexcept;
    Derived& set_attn_scale(float const scale) noexcept;

    Derived& set_bias(Tensor_ptr const& bias) noexcept;
    Derived& set_alibi_mask(bool const enabled) noexcept;
    // A logit for each head, {1,Hq,1,1}, that takes part in the softmax but belongs to no key.
    Derived& set_sink_token(Tensor_ptr const& sink) noexcept;

    // The modifier gets the graph and the scaled scores, adds nodes that compute new scores from them, and returns
    // these: they replace the scores before bias and masks. It is called once, when these attributes are passed to the
    // graph, and must not keep the graph. The last one that is set counts. score_modifiers.h has ready ones, and
    // chain() for several.
    Derived& set_score_mod(Score_modifier modifier) noexcept;

    // Keeps scores of row i and column j with i < seq_len_q[b] and j < seq_len_kv[b].
    Derived& set_padding_mask(bool const enabled) noexcept;
    Derived& set_seq_len_q(Tensor_ptr const& lengths) noexcept;
    Derived& set_seq_len_kv(Tensor_ptr const& lengths) noexcept;
    // Cumulative lengths in place of lengths, {B + 1,1,1,1}: entry b has ends[b + 1] - ends[b] rows.
    Derived& set_cu_seq_len_q(Tensor_ptr const& ends) noexcept;
    Derived& set_cu_seq_len_kv(Tensor_ptr const& ends) noexcept;

    // Keeps scores with i + shift - left < j <= i + shift + right, where shift moves the diagonal to the bottom right
    // corner for that alignment. The left bound counts the diagonal itself.
    Derived& set_diagonal_alignment(DiagonalAlignment_t const alignment) noexcept;
    Derived& set_diagonal_band_left_bound(int const bound) noexcept;
    Derived& set_diagonal_band_right_bound(int const bound) noexcept;
    // Shorthands for the three above; false changes nothing.
    Derived& set_causal_mask(bool const enabled) noexcept;
    Derived& set_causal_mask_bottom_right(bool const enabled) noexcept;
    Derived& set_sliding_window_length(int const length) noexcept;

    // Drops each probability with this probability; docs/spec.md describes the generator.
    Derived& set_dropout(float const probability, Tensor_ptr const& seed, Tensor_ptr const& offset) noexcept;
    // Receives the generated mask, 1 where a probability was kept.
    Derived& set_rng_dump(Tensor_ptr const& dump) noexcept;

    // Stats, the output of forward and input of backward, in base 2: the natural logarithm divided by ln 2.
    Derived& set_stats_use_log2(bool const enabled) noexcept;
    // An upper bound of the row where the last ragged sequence ends, gaps included. It saves workspace in backward. A
    // sequence that ends beyond it is an error there, and on a GPU overwrites other memory.
    Derived& set_max_total_seq_len_q(std::int64_t const tokens) noexcept;
    Derived& set_max_total_seq_len_kv(std::int64_t const tokens) noexcept;

   protected:
    using Node_attributes<Derived>::Node_attributes;
};

// The further options of backward attention, for all data types.
template <class Derived>
class SDPA_GRAPH_API Attention_backward_attributes : public Attention_attributes<Derived> {
   public:
    Derived& set_dsink_token(Tensor_ptr const& dsink) noexcept;
    // Computes the gradient of the scores from the gradient of the modified scores, which set_score_mod()'s modifier
    // returned. Without it the two gradients are assumed to be equal, which is right for modifiers that add to scores
    // or mask them.
    Derived& set_score_mod_bprop(Score_modifier modifier) noexcept;
    Derived& set_deterministic_algorithm(bool const enabled) noexcept;

    using Attention_attributes<Derived>::set_dropout;
    Derived& set_dropout(Tensor_ptr const& mask, Tensor_ptr const& scale, Tensor_ptr const& scale_inverse) noexcept;

   protected:
    using Attention_attributes<Derived>::Attention_attributes;
};

// The keys that are visible to a query, in all functions of neighborhood attention: an entry for each axis of space.
template <class Derived>
class SDPA_GRAPH_API Neighborhood_window_attributes : public Node_attributes<Derived> {
   public:
    // The number of keys of a window, which is centered on the query and pushed inwards at the ends. A window of an
    // even number has one more key before the query than after it.
    Derived& set_kernel_size(std::vector<std::int64_t> const& sizes) noexcept;
    // The distance of these keys; 1 along each axis by default.
    Derived& set_dilation(std::vector<std::int64_t> const& distances) noexcept;
    // Where true, windows end at the query, and have fewer keys near the start. No axis is causal by default.
    Derived& set_is_causal(std::vector<bool> const& axes) noexcept;

   protected:
    using Node_attributes<Derived>::Node_attributes;
};
}  // namespace detail

namespace graph {

class SDPA_attributes;
class SDPA_backward_attributes;
class SDPA_fp8_backward_attributes;
class Neighborhood_attributes;
class Neighborhood_backward_attributes;
class Neighborhood_qk_attributes;
class Neighborhood_qk_backward_attributes;
class Neighborhood_av_attributes;
class Neighborhood_av_backward_attributes;

}  // namespace graph

extern template class detail::Attention_attributes<graph::SDPA_attributes>;
extern template class detail::Attention_attributes<graph::SDPA_backward_attributes>;
extern template class detail::Attention_attributes<graph::SDPA_fp8_backward_attributes>;
extern template class detail::Attention_backward_attributes<graph::SDPA_backward_attributes>;
extern template class detail::Attention_backward_attributes<graph::SDPA_fp8_backward_attributes>;
extern template class detail::Neighborhood_window_attributes<graph::Neighborhood_attributes>;
extern template class detail::Neighborhood_window_attributes<graph::Neighborhood_backward_attributes>;
extern template class detail::Neighborhood_window_attributes<graph::Neighborhood_qk_attributes>;
extern template class detail::Neighborhood_window_attributes<graph::Neighborhood_qk_backward_attributes>;
extern template class detail::Neighborhood_window_attributes<graph::Neighborhood_av_attributes>;
extern template class detail::Neighborhood_window_attributes<graph::Neighborhood_av_backward_attributes>;

namespace graph {

class SDPA_GRAPH_API SDPA_attributes : public detail::Attention_attributes<SDPA_attributes> {
   public:
    // Names of the node's tensors, for programs that keep them in tables.
    enum class input_names {
        Q,
        K,
        V,
        Attn_scale,
        Bias,
        SEQ_LEN_Q,
        SEQ_LEN_KV,
        Seed,
        Offset,
        Dropout_mask,
        Dropout_scale,
        Page_table_K,
        Page_table_V,
        Block_mask,
        Descale_Q,
        Descale_K,
        Descale_V,
        Descale_S,
        Scale_S,
        Scale_O,
        SINK_TOKEN,
    };
    enum class output_names { O, Stats, Max, Sum_exp, RNG_DUMP, Amax_S, Amax_O };
    struct SDPA_outputs {
        detail::Tensor_ptr O, Stats, Max, Sum_exp, RNG_DUMP, Amax_S, Amax_O;
    };

    SDPA_attributes() noexcept;

    SDPA_attributes& set_generate_stats(bool const enabled) noexcept;
    SDPA_attributes& set_is_inference(bool const enabled) noexcept;  // the older name: the negation of the above
    SDPA_attributes& set_implementation(AttentionImplementation_t implementation) noexcept;
    // Asks kernels to round products before they add to them.
    SDPA_attributes& set_unfuse_fma(bool const enabled) noexcept;
    // Receive the maximum of each row of scores, and the sum of exp(score - maximum): Stats is max + ln(sum).
    SDPA_attributes& set_logit_max(detail::Tensor_ptr const& max) noexcept;
    SDPA_attributes& set_score_sum_exp(detail::Tensor_ptr const& sum_exp) noexcept;

    using detail::Attention_attributes<SDPA_attributes>::set_dropout;
    // Multiplies the probabilities by the mask and the scale.
    SDPA_attributes& set_dropout(detail::Tensor_ptr const& mask, detail::Tensor_ptr const& scale) noexcept;

    // K or V is then a container of pages {pages, H, rows of a page, D}: key j of entry b is row j % rows of page
    // table[b, 0, j / rows, 0]. The padding mask says how many keys each entry has.
    SDPA_attributes& set_paged_attention_k_table(detail::Tensor_ptr const& table) noexcept;
    SDPA_attributes& set_paged_attention_v_table(detail::Tensor_ptr const& table) noexcept;
    // An upper bound of the keys of an entry; without it, it follows from the other tensors or the page tables.
    SDPA_attributes& set_paged_attention_max_seq_len_kv(int const length) noexcept;

    // UINT8 {B, Hq, ceil(Sq / 128), ceil(ceil(Skv / 128) / 8)}, a bit for each tile of 128 queries by 128 keys: bit k
    // of byte c is for the keys from 128 * (8 * c + k) on, and 1 keeps them.
    SDPA_attributes& set_block_mask(detail::Tensor_ptr const& mask) noexcept;
};

class SDPA_GRAPH_API SDPA_backward_attributes : public detail::Attention_backward_attributes<SDPA_backward_attributes> {
   public:
    SDPA_backward_attributes() noexcept;

    // The gradient of the bias, summed over this tensor's dims of 1.
    SDPA_backward_attributes& set_dbias(detail::Tensor_ptr const& dbias) noexcept;
};

class SDPA_GRAPH_API SDPA_fp8_backward_attributes
    : public detail::Attention_backward_attributes<SDPA_fp8_backward_attributes> {
   public:
    SDPA_fp8_backward_attributes() noexcept;

    bool has_causal_like_masking() const;  // a right bound of 0
    bool has_causal_mask_bottom_right() const;
    bool has_sliding_window() const;
    bool has_sink_token() const;
};

using SDPA_fp8_attributes = SDPA_attributes;
using Scaled_dot_product_flash_attention_attributes = SDPA_attributes;
using Scaled_dot_product_flash_attention_backward_attributes = SDPA_backward_attributes;

class SDPA_GRAPH_API Pointwise_attributes : public detail::Node_attributes<Pointwise_attributes> {
   public:
    Pointwise_attributes() noexcept;

    Pointwise_attributes& set_mode(PointwiseMode_t const mode) noexcept;
    Pointwise_attributes& set_axis(std::int64_t const axis) noexcept;
    Pointwise_attributes& set_relu_lower_clip(float const value) noexcept;
    Pointwise_attributes& set_relu_upper_clip(float const value) noexcept;
    Pointwise_attributes& set_relu_lower_clip_slope(float const value) noexcept;
    Pointwise_attributes& set_swish_beta(float const value) noexcept;
    Pointwise_attributes& set_elu_alpha(float const value) noexcept;
    Pointwise_attributes& set_softplus_beta(float const value) noexcept;

    PointwiseMode_t get_mode() const;
    // The axis as std::optional, empty where it is not set; defined in <cudnn_frontend/pass_by_value.h>.
    template <class As = detail::Optionals>
    auto get_axis() const {
        return As::of(axis());
    }
    template <class As = detail::Optionals>
    auto get_swish_beta() const {
        return As::of(swish_beta());
    }

   private:
    std::int64_t const* axis() const;  // null where unset
    float const* swish_beta() const;
};

class SDPA_GRAPH_API Matmul_attributes : public detail::Node_attributes<Matmul_attributes> {
   public:
    Matmul_attributes() noexcept;

    // Lengths of the batch entries, {B,1,1,1}: beyond them the result holds the padding value, and K stops there.
    Matmul_attributes& set_m_override(detail::Tensor_ptr const& lengths) noexcept;
    Matmul_attributes& set_n_override(detail::Tensor_ptr const& lengths) noexcept;
    Matmul_attributes& set_k_override(detail::Tensor_ptr const& lengths) noexcept;
    Matmul_attributes& set_padding(double const value) noexcept;
};

class SDPA_GRAPH_API Reduction_attributes : public detail::Node_attributes<Reduction_attributes> {
   public:
    Reduction_attributes() noexcept;

    Reduction_attributes& set_mode(ReductionMode_t const mode) noexcept;
    Reduction_attributes& set_is_deterministic(bool const enabled) noexcept;

    template <class As = detail::Optionals>
    auto get_mode() const {
        return As::of(mode());
    }
    bool get_is_deterministic() const;

   private:
    ReductionMode_t const* mode() const;
};

// Keeps the indices start, start + step and so on below limit, in each dim.
class SDPA_GRAPH_API Slice_attributes : public detail::Node_attributes<Slice_attributes> {
   public:
    Slice_attributes() noexcept;

    Slice_attributes& set_slices(std::vector<std::pair<std::int64_t, std::int64_t>> const& starts_and_limits) noexcept;
    Slice_attributes& set_strides(std::vector<std::int64_t> const& steps) noexcept;  // 1 each by default
};

// The same elements under other dims: in their order in memory (VIEW_ONLY, the default), or in the row-major order of
// their indices (LOGICAL). Dims and strides may also be set on the result itself.
class SDPA_GRAPH_API Reshape_attributes : public detail::Node_attributes<Reshape_attributes> {
   public:
    Reshape_attributes() noexcept;

    Reshape_attributes& set_dim(std::vector<std::int64_t> const& dim) noexcept;
    Reshape_attributes& set_stride(std::vector<std::int64_t> const& stride) noexcept;
    Reshape_attributes& set_reshape_mode(ReshapeMode_t const mode) noexcept;

    std::vector<std::int64_t> get_dim() const;
    std::vector<std::int64_t> get_stride() const;
    ReshapeMode_t get_reshape_mode() const;
};

// Dim d of the result is dim permutation[d] of the operand; strides that are not set are permuted in the same way.
class SDPA_GRAPH_API Transpose_attributes : public detail::Node_attributes<Transpose_attributes> {
   public:
    Transpose_attributes() noexcept;

    Transpose_attributes& set_permutation(std::vector<std::int64_t> const& permutation) noexcept;
    std::vector<std::int64_t> get_permutation() const;
};

class SDPA_GRAPH_API Neighborhood_attributes : public detail::Neighborhood_window_attributes<Neighborhood_attributes> {
   public:
    Neighborhood_attributes() noexcept;

    Neighborhood_attributes& set_attn_scale(float const scale) noexcept;  // 1 / sqrt(D) by default
    // {H, 2 k - 1 for each kernel size k}: the addend of a scaled score, by head and by the distance from the query to
    // the key in dilations, which starts at 1 - k.
    Neighborhood_attributes& set_rel_pos_bias(detail::Tensor_ptr const& bias) noexcept;
    Neighborhood_attributes& set_generate_stats(bool const enabled) noexcept;
};

class SDPA_GRAPH_API Neighborhood_backward_attributes
    : public detail::Neighborhood_window_attributes<Neighborhood_backward_attributes> {
   public:
    Neighborhood_backward_attributes() noexcept;

    Neighborhood_backward_attributes& set_attn_scale(float const scale) noexcept;
    Neighborhood_backward_attributes& set_rel_pos_bias(detail::Tensor_ptr const& bias) noexcept;
    Neighborhood_backward_attributes& set_drel_pos_bias(detail::Tensor_ptr const& gradient) noexcept;
};

class SDPA_GRAPH_API Neighborhood_qk_attributes
    : public detail::Neighborhood_window_attributes<Neighborhood_qk_attributes> {
   public:
    Neighborhood_qk_attributes() noexcept;

    Neighborhood_qk_attributes& set_rel_pos_bias(detail::Tensor_ptr const& bias) noexcept;
};

class SDPA_GRAPH_API Neighborhood_qk_backward_attributes
    : public detail::Neighborhood_window_attributes<Neighborhood_qk_backward_attributes> {
   public:
    Neighborhood_qk_backward_attributes() noexcept;

    Neighborhood_qk_backward_attributes& set_drel_pos_bias(detail::Tensor_ptr const& gradient) noexcept;
};

class SDPA_GRAPH_API Neighborhood_av_attributes
    : public detail::Neighborhood_window_attributes<Neighborhood_av_attributes> {
   public:
    Neighborhood_av_attributes() noexcept;
};

class SDPA_GRAPH_API Neighborhood_av_backward_attributes
    : public detail::Neighborhood_window_attributes<Neighborhood_av_backward_attributes> {
   public:
    Neighborhood_av_backward_attributes() noexcept;
};

}  // namespace graph
}  // namespace cudnn_frontend
