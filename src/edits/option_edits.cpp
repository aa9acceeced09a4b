// Edits that replace options of a graph or drop one.
#include "core/text.h"
#include "edits/editor.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cudnn_frontend::edits {
namespace {

using nodes::GraphSpec;
using Names = std::initializer_list<std::string_view>;

void implementations(Editor& editor) {
    using enum AttentionImplementation_t;
    for (AttentionImplementation_t const choice : {AUTO, COMPOSITE, UNIFIED}) {
        GraphSpec changed = editor.graph();
        for (nodes::Node& node : changed.nodes) {
            if (auto* const forward = std::get_if<nodes::SdpaForwardFields>(&node.fields))
                forward->implementation = choice;
        }
        editor.add(cost::kSetting, core::text("call set_implementation(", choice, ")"), std::move(changed),
                   "implementation");
    }
}

// Bounds of the band that are off by one, or in the sign.
void bounds(Editor& editor) {
    GraphSpec left = editor.graph(), right = editor.graph();
    for (nodes::Node& node : left.nodes) {
        auto* const fields = attention_fields(node);
        if (fields != nullptr && fields->left_bound && *fields->left_bound < 1) fields->left_bound = 1;
    }
    editor.add(cost::kSetting, "set the left bound to 1: it counts the diagonal", std::move(left));
    for (nodes::Node& node : right.nodes) {
        auto* const fields = attention_fields(node);
        if (fields != nullptr && fields->right_bound && *fields->right_bound < 0) fields->right_bound.reset();
    }
    editor.add(cost::kSetting, "leave the right bound out: no columns beyond it are masked then", std::move(right));
}

// The graph without these fields and ports, whatever node has them.
void without(Editor& editor, std::string const& text, int cost, Names fields, Names ports) {
    auto const is_in = [](Names names, char const* name) { return std::ranges::find(names, name) != names.end(); };
    GraphSpec changed = editor.graph();
    for (nodes::Node& node : changed.nodes) {
        nodes::NodeSchema const& schema = nodes::schema_of(node.kind());
        nodes::Node const defaults = nodes::make_node(node.kind());
        for (nodes::Field const& field : schema.fields) {
            if (is_in(fields, field.name))
                field.set(nodes::fields_object(node), field.get(nodes::fields_object(defaults)));
        }
        for (nodes::PortRow const& row : schema.ports) {
            if (is_in(ports, row.name)) node.ports[static_cast<std::size_t>(row.port)] = nodes::kNoTensor;
        }
    }
    editor.add(cost, text, std::move(changed));
}

void without_results(Editor& editor) {
    without(editor, "do without the maximum and the sum of each row", cost::kPrecision, {}, {"Max", "Sum_exp"});
    bool const has_sums = editor.has(Port::Max) && editor.has(Port::SumExp);
    without(editor, has_sums ? "do without Stats, which are Max + ln(Sum_exp)" : "do without Stats",
            has_sums ? cost::kPrecision : cost::kOtherResult, {"generate_stats"}, {"Stats"});
    without(editor, "do without the gradient of the bias", cost::kOtherResult, {}, {"dBias"});
    without(editor, "do without the gradient of the sink", cost::kOtherResult, {}, {"dSink_token"});
    without(editor, "do without the dropout mask as a result", cost::kPrecision, {}, {"rng_dump"});
}

void without_settings(Editor& editor) {
    without(editor, "do without the deterministic algorithm", cost::kPrecision, {"deterministic"}, {});
    without(editor, "do without set_unfuse_fma(true)", cost::kPrecision, {"unfuse_fma"}, {});
    without(editor, "read Stats as natural logarithms", cost::kPrecision, {"stats_use_log2"}, {});
    without(editor, "do without the bounds of all tokens, set_max_total_seq_len_*", cost::kSetting,
            {"max_total_seq_len_q", "max_total_seq_len_kv"}, {});
}

void without_masks(Editor& editor) {
    without(editor, "align the mask at the top left", cost::kOtherResult, {"diagonal_alignment"}, {});
    without(editor, "drop the left bound of the window", cost::kOtherResult, {"left_bound"}, {});
    without(editor, "drop the right bound: no causal mask", cost::kOtherResult + 1, {"right_bound"}, {});
    without(editor, "drop the padding mask and its lengths", cost::kOtherResult + 1, {"padding_mask"},
            {"seq_len_q", "seq_len_kv", "cu_seq_len_q", "cu_seq_len_kv"});
    without(editor, "drop the block mask", cost::kOtherResult, {}, {"block_mask"});
    without(editor, "drop the dilation", cost::kOtherResult, {"dilation"}, {});
    without(editor, "make no axis causal", cost::kOtherResult, {"is_causal"}, {});
}

void without_terms(Editor& editor) {
    without(editor, "drop the bias", cost::kOtherResult, {}, {"bias", "dBias"});
    without(editor, "drop the ALiBi mask", cost::kOtherResult, {"alibi_mask"}, {});
    without(editor, "drop dropout", cost::kOtherResult, {"dropout_probability"},
            {"seed", "offset", "dropout_mask", "dropout_scale", "dropout_scale_inv", "rng_dump"});
    without(editor, "drop the sink", cost::kOtherResult, {}, {"sink_token", "dSink_token"});
    without(editor, "drop the relative position bias", cost::kOtherResult, {}, {"Rel_pos_bias", "dRel_pos_bias"});
}

}  // namespace

void add_option_edits(Editor& editor) {
    implementations(editor);
    bounds(editor);
    without_results(editor);
    without_settings(editor);
    without_masks(editor);
    without_terms(editor);
}

}  // namespace cudnn_frontend::edits
