// A plain description of one attention problem: sizes, types, layouts and options, without data.
#pragma once

#include "reference/oracle/modifier.h"
#include "support/attention_result.h"
#include "support/host_tensor.h"

#include <cudnn_frontend/attributes.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sdpa_test {

using cudnn_frontend::AttentionImplementation_t;
using cudnn_frontend::DiagonalAlignment_t;

// Memory order of a {B,H,S,D} tensor. Packed: the tensors of a group (Q, K, V; or their gradients) lie in one buffer,
// next to each other in each row. Gaps: unused elements behind each row, head and batch entry; WideGaps: so many that
// rows start at multiples of 16 bytes. Shared (for inputs): the batch entries are one and the same, by a stride of 0.
// Ragged: sequences of their true lengths, one after the other, by offsets, for which the case needs lengths;
// RaggedGaps: with some unused rows behind each sequence; RaggedPacked: with the tensors of a group in one buffer, next
// to each other in each row; RaggedHeads: next to each other in each head; RaggedSlots (for inputs; outputs are
// Ragged): as in BHSD, with room for the longest sequence in each batch entry. Transposed (for a bias and a dropout
// mask): column by column.
enum class Layout {
    Bhsd,
    Bshd,
    Sbhd,
    Packed,
    Gaps,
    WideGaps,
    Shared,
    Transposed,
    Ragged,
    RaggedGaps,
    RaggedPacked,
    RaggedHeads,
    RaggedSlots
};

inline bool is_ragged(Layout layout) { return layout >= Layout::Ragged; }

// How the attention scale reaches the graph.
enum class Scale { None, Number, Embedded, ByValue, Device };

enum class Dropout { None, Probability, Mask };

// K and V in pages of so many rows, in random order and among unused pages; 0 rows: not paged. The case needs lengths,
// and has no backward.
struct Paging {
    std::int64_t k_rows = 0, v_rows = 0;
    bool packed_tables = false;
    bool wide_tables = false;   // with unused entries behind those of each batch entry
    bool wild_entries = false;  // table entries past the lengths name pages that do not exist
    bool states_length = true;  // the graph gets a bound on the keys; otherwise other tensors determine it

    explicit operator bool() const { return k_rows > 0 || v_rows > 0; }
};

// Where a bias is minus infinity: nowhere, here and there, in whole rows, in tiles of 128 by 128; or it is plus
// infinity or NaN, once in each row.
enum class Infinities { None, Some, Rows, Tiles, Positive, Nan };

struct AttentionCase {
    std::uint64_t seed = 1;                      // of the data
    bool has_data = true;                        // false for planning alone: tensors of rows and scores are left NaN
    DataType_t type = DataType_t::FLOAT;         // of Q, K and V; an 8-bit type for FP8 attention
    DataType_t result_type = DataType_t::FLOAT;  // of O, dO and the gradients
    std::optional<DataType_t> gradient_type;     // of dO and the gradients, if different
    std::int64_t b = 1, h_q = 1, h_k = 1, h_v = 1, s_q = 1, s_kv = 1, d_qk = 1, d_v = 1;
    double magnitude = 1.0;         // of Q and K
    bool low_scores = false;        // Q has positive numbers, and K negative ones
    std::int64_t zero_columns = 0;  // so many last columns of Q, K, V and dO are zeros
    Layout input_layout = Layout::Bhsd, output_layout = Layout::Bhsd;
    std::optional<Layout> keys_layout;           // of K and V, if it differs from Q's
    std::optional<Layout> stats_layout;          // of Stats, Max and Sum_exp, if it differs from O's
    std::optional<Layout> scores_layout;         // of the bias and the dropout mask, if they are not packed
    DataType_t offset_type = DataType_t::INT32;  // of ragged layouts, and of cumulative lengths
    bool offsets_in_rows = false;                // ragged layouts count rows, not elements
    bool numbers_apart = false;  // lengths, offsets, the sink and per-head biases use every other element
    bool bounds_rows = false;    // the graph gets bounds on the rows of ragged layouts
    bool explicit_uids = true;
    bool generate_stats = true;
    AttentionImplementation_t implementation = AttentionImplementation_t::AUTO;

    Scale scale = Scale::None;
    float scale_value = 1.0f;

    std::optional<Index4> bias;                // its dims
    DataType_t bias_type = DataType_t::FLOAT;  // of the bias and its gradient
    Infinities bias_infinities = Infinities::None;
    double bias_shift = 0.0;
    bool d_bias = false;
    std::optional<Index4> d_bias_dim;  // if they differ from the bias's

    oracle::Modify modifier = oracle::Modify::Nothing;
    float modifier_number = 1.0f;                        // the cap, or the factor of the distance
    std::int32_t modifier_reach = 1, modifier_step = 1;  // of a dilated window
    bool integer_predicates = false;                     // a causal modifier selects by INT32
    std::optional<DataType_t> sink;                      // the sink token's type
    double sink_shift = 0.0;
    bool d_sink = false;
    bool logit_max = false, score_sum_exp = false;  // outputs
    bool stats_use_log2 = false;

    bool alibi = false;
    std::optional<std::vector<std::int64_t>> len_q, len_kv;
    bool sums_of_lengths = false;                // the graph gets cumulative lengths
    DataType_t length_type = DataType_t::INT32;  // of others
    bool omits_padding_mask = false;             // the graph gets lengths and no padding mask
    DataType_t stats_type = DataType_t::FLOAT;   // of forward's Stats
    bool nan_in_padding = false;                 // beyond the lengths, in all inputs but dropout's scale
    bool wild_rows = false;                      // some rows of Q, K, V and dO hold NaN or infinity
    Paging paging;
    bool block_mask = false;     // random bits; the case has no backward
    bool stale_padding = false;  // backward finds numbers in O and -inf in Stats there

    DiagonalAlignment_t alignment = DiagonalAlignment_t::TOP_LEFT;
    std::optional<int> left, right;
    bool shorthands = false;  // uses older and shorter names of options if they exist

    Dropout dropout = Dropout::None;
    float dropout_probability = 0.0f;
    std::int64_t rng_seed = 1, rng_offset = 0;
    bool rng_dump = false;
    DataType_t rng_type = DataType_t::INT64;
    std::optional<Index4> mask;  // dims of the user's mask
    DataType_t mask_type = DataType_t::FLOAT;
    bool exchanged_mask = false;    // mask and scale are passed in each other's place
    bool scalars_by_value = false;  // seed, offset and the mask's scales

    bool odd_factors = false;       // FP8 attention: not powers of two, and descales that are not 1 / scale
    Scale factors = Scale::Device;  // how they reach the graph: Embedded, ByValue or Device

    bool deterministic = false;
    bool dynamic_shapes = false;
    ResultSet left_out;  // that nobody asks for

    Layout layout_of_stats() const { return stats_layout.value_or(output_layout); }
    bool has_backward() const { return !paging && !block_mask; }
    DataType_t type_of_gradients() const { return gradient_type.value_or(result_type); }
};

std::string describe(AttentionCase const& c);

}  // namespace sdpa_test
