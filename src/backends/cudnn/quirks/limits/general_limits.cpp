#include "cudnn/quirks/quirk_rows.h"

#include "core/data_type.h"
#include "core/text.h"
#include "nodes/attention/attention_node.h"
#include "nodes/schema/wording.h"

#include <algorithm>

namespace cudnn_frontend::quirks {
namespace {

Found any_attention(Facts const&) { return Violation{-1, "attention"}; }

// The patterns of operations that engines know have one attention.
Found several_attention_nodes(Facts const& facts) {
    auto const first = std::ranges::find_if(
        facts.graph.nodes, [](nodes::Node const& node) { return nodes::attention_fields(node) != nullptr; });
    if (&*first == &facts.node) return {};
    return Violation{-1, "an attention node next to '" + nodes::label(*first) + "'"};
}

// A scale that comes by value with each run, or is in memory, is not visible here; the guide says so.
Found scale_not_above_0(Facts const& facts) {
    std::optional<float> const number = facts.fields.attn_scale;
    if (number && !(*number > 0.0f)) return Violation{-1, core::text("the attention scale ", *number)};
    nodes::TensorSpec const* const tensor = facts.tensor(Port::AttnScale);
    if (tensor == nullptr || !tensor->value) return {};
    double const value = core::to_double(*tensor->value);
    if (value > 0.0) return {};
    return Violation{Port::AttnScale, core::text("the attention scale ", value)};
}

Found dynamic_shapes(Facts const& facts) {
    if (!facts.settings.dynamic_shapes) return {};
    return Violation{-1, "dynamic shapes"};
}

Found dynamic_shapes_of_others(Facts const& facts) {
    bool const is_unified = nodes::is_told_as_unified(facts.graph, facts.node);
    if (!facts.settings.dynamic_shapes || !(facts.is_backward || is_unified)) return {};
    return Violation{-1,
                     std::string("dynamic shapes ") + (facts.is_backward ? "in backward" : "of the unified operation")};
}

constexpr char const* kInsteadOfDynamicShapes =
    "leave out set_dynamic_shape_enabled() and set_kernel_cache(); for sizes that change call "
    "set_override_shape_enabled(true), which plans each once";

constexpr Quirk kRows[] = {
    {.id = "cudnn.s01",
     .on = kOlder,
     .evidence = Evidence::ToldByNvidia,
     .summary = "a GPU of compute capability 8.0 or newer",
     .fix = "run on the CPU with Target::cpu()",
     .check = any_attention,
     .code = error_code_t::INVALID_CUDA_DEVICE},
    {.id = "cudnn.s02",
     .cudnn = {91000, 91002},
     .evidence = Evidence::ToldByNvidia,
     .summary = "another release, since the attention of this one is wrong in cases",
     .fix = "install a newer cuDNN",
     .check = any_attention},
    {.id = "cudnn.s82",
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "one attention node in a graph",
     .fix = "describe each in a graph of its own, with what one writes as what the next reads, or use Target::cpu()",
     .seen = "asked of 9.14.0, 9.19.0 and 9.28.0 for five devices",
     .check = several_attention_nodes},
    {.id = "cudnn.s94",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "a scale above 0: engines multiply by it what they have masked, which becomes NaN",
     .fix = "negate Q, and in backward dQ, for a scale below 0 and pass it without its sign, or use Target::cpu()",
     .seen =
         "-0.17: O, dQ and dK were NaN or infinite in 8 of 8 shapes of many queries. 0: NaN with a causal mask or a "
         "partial last tile of keys. One query was right with both; it was tried with one engine alone",
     .check = scale_not_above_0},
    {.id = "cudnn.s84",
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "dynamic shapes in forward alone, and without the unified operation",
     .fix = kInsteadOfDynamicShapes,
     .seen = "104 cases of 9.19.0 had no engine on an H200",
     .check = dynamic_shapes_of_others},
    {.id = "cudnn.s84",
     .cudnn = {0, 91800},
     .evidence = Evidence::NoEngine,
     .verified = {91400, kH200},
     .summary = "cuDNN 9.18 to 9.20 for dynamic shapes",
     .fix = kInsteadOfDynamicShapes,
     .seen = "9.14.0: no engine. With 9.19.0 forward of every GPU case with dynamic shapes was right",
     .check = dynamic_shapes},
    {.id = "cudnn.s84",
     .cudnn = {92100, 0},
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "cuDNN 9.18 to 9.20 for dynamic shapes",
     .fix = kInsteadOfDynamicShapes,
     .seen = "asked of releases up to 9.28.0: no engine is left",
     .check = dynamic_shapes},
};

}  // namespace

std::span<Quirk const> general_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
