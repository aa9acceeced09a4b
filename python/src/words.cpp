#include "words.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace binding {
namespace {

using Word = std::pair<std::string_view, std::string_view>;

// Setters of tensors, of graphs and of the process that Python has too.
constexpr std::string_view kMethods[] = {
    "set_alignment",
    "set_batch_invariant",
    "set_data_type",
    "set_dim",
    "set_group",
    "set_is_pass_by_value",
    "set_is_virtual",
    "set_name",
    "set_output",
    "set_plan_store",
    "set_ragged_offset",
    "set_ragged_offset_multiplier",
    "set_reordering_type",
    "set_rewrites",
    "set_shape_policy",
    "set_stream",
    "set_stride",
    "set_uid",
    "set_vector_count_and_dimension",
    "set_workspace_limit",
};

// The arguments whose names are not those of their setters without "set_".
constexpr Word kArguments[] = {
    {"set_alibi_mask", "use_alibi_mask"},
    {"set_causal_mask", "use_causal_mask"},
    {"set_causal_mask_bottom_right", "use_causal_mask_bottom_right"},
    {"set_dbias", "dBias"},
    {"set_deterministic_algorithm", "use_deterministic_algorithm"},
    {"set_device_properties", "device_property"},
    {"set_drel_pos_bias", "dRel_pos_bias"},
    {"set_dsink_token", "dSink_token"},
    {"set_dynamic_shape_enabled", "is_dynamic_shape_enabled"},
    {"set_override_shape_enabled", "is_override_shape_enabled"},
    {"set_padding_mask", "use_padding_mask"},
    {"set_strides", "the steps of slices"},
};

// Scopes and phrases that have another form in Python.
constexpr Word kPhrases[] = {
    {"{HeurMode_t::A, HeurMode_t::FALLBACK}", "[heur_mode.A, heur_mode.FALLBACK]"},
    {" or offline()", " or 'offline:h200'"},
    {", or clear_uid() to have one assigned", ", or leave it out to have one assigned"},
    {" on the graph or on the attributes", " to the graph or to the node"},
    {" on the attributes of the forward attention", " to the forward attention"},
    {" on the attributes or on the result", " on the result"},
    {"DeviceProperties::from_json()", "create_device_properties()"},
    {"DeviceProperties::named()", "create_device_properties()"},
    {"Graph::check()", "check()"},
    {"search_milliseconds", "search_seconds"},
    {" or _v_table()", " or paged_attention_v_table"},
    {"AttentionImplementation_t::", "attention_implementation."},
    {"BehaviorNote_t::", "behavior_note."},
    {"BuildPlanPolicy_t::", "build_plan_policy."},
    {"DataType_t::", "data_type."},
    {"Group_limits::", ""},
    {"Group_way::", "group_way."},
    {"Group::", "Group."},
    {"Layout::", "Layout."},
    {"DiagonalAlignment_t::", "diagonal_alignment."},
    {"HeurMode_t::", "heur_mode."},
    {"KnobType_t::", "knob_type."},
    {"KnobType_t", "knob_type"},
    {"NumericalNote_t::", "numerical_note."},
    {"PointwiseMode_t::", "pointwise_mode."},
    {"ReductionMode_t::", "reduction_mode."},
    {"ReshapeMode_t::", "reshape_mode."},
    {"RewritePolicy_t::", "rewrite_policy."},
    {"ShapePolicy_t::", "shape_policy."},
    {"Rewrite_t::", "rewrite."},
    {"TensorReordering_t::", "tensor_reordering."},
    {"runtime::", ""},
};

bool is_of_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

// The phrase with which the text begins; empty if it begins with none.
Word phrase_of(std::string_view text) {
    for (Word const& phrase : kPhrases)
        if (text.starts_with(phrase.first)) return phrase;
    return {};
}

std::string argument_of(std::string_view setter) {
    for (auto const& [name, argument] : kArguments)
        if (name == setter) return std::string(argument);
    return std::string(setter.substr(4));
}

// The arguments of a setter as Python writes them.
std::string values_in_python(std::string_view values) {
    if (values == "true") return "True";
    if (values == "false") return "False";
    if (values == "float") return "number";
    std::string text = in_python(values);
    std::ranges::replace(text, '{', '[');
    std::ranges::replace(text, '}', ']');
    return text;
}

// A target in Python's form, and the length of its form in C++; empty if the text begins with no target.
std::pair<std::string, std::size_t> target_in_python(std::string_view text) {
    constexpr std::string_view kScope = "Target::";
    std::size_t const open = text.find('('), close = text.find(')');
    bool const is_call = text.starts_with(kScope) && open < close && close != std::string_view::npos;
    if (!is_call) return {};
    std::string kind(text.substr(kScope.size(), open - kScope.size()));
    std::string_view detail = text.substr(open + 1, close - open - 1);
    if (detail.starts_with('"') && detail.ends_with('"') && detail.size() > 1)
        detail = detail.substr(1, detail.size() - 2);
    if (!detail.empty() && kind != "cuda") kind += ":" + std::string(detail);
    return {"target='" + kind + "'", close + 1};
}

// A setter with its arguments in parentheses.
struct Call {
    std::string_view name, values;
    std::size_t size = 0;  // 0 if the text begins with no setter
    bool has_parentheses = false;
};

Call call_of(std::string_view text) {
    constexpr std::string_view kPrefix = "set_";
    if (!text.starts_with(kPrefix) || text.size() == kPrefix.size() || !is_of_word(text[kPrefix.size()])) return {};
    std::size_t const name = static_cast<std::size_t>(std::ranges::find_if_not(text, is_of_word) - text.begin());
    Call call{text.substr(0, name), {}, name, false};
    std::size_t const end = name < text.size() && text[name] == '(' ? text.find(')', name) : std::string_view::npos;
    if (end == std::string_view::npos) return call;
    return {call.name, text.substr(name + 1, end - name - 1), end + 1, true};
}

bool is_method(Call const& call) { return std::ranges::find(kMethods, call.name) != std::end(kMethods); }

std::string call_in_python(Call const& call) {
    if (is_method(call)) {
        return std::string(call.name) + (call.has_parentheses ? "(" + values_in_python(call.values) + ")" : "");
    }
    std::string const argument = argument_of(call.name);
    if (call.values.empty()) return argument;
    bool const is_tuple = call.values.find(',') != std::string_view::npos && !call.values.starts_with('{');
    std::string const values = values_in_python(call.values);
    return argument + "=" + (is_tuple ? "(" + values + ")" : values);
}

}  // namespace

std::string in_python(std::string_view text) {
    constexpr std::string_view kVerb = "call ";
    std::string result;
    while (!text.empty()) {
        bool const is_start = result.empty() || !is_of_word(result.back());
        Word const phrase = is_start || text.front() == ' ' || text.front() == ',' ? phrase_of(text) : Word();
        auto const [target, target_size] = is_start ? target_in_python(text) : std::pair<std::string, std::size_t>();
        bool const has_verb = is_start && text.starts_with(kVerb);
        Call const call = is_start ? call_of(has_verb ? text.substr(kVerb.size()) : text) : Call();
        if (!phrase.first.empty()) {
            result += phrase.second;
            text.remove_prefix(phrase.first.size());
        } else if (target_size > 0) {
            result += target;
            text.remove_prefix(target_size);
        } else if (call.size > 0) {
            if (has_verb) result += is_method(call) ? kVerb : "pass ";
            result += call_in_python(call);
            text.remove_prefix(call.size + (has_verb ? kVerb.size() : 0));
        } else {
            result += text.front();
            text.remove_prefix(1);
        }
    }
    return result;
}

}  // namespace binding
