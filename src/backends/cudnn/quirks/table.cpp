#include "cudnn/quirks/block_scale_limits.h"
#include "cudnn/quirks/float_limits.h"
#include "cudnn/quirks/fp8_limits.h"
#include "cudnn/quirks/layout_limits.h"
#include "cudnn/quirks/limit_tools.h"
#include "cudnn/quirks/modifier_limits.h"
#include "cudnn/quirks/one_query_limits.h"
#include "cudnn/quirks/ragged_limits.h"
#include "cudnn/quirks/support.h"
#include "cudnn/quirks/type_limits.h"
#include "cudnn/quirks/unified_limits.h"
#include "nodes/attention/fp8.h"
#include "nodes/attention/paging.h"
#include "nodes/attention/unified.h"
#include "nodes/schema/schema.h"
#include "nodes/schema/wording.h"

#include <algorithm>
#include <vector>

namespace cudnn_frontend::quirks {
namespace {

constexpr auto kUnsupported = error_code_t::GRAPH_NOT_SUPPORTED;

Found architecture(Facts const&, Capabilities const& here) {
    if (here.sm >= 80) return {};
    return Violation{-1, architecture_of(here)};
}

// Patterns of operations that engines know hold one attention.
Found several_attention_nodes(Facts const& facts, Capabilities const&) {
    auto const first = std::ranges::find_if(
        facts.graph.nodes, [](nodes::Node const& node) { return nodes::attention_fields(node) != nullptr; });
    if (&*first == &facts.node) return {};
    return Violation{-1, "an attention node beside '" + nodes::label(facts.graph, *first) + "'"};
}

Found known_bad_release(Facts const&, Capabilities const& here) {
    if (here.cudnn_version != 91000 && here.cudnn_version != 91001) return {};
    return Violation{-1, version(here.cudnn_version)};
}

// The library cannot pad: what lies behind a row of Q or V is the caller's, may be NaN, and behind one of O may be
// data.
Found head_dim_multiple(Facts const& facts, Capabilities const&) {
    if (nodes::is_fp8(facts.node) && !nodes::is_block_scaled(facts.node)) return {};  // another limit's
    Found found = bad_head_dim(facts, [](std::int64_t dim) { return dim % 8 != 0; });
    if (found) found->found += ", where " + number((facts.tensor(found->port)->dim[3] + 7) / 8 * 8) + " is the next";
    return found;
}

// The largest of backward, but for one pair that compute capability 10.x takes besides.
Found backward_head_dim(Facts const& facts, Capabilities const& here) {
    bool const is_taken_pair = is_datacenter(here) && facts.qk_dim() == 192 && facts.v_dim() == 128;
    if (!facts.is_backward || is_taken_pair) return {};
    std::int64_t const largest = is_hopper(here) ? 256 : 128;
    return bad_head_dim(facts, [&](std::int64_t dim) { return dim > largest; });
}

Found window_in_9_14_0(Facts const& facts, Capabilities const& here) {
    bool const is_open_window = facts.fields.left_bound && facts.fields.right_bound.value_or(1) != 0;
    if (here.cudnn_version != 91400 || !is_open_window || facts.keys() <= 1024) return {};
    return Violation{-1, "a left bound without a right bound of 0 and " + number(facts.keys()) + " keys, with " +
                             version(here.cudnn_version)};
}

Found unequal_head_dims(Facts const& facts, Capabilities const& here) {
    bool const is_affected = facts.is_backward && here.cudnn_version >= 91100 && here.cudnn_version < 91300;
    bool const is_between = facts.qk_dim() > 128 && facts.qk_dim() <= 192 && facts.v_dim() > 64 && facts.v_dim() <= 128;
    bool const is_right = facts.qk_dim() == 192 && facts.v_dim() == 128;
    if (!is_affected || !is_between || is_right) return {};
    return Violation{-1, "head dims of " + number(facts.qk_dim()) + " and " + number(facts.v_dim()) + ", with " +
                             version(here.cudnn_version)};
}

Found bias_gradient_dims(Facts const& facts, Capabilities const&) {
    nodes::TensorSpec const* const gradient = facts.tensor(Port::dBias);
    if (gradient == nullptr) return {};
    auto const& dim = gradient->dim;
    if (dim[2] == facts.queries() && dim[3] == facts.keys()) return {};
    return Violation{Port::dBias, "a dBias of " + number(dim[2]) + " x " + number(dim[3]) + " for scores of " +
                                      number(facts.queries()) + " x " + number(facts.keys())};
}

// A number for each row, as backward's engines count them; numbers for heads alone are none.
bool is_column_of_rows(core::Dims const& dim) { return dim[3] == 1 && (dim[2] > 1 || dim[0] > 1); }

bool is_column_of_rows(Facts const& facts, int port) {
    nodes::TensorSpec const* const tensor = facts.tensor(port);
    return tensor != nullptr && is_column_of_rows(tensor->dim);
}

// The tensors that modifiers read a column of.
std::vector<nodes::TensorSpec const*> columns_of_modifiers(Facts const& facts) {
    auto columns = tensors_of_modifiers(facts);
    std::erase_if(columns, [](nodes::TensorSpec const* tensor) { return !is_column_of_rows(tensor->dim); });
    return columns;
}

// Backward's engines take four columns, of which the stats and the rows' sums are two, and a mask's counts twice; those
// of 10.x take any number from 9.21.1 on.
bool has_too_many_columns(Facts const& facts, Capabilities const& here) {
    if (is_datacenter(here) && here.cudnn_version >= 92101) return false;
    std::size_t const of_mask = is_column_of_rows(facts, Port::Dropout_mask) ? 2 : 0;
    std::size_t const of_bias = is_column_of_rows(facts, Port::Bias) ? 1 : 0;
    return of_mask + of_bias + columns_of_modifiers(facts).size() > 2;
}

Found mask_column_in_backward(Facts const& facts, Capabilities const& here) {
    if (!facts.is_backward || facts.keys() == 1 || !is_column_of_rows(facts, Port::Dropout_mask)) return {};
    std::string const column = "one column in the dropout mask ", where = "on " + architecture_of(here);
    if (!is_hopper_or_datacenter(here)) return Violation{Port::Dropout_mask, column + where};
    if (facts.has(Port::dBias) && !is_hopper(here)) {
        return Violation{Port::Dropout_mask, column + "beside dBias " + where};
    }
    if (!is_column_of_rows(facts, Port::Bias) || !has_too_many_columns(facts, here)) return {};
    return Violation{Port::Dropout_mask, column + "and one in the bias"};
}

Found bias_columns_in_backward(Facts const& facts, Capabilities const& here) {
    bool const has_column = facts.keys() > 1 && is_column_of_rows(facts, Port::Bias);
    if (!facts.is_backward || is_hopper_or_datacenter(here) || !has_column) return {};
    return Violation{Port::Bias, "1 column for " + number(facts.keys()) + " of the scores"};
}

// Of one key's scores every tensor is a column.
Found columns_of_one_key(Facts const& facts, Capabilities const& here) {
    if (!facts.is_backward || facts.keys() != 1) return {};
    bool const has_bias = is_column_of_rows(facts, Port::Bias);
    bool const has_mask = is_column_of_rows(facts, Port::Dropout_mask);
    if (has_bias && has_mask && has_too_many_columns(facts, here))
        return Violation{Port::Dropout_mask, "one key, with a bias and a dropout mask"};
    if (is_hopper_or_datacenter(here) || !(has_bias || has_mask)) return {};
    return has_mask ? Violation{Port::Dropout_mask, "one key, with a dropout mask"}
                    : Violation{Port::Bias, "one key, with a bias"};
}

Found modifier_gradient(Facts const& facts, Capabilities const& here) {
    if (is_hopper(here) || !facts.has(Port::dScore_mod)) return {};
    if (!has_backward_activation(facts)) return {};
    bool const needs_product = needs_product_of_dq(facts);
    if (is_hopper_or_datacenter(here) && !needs_product) return {};
    return Violation{Port::dScore_mod, std::string("TANH_BWD or another backward activation in a modifier's gradient") +
                                           (needs_product ? ", beside dBias or the deterministic algorithm," : "") +
                                           " on " + architecture_of(here)};
}

// Other engines than those of 9.0 and 10.x take the stats, the rows' sums and no other columns.
Found modifier_columns(Facts const& facts, Capabilities const& here) {
    if (!facts.is_backward) return {};
    auto const columns = columns_of_modifiers(facts);
    if (columns.empty()) return {};
    std::string const column =
        "a modifier that reads '" + columns.front()->name + "', a number for each query or batch entry, ";
    if (!is_hopper_or_datacenter(here)) return Violation{Port::Score_mod, column + "on " + architecture_of(here)};
    if (!has_too_many_columns(facts, here)) return {};
    return Violation{Port::Score_mod, column + "beside other columns"};
}

Found bias_gradient_of_modified(Facts const& facts, Capabilities const&) {
    if (!facts.has(Port::dBias) || !facts.has(Port::dScore_mod)) return {};
    return Violation{Port::dBias, "a dBias beside the gradient of a modifier"};
}

Found page_sizes(Facts const& facts, Capabilities const&) {
    if (!facts.has(Port::Page_table_k) || !facts.has(Port::Page_table_v)) return {};
    std::int64_t const of_k = facts.tensor(Port::K)->dim[2], of_v = facts.tensor(Port::V)->dim[2];
    if (of_k == of_v) return {};
    return Violation{Port::V, "pages of " + number(of_v) + " rows beside K's of " + number(of_k)};
}

Found deterministic_sink(Facts const& facts, Capabilities const&) {
    if (!is_deterministic(facts) || !facts.has(Port::dSink_token)) return {};
    return Violation{Port::dSink_token, "a dSink under the deterministic algorithm"};
}

Found sink_gradient_with_dropout(Facts const& facts, Capabilities const&) {
    if (!facts.has(Port::dSink_token) || !draws_dropout(facts)) return {};
    return Violation{Port::dSink_token, "a dSink beside a dropout probability"};
}

Found sink_version(Facts const& facts, Capabilities const& here) {
    if (!facts.has(Port::Sink_token) || here.cudnn_version >= 91300) return {};
    return Violation{Port::Sink_token, "a sink token with " + version(here.cudnn_version)};
}

Found stats_beside_max(Facts const& facts, Capabilities const& here) {
    if (facts.is_backward || !has_softmax_result(facts) || here.cudnn_version >= 92000) return {};
    if (!facts.has(Port::Stats)) return {};
    return Violation{Port::Stats, std::string("Stats beside ") + (facts.has(Port::Max) ? "Max" : "Sum_exp") + " with " +
                                      version(here.cudnn_version)};
}

Found stats_in_base_2(Facts const& facts, Capabilities const&) {
    if (!facts.fields.stats_use_log2 || !facts.has(Port::Stats)) return {};
    return Violation{Port::Stats, "Stats in base 2"};
}

Found sink_beside_max(Facts const& facts, Capabilities const& here) {
    bool const has_both = facts.has(Port::Sink_token) && !facts.is_backward && has_softmax_result(facts);
    if (!has_both) return {};
    return Violation{Port::Sink_token, std::string("a sink token beside ") +
                                           (facts.has(Port::Max) ? "Max" : "Sum_exp") + " with " +
                                           version(here.cudnn_version)};
}

Found bias_gradient_scale(Facts const& facts, Capabilities const&) {
    nodes::TensorSpec const* const scale = facts.tensor(Port::Attn_scale);
    if (!facts.has(Port::dBias) || scale == nullptr || scale->is_by_value || scale->value) return {};
    return Violation{Port::Attn_scale, "an attention scale in device memory beside a dBias"};
}

Found masked_rows_before_9_15(Facts const& facts, Capabilities const& here) {
    auto const& fields = facts.fields;
    bool const may_mask_rows = fields.padding_mask && fields.left_bound && !fields.right_bound &&
                               fields.diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
    if (!facts.is_backward || here.cudnn_version >= 91500 || !may_mask_rows) return {};
    return Violation{-1, "a left bound at the bottom right of padded sequences, with " + version(here.cudnn_version)};
}

Found dynamic_shapes(Facts const& facts, Capabilities const& here) {
    if (!facts.settings.dynamic_shapes) return {};
    std::string const found = "dynamic shapes ";
    if (facts.is_backward) return Violation{-1, found + "in backward"};
    if (nodes::is_told_as_unified(facts.graph, facts.node)) return Violation{-1, found + "of the unified operation"};
    if (here.cudnn_version >= 91800 && here.cudnn_version < 92100) return {};
    return Violation{-1, found + "with " + version(here.cudnn_version)};
}

Found moves(Facts const& facts, Capabilities const&) {
    return Violation{-1, std::string("a ") + nodes::schema_of(facts.node.kind()).tag + " node"};
}

constexpr Limit kLimits[] = {
    {"cudnn.s01", "a GPU of compute capability 8.0 or newer", "run on the CPU with Target::cpu()",
     error_code_t::INVALID_CUDA_DEVICE, Ground::NoEngine, architecture},
    {"cudnn.s02", "another release than 9.10.0 and 9.10.1, whose attention is wrong in cases", "install a newer cuDNN",
     kUnsupported, Ground::WrongRun, known_bad_release},
    {"cudnn.s03", "HALF or BFLOAT16 for Q, K and V; forward also takes FLOAT",
     "convert the tensors, or use Target::cpu()", kUnsupported, Ground::NoEngine, io_type, Of::Wider},
    {"cudnn.s04", "head dims that are multiples of 8",
     "round the head dim up, with zeros in the added columns of Q, K, V and dO, and keep attn_scale as it is",
     kUnsupported, Ground::NoEngine, head_dim_multiple},
    {"cudnn.s05",
     "backward: head dims up to 256 on compute capability 9.0, up to 128 elsewhere, or 192 and 128 on 10.x",
     "use smaller heads, or Target::cpu()", kUnsupported, Ground::NoEngine, backward_head_dim, Of::Wider},
    {"cudnn.s06", "strides that are multiples of 16 bytes, but the innermost", "copy the tensor, or pad its rows",
     kUnsupported, Ground::WrongRun, stride_multiple},
    {"cudnn.s07", "with 9.14.0, which computes it wrong, at most 1024 keys under a left bound without causality",
     "install 9.14.1 or newer", kUnsupported, Ground::WrongRun, window_in_9_14_0},
    {"cudnn.s08", "backward with 9.11 and 9.12, which compute others wrong: head dims of 192 and 128 in this range",
     "install 9.13 or newer", kUnsupported, Ground::WrongRun, unequal_head_dims},
    {"cudnn.s09", "cuDNN 9.13.1 or newer for the unified operation",
     "set_implementation(AttentionImplementation_t::COMPOSITE)", kUnsupported, Ground::NoEngine, unified_version},
    {"cudnn.s10", "cuDNN 9.15 or newer for sequence lengths with the unified operation",
     "set_implementation(AttentionImplementation_t::COMPOSITE)", kUnsupported, Ground::NoEngine, unified_lengths},
    {"cudnn.s11", "none but scale, lengths and stats with the unified operation",
     "set_implementation(AttentionImplementation_t::AUTO)", kUnsupported, Ground::NoPlace, unified_options},
    {"cudnn.s12", "all rows and columns in dBias: with fewer cuDNN writes past the tensor",
     "ask for the full dBias and add its rows up", kUnsupported, Ground::WrongRun, bias_gradient_dims},
    {"cudnn.s13", "a dBias of Q's data type: for others cuDNN has no engine, or computes it wrong",
     "give bias and dBias Q's data type", kUnsupported, Ground::WrongRun, bias_gradient_type, Of::Wider},
    {"cudnn.s14",
     "forward of one query: all columns in a dropout mask that differs between batch entries and heads; cuDNN reads "
     "others",
     "repeat the mask's column", kUnsupported, Ground::WrongRun, mask_of_one_query},
    {"cudnn.s16",
     "forward of one query: all columns in a bias, or in what a modifier reads, that differs between batch entries and "
     "heads; cuDNN reads others",
     "repeat the column", kUnsupported, Ground::WrongRun, bias_of_one_query},
    {"cudnn.s17", "the attention scale as a number or by value where dBias is asked for",
     "set_attn_scale(float), or set_is_pass_by_value(true)", kUnsupported, Ground::NoEngine, bias_gradient_scale},
    {"cudnn.s18",
     "cuDNN 9.19 or newer for backward of one query and one key: before, the single score's gradients are wrong",
     "install 9.19 or newer; or take dO times the kept probability for dV, and 0 for dQ and dK", kUnsupported,
     Ground::WrongRun, single_score},
    {"cudnn.s19", "backward before 9.15, which gives NaN for rows without keys: a right bound, or the top left corner",
     "install 9.15 or newer", kUnsupported, Ground::WrongRun, masked_rows_before_9_15},
    {"cudnn.s20", "backward on compute capability 8.x and 12.x: all columns in a bias, or numbers for heads alone",
     "repeat the bias's column", kUnsupported, Ground::NoEngine, bias_columns_in_backward},
    {"cudnn.s21", "cuDNN 9.18.1 or newer for ragged offsets before compute capability 9.0, and in backward on 12.x",
     "install 9.18.1 or newer, or pad the sequences", kUnsupported, Ground::WrongRun, ragged_architecture},
    {"cudnn.s22", "ragged offsets on all of Q, K, V, O and their gradients, or on none: mixed, cuDNN's kernels crash",
     "give the tensor a ragged offset too; of a dense one it is b times the batch stride", kUnsupported,
     Ground::WrongRun, partly_ragged},
    {"cudnn.s23", "for one query and shared key heads no ragged Stats, Max and Sum_exp: cuDNN leaves some unwritten",
     "leave these out, or give Q two rows", kUnsupported, Ground::WrongRun, ragged_stats_of_one_query},
    {"cudnn.s24", "compute capability 9.0 for ragged offsets in backward with dBias or the deterministic algorithm",
     "leave these out, or pad the sequences", kUnsupported, Ground::NoEngine, ragged_product_of_dq},
    {"cudnn.s25", "heads of 128 at most for ragged offsets in backward before 9.19: in 9.14.0 larger ones are wrong",
     "install 9.19 or newer, or pad the sequences", kUnsupported, Ground::WrongRun, ragged_heads_before_9_19},
    {"cudnn.s26", "before 9.19 one ragged offset for Q and dQ, K and dK, V and dV: in 9.14.0 others are wrong",
     "set_ragged_offset() of both to the same tensor", kUnsupported, Ground::WrongRun, gradient_offsets_before_9_19},
    {"cudnn.s27",
     "backward of one key: no dropout mask beside a bias, but on 10.x with cuDNN 9.21.1 or newer; on 8.x and 12.x "
     "neither; numbers for heads alone do not count",
     "use Target::cpu(), or a second key of padding", kUnsupported, Ground::NoEngine, columns_of_one_key},
    {"cudnn.s29", "cuDNN 9.13 or newer for a sink token", "install a newer cuDNN, or use Target::cpu()", kUnsupported,
     Ground::NoEngine, sink_version},
    {"cudnn.s30", "before cuDNN 9.20, which leaves these unwritten beside Stats: either Stats or Max and Sum_exp",
     "leave out set_generate_stats(true), and compute Stats as max + ln(sum_exp)", kUnsupported, Ground::WrongRun,
     stats_beside_max},
    {"cudnn.s31", "either a sink token or Max and Sum_exp",
     "leave the sink out, and scale each row of O by sum_exp / (sum_exp + exp(sink - max))", kUnsupported,
     Ground::NoEngine, sink_beside_max},
    {"cudnn.s32",
     "compute capability 9.0, or 10.x without dBias and determinism, for TANH_BWD and its like in a modifier's "
     "gradient",
     "use Target::cpu(), or write the derivative with other operations", kUnsupported, Ground::NoEngine,
     modifier_gradient},
    {"cudnn.s33",
     "backward on compute capability 8.x and 12.x: modifiers that read no numbers of queries or batches; on 9.0, and "
     "before cuDNN 9.21.1 on 10.x, at most two tensors of such, one beside a bias of one column, none beside a dropout "
     "mask of one; numbers for heads alone do not count",
     "repeat the column of the bias or the mask, write the modifier's mask as a bias, or use Target::cpu()",
     kUnsupported, Ground::NoEngine, modifier_columns},
    {"cudnn.s34", "no dBias beside the gradient of a modifier: cuDNN computes it wrong",
     "add the bias in the modifier, or use Target::cpu()", kUnsupported, Ground::WrongRun, bias_gradient_of_modified},
    {"cudnn.s35", "pages of as many rows in V as in K: cuDNN takes K's number for both", "give both one page size",
     kUnsupported, Ground::WrongRun, page_sizes},
    {"cudnn.s36", "no dSink under the deterministic algorithm: cuDNN adds it up in any order",
     "leave set_dsink_token() or set_deterministic_algorithm() out", kUnsupported, Ground::WrongRun,
     deterministic_sink},
    {"cudnn.s37", "a sink token of FLOAT: cuDNN reads other types as if they were", "convert the sink token",
     kUnsupported, Ground::WrongRun, sink_type},
    {"cudnn.s38", "no dSink beside a dropout probability p: cuDNN gives it times 1 - p",
     "drop by a mask of yours, or leave set_dsink_token() out", kUnsupported, Ground::WrongRun,
     sink_gradient_with_dropout},
    {"cudnn.s39", "no dSink beside ragged tensors: cuDNN adds up rows past the lengths",
     "pad the sequences, or leave set_dsink_token() out", kUnsupported, Ground::WrongRun, ragged_sink_gradient},
    {"cudnn.s40", "in FP8 attention: compute capability 9.0 or 10.x; forward also 12.x with cuDNN 9.19 or newer",
     "use HALF or BFLOAT16 there, or Target::cpu()", kUnsupported, Ground::NoEngine, fp8_architecture, Of::Fp8},
    {"cudnn.s41",
     "in FP8 attention: head dims in multiples of 16, on 9.0 up to 256, on 12.x up to 128; backward 128, on 10.x "
     "up to it",
     "pad the heads with zeros, or use Target::cpu()", kUnsupported, Ground::NoEngine, fp8_head_dims, Of::Fp8},
    {"cudnn.s42", "in FP8 attention: compute capability 10.x for results of HALF or BFLOAT16",
     "set_data_type(DataType_t::FP8_E4M3), and multiply by the descale after", kUnsupported, Ground::NoEngine,
     fp8_results, Of::Fp8},
    {"cudnn.s43", "in FP8 attention on compute capability 9.0: no sink token in forward, no dSink in backward",
     "use HALF or BFLOAT16, or Target::cpu()", kUnsupported, Ground::WrongRun, fp8_sink, Of::Fp8},
    {"cudnn.s44", "in FP8 attention: compute capability 10.x for one query in forward",
     "give Q a second row, or use HALF or BFLOAT16", kUnsupported, Ground::NoEngine, fp8_of_one_query, Of::Fp8},
    {"cudnn.s45", "in FP8 attention on compute capability 12.x: no dropout probability",
     "drop by a mask of yours, or use HALF or BFLOAT16", kUnsupported, Ground::NoEngine, fp8_dropout, Of::Fp8},
    {"cudnn.s46", "in FP8 attention after compute capability 9.0: no TANH_BWD and its like in a modifier's gradient",
     "use HALF or BFLOAT16, or Target::cpu()", kUnsupported, Ground::NoEngine, fp8_modifier_gradient, Of::Fp8},
    {"cudnn.s47",
     "in FP8 attention on compute capability 9.0: no ragged offsets; a sequence without queries ends its forward "
     "kernel, and backward has no engine or writes elsewhere",
     "pad the sequences", kUnsupported, Ground::WrongRun, fp8_ragged, Of::Fp8},
    {"cudnn.s48", "FP8 backward without the deterministic algorithm, of which cuDNN has no form",
     "leave out set_deterministic_algorithm(), or use HALF or BFLOAT16", kUnsupported, Ground::WrongRun,
     fp8_deterministic, Of::Fp8},
    {"cudnn.s49",
     "in FP8 attention on compute capability 9.0: no modifier and no dropout, and no bias or alibi in forward; its "
     "kernels ignore them, or fault",
     "use HALF or BFLOAT16, or Target::cpu()", kUnsupported, Ground::WrongRun, fp8_ignored, Of::Fp8},
    {"cudnn.s50", "in FP8 attention on compute capability 9.0: no Max and Sum_exp, which it gives wrong",
     "leave them out, or use HALF or BFLOAT16", kUnsupported, Ground::WrongRun, fp8_extremes, Of::Fp8},
    {"cudnn.s51", "in FP8 backward on compute capability 9.0: scales and descales in the GPU's memory",
     "make them tensors with pointers in the pack, neither numbers nor by value", kUnsupported, Ground::WrongRun,
     fp8_factors, Of::Fp8},
    {"cudnn.s52", "in FP8 attention on compute capability 9.0: cuDNN 9.19 or newer for pages",
     "install 9.19 or newer, or use HALF or BFLOAT16", kUnsupported, Ground::NoEngine, fp8_pages, Of::Fp8},
    {"cudnn.s55", "compute capability 10.x and cuDNN 9.14 for a block mask, 9.15 where there is a padding mask too",
     "give the same mask as a bias of 0 and minus infinity", kUnsupported, Ground::NoEngine, block_mask_place},
    {"cudnn.s56", "none but scale, lengths and stats beside a block mask",
     "give the same mask as a bias of 0 and minus infinity", kUnsupported, Ground::NoPlace, block_mask_options},
    {"cudnn.s57", "the implementation AUTO or UNIFIED for a block mask",
     "set_implementation(AttentionImplementation_t::AUTO)", kUnsupported, Ground::NoPlace, composite_block_mask},
    {"cudnn.s58", "more than one query beside a block mask", "give the same mask as a bias of 0 and minus infinity",
     kUnsupported, Ground::NoEngine, block_mask_of_one_query},
    {"cudnn.s59", "compute capability 10.x and cuDNN 9.21.1 or newer for block scales (MXFP8)",
     "use one scale for each tensor, or Target::cpu()", kUnsupported, Ground::NoEngine, block_scale_place,
     Of::BlockScaled},
    {"cudnn.s60", "forward alone for block scales: engines are named for backward, and no plan of it compiled",
     "use one scale for each tensor, or Target::cpu()", kUnsupported, Ground::NoEngine, block_scale_backward,
     Of::BlockScaled},
    {"cudnn.s61", "heads of 128 at most for block scales: for larger ones engines are named, and no plan compiled",
     "use one scale for each tensor, or Target::cpu()", kUnsupported, Ground::NoEngine, block_scale_head_dims,
     Of::BlockScaled},
    {"cudnn.s62", "more than one query beside block scales: asked about one, cuDNN ends the process",
     "give Q a second row, or use Target::cpu()", kUnsupported, Ground::FatalQuestion, block_scale_of_one_query,
     Of::BlockScaled},
    {"cudnn.s63",
     "in FP8 backward on compute capability 9.0: queries in multiples of 16; of others cuDNN loses parts of dQ's rows",
     "pad Q, O and dO to such a number of rows, and say the lengths, or use HALF or BFLOAT16", kUnsupported,
     Ground::WrongRun, fp8_rows, Of::Fp8},
    {"cudnn.s64",
     "in FP8 backward: K and V both with as many heads as Q, or both with fewer; else cuDNN leaves out dV, or compiles "
     "no plan",
     "repeat the heads of the one, or use HALF or BFLOAT16", kUnsupported, Ground::WrongRun, fp8_heads, Of::Fp8},
    {"cudnn.s65",
     "in FP8 forward on compute capability 9.0: the top left corner where a left bound stands beside lengths; from the "
     "bottom right one cuDNN takes other keys",
     "leave out set_diagonal_band_left_bound(), or use HALF or BFLOAT16", kUnsupported, Ground::WrongRun, fp8_band,
     Of::Fp8},
    {"cudnn.s66", "backward on compute capability 12.x: packed Q and dO in rows without anything between them",
     "copy the tensor to a buffer of its own, or pad the sequences", kUnsupported, Ground::NoEngine,
     ragged_gaps_between_rows},
    {"cudnn.s67", "in FP8 backward on compute capability 9.0: O of an FP8 type; of others cuDNN leaves out descale_o",
     "store O as FP8_E4M3 or FP8_E5M2, or use Target::cpu()", kUnsupported, Ground::WrongRun, fp8_wide_o, Of::Fp8},
    {"cudnn.s68",
     "one mask of the left edge, by a left bound or by column > row in a modifier: of two cuDNN applies one",
     "leave the wider of the two out", kUnsupported, Ground::WrongRun, several_left_edges},
    {"cudnn.s69",
     "cuDNN 9.25 or newer, forward, and the implementation AUTO or UNIFIED for sums of lengths; FP8 attention has none",
     "call set_seq_len_q() and set_seq_len_kv() with the lengths, or use Target::cpu()", kUnsupported, Ground::NoPlace,
     sums_of_lengths},
    {"cudnn.s70",
     "cuDNN 9.24 or newer, forward, and the implementation AUTO or UNIFIED for an offset's multiplier; FP8 attention "
     "has none",
     "count elements in the offset, or use Target::cpu()", kUnsupported, Ground::NoEngine, offset_multiplier},
    {"cudnn.s71",
     "compute capability 10.x, cuDNN 9.22 or newer, forward, and the implementation AUTO or UNIFIED for "
     "set_unfuse_fma(); FP8 attention does not have it",
     "leave out set_unfuse_fma()", kUnsupported, Ground::NoPlace, unfused_multiplication},
    {"cudnn.s72",
     "none but scale, lengths and stats beside sums of lengths, an offset's multiplier or set_unfuse_fma()",
     "tell lengths and offsets in the other form, leave out set_unfuse_fma(), or use Target::cpu()", kUnsupported,
     Ground::NoPlace, options_beside_unified},
    {"cudnn.s73",
     "backward: a dropout mask of one column on compute capability 9.0 or 10.x alone; beside a bias's column on 10.x "
     "and with cuDNN 9.21.1 or newer; beside dBias on 9.0; numbers for heads alone do not count",
     "repeat the mask's column", kUnsupported, Ground::NoEngine, mask_column_in_backward},
    {"cudnn.s74",
     "O of HALF or BFLOAT16 beside such Q, of FLOAT beside FLOAT; with the unified operation Q's type, and in backward "
     "for dO and the gradients too: cuDNN takes others for these",
     "set_data_type() on it with Q's type, and convert before or after the run; for the other half type in forward "
     "also set_implementation(AttentionImplementation_t::COMPOSITE)",
     kUnsupported, Ground::WrongRun, result_types, Of::Wider},
    {"cudnn.s75", "no block scales on compute capability 12.x: asked about them, cuDNN 9.28 ends the process",
     "use one scale for each tensor, or Target::cpu()", kUnsupported, Ground::FatalQuestion, block_scale_fatal_place,
     Of::BlockScaled},
    {"cudnn.s76", "no dropout beside Q of FLOAT: a drawn one has no engine, a mask gives NaN",
     "convert the tensors to HALF or BFLOAT16, or use Target::cpu()", kUnsupported, Ground::WrongRun, dropout_of_floats,
     Of::Wider},
    {"cudnn.s77",
     "beside Q of FLOAT: V with head dims up to 128, beyond which O is wrong; on compute capability 8.6, 8.9 "
     "and 12.x Q too",
     "convert the tensors to HALF or BFLOAT16, use smaller heads, or Target::cpu()", kUnsupported, Ground::WrongRun,
     head_dims_of_floats, Of::Wider},
    {"cudnn.s78", "one query of FLOAT: as many heads in K as in Q, since O is NaN for others",
     "convert the tensors to HALF or BFLOAT16, give Q a second row, or use Target::cpu()", kUnsupported,
     Ground::WrongRun, one_query_of_floats, Of::Wider},
    {"cudnn.s79", "cuDNN 9.19 or newer for a sink token beside Q of FLOAT",
     "install 9.19 or newer, convert the tensors to HALF or BFLOAT16, or use Target::cpu()", kUnsupported,
     Ground::NoEngine, sink_of_floats, Of::Wider},
    {"cudnn.s80",
     "backward of ragged tensors: head dims of Q and K up to 192, or of V above 128; else cuDNN leaves out columns "
     "of dQ and dK",
     "pad V, O, dO and dV with columns of zeros to a head dim of 136, or pad the sequences", kUnsupported,
     Ground::WrongRun, ragged_unequal_heads},
    {"cudnn.s81",
     "as many heads in V as in K for backward of ragged tensors except on compute capability 9.0, 10.x and 11.x",
     "repeat the heads of the one that has fewer, and add up their gradients", kUnsupported, Ground::NoEngine,
     ragged_heads_of_v},
    {"cudnn.s82", "one attention node in a graph",
     "describe each in a graph of its own, with what one writes as what the next reads, or use Target::cpu()",
     kUnsupported, Ground::NoEngine, several_attention_nodes},
    {"cudnn.s83", "no unified operation beside Q of FLOAT: its runs end in illegal memory accesses",
     "set_implementation(AttentionImplementation_t::COMPOSITE), or leave out what the unified operation alone has",
     kUnsupported, Ground::WrongRun, unified_floats, Of::Wider},
    {"cudnn.s84", "dynamic shapes in forward alone, without the unified operation, and with cuDNN 9.18 to 9.20",
     "leave out set_dynamic_shape_enabled() and set_kernel_cache(); for sizes that change call "
     "set_override_shape_enabled(true), which plans each once",
     kUnsupported, Ground::NoEngine, dynamic_shapes},
    {"cudnn.s85", "rng_dump and dBias packed in the order of their dims",
     "set_stride() to {H*Sq*Skv, Sq*Skv, Skv, 1}, of the dims that it has, and copy after the run", kUnsupported,
     Ground::NoEngine, gaps_between_scores},
    {"cudnn.s86",
     "a last stride of 1 in a bias and a dropout mask: cuDNN 9.28 takes no other in a bias, and releases before it do "
     "not look",
     "copy the tensor to rows without gaps between columns", kUnsupported, Ground::WrongRun, columns_apart},
    {"cudnn.s87",
     "lengths, ragged offsets, a sink token, its gradient, and numbers for heads alone one after the other: cuDNN "
     "does not look at the strides of these",
     "copy the tensor to one without gaps", kUnsupported, Ground::WrongRun, numbers_apart},
    {"cudnn.s89",
     "with cuDNN 9.15 or newer for forward of one query beside pages and shared key heads: no sink token, and no "
     "numbers for heads alone in a bias, a dropout mask or a modifier; cuDNN takes those of other heads",
     "give Q a second row, of padding; of a bias or a mask repeat the numbers for each key", kUnsupported,
     Ground::WrongRun, heads_of_one_query_in_pages},
    {"cudnn.s91",
     "operands of integers for a modifier's operations that compute in integers; floating-point ones cuDNN reads in "
     "another way",
     "set_compute_data_type(DataType_t::FLOAT) for the operation", kUnsupported, Ground::WrongRun, integers_of_floats},
    {"cudnn.s92",
     "Stats as natural logarithms: no engine of forward writes them in base 2, and asked for backward of such Stats "
     "with a causal mask cuDNN crashes",
     "leave out set_stats_use_log2(true), and multiply Stats by 1 / ln 2 after forward or by ln 2 before backward",
     kUnsupported, Ground::FatalQuestion, stats_in_base_2},
    {"cudnn.s93",
     "no slice, reshape and transpose nodes: no engine of cuDNN 9.19 or 9.28 takes one, and asked about one before "
     "attention's K cuDNN crashes",
     "say the same with the dims, strides and address of a tensor in memory, or use Target::cpu()", kUnsupported,
     Ground::FatalQuestion, moves, Of::Moves},
};

}  // namespace

std::span<Limit const> limits() { return kLimits; }

}  // namespace cudnn_frontend::quirks
