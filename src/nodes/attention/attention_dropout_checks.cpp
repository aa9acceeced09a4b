// Dropout of attention: generated from seed and offset, or given as a mask.
#include "nodes/attention/attention_check_tools.h"
#include "nodes/attention/attention_checks.h"
#include "nodes/schema/uses.h"

namespace cudnn_frontend::nodes::attention_checks {
namespace {

using namespace attention;

// Outputs that a call of its own requests. Stats are requested by a switch; see advice.
constexpr bool is_requested(Operand const& row) {
    bool const may_be_made = row.forward == Use::MayMake || row.backward == Use::MayMake;
    return may_be_made && row.part == Part::Any && !row.is_inner && row.port != Stats;
}

// Whether probabilities are dropped at random. A probability of 0 needs nothing besides.
bool is_generated(RuleScope const& scope) { return fields(scope).dropout_probability.value_or(0.0f) > 0.0f; }

}  // namespace

void probability_in_range(RuleScope const& scope) {
    std::optional<float> const probability = fields(scope).dropout_probability;
    if (!probability || (*probability >= 0.0f && *probability < 1.0f)) return;
    scope.report_node(text("the dropout probability ", *probability), "a probability of at least 0 and less than 1",
                      "call set_dropout() with the chance that a value is dropped, such as 0.1");
}

void dropout_is_one_kind(RuleScope const& scope) {
    if (!fields(scope).dropout_probability || scope.tensor(DropoutMask) == nullptr) return;
    scope.report_port(DropoutMask,
                      text("a dropout mask and the probability ", fields(scope).dropout_probability->value),
                      "dropout by a mask or by a probability, not both", "leave out one set_dropout()");
}

void generator_is_complete(RuleScope const& scope) {
    for (int const port : {Seed, Offset}) {
        bool const is_connected = scope.tensor(port) != nullptr;
        if (is_generated(scope) && !is_connected) {
            scope.report_port(
                port, text("dropout with probability ", fields(scope).dropout_probability->value, " and no ", kPort),
                "a seed and an offset for the generator",
                "call set_dropout(probability, seed, offset) with both tensors");
        }
        if (!fields(scope).dropout_probability && is_connected) {
            scope.report_port(port, text(kPort, " without a dropout probability"),
                              "the probability that the generator is for",
                              "call set_dropout(probability, seed, offset), or leave it out");
        }
    }
}

void generator_state_is_integer(RuleScope const& scope) {
    if (!is_generated(scope)) return;
    for (int const port : {Seed, Offset}) {
        expect_one_element(scope, port);
        TensorSpec const* const tensor = scope.tensor(port);
        if (tensor == nullptr || !has_type(*tensor)) continue;
        if (tensor->data_type == DataType_t::INT32 || tensor->data_type == DataType_t::INT64) continue;
        scope.report_port(port, text(kPort, " of type ", tensor->data_type), "type INT64 or INT32",
                          "call set_data_type(DataType_t::INT64)");
    }
}

void mask_is_complete(RuleScope const& scope) {
    bool const is_backward = scope.node().kind() == NodeKind::SdpaBackward;
    bool const has_mask = scope.tensor(DropoutMask) != nullptr;
    for (int const port : {DropoutMask, DropoutScale, DropoutScaleInv}) {
        if (port == DropoutScaleInv && !is_backward) continue;
        bool const is_connected = scope.tensor(port) != nullptr;
        bool const is_wanted =
            has_mask || scope.tensor(DropoutScale) != nullptr || scope.tensor(DropoutScaleInv) != nullptr;
        if (is_connected || !is_wanted) continue;
        scope.report_port(port, text("dropout by a mask without ", kPort),
                          is_backward ? "the mask, its scale and the inverse of the scale" : "the mask and its scale",
                          is_backward ? "call set_dropout(mask, scale, scale_inverse) with all tensors"
                                      : "call set_dropout(mask, scale) with both tensors");
    }
}

void dump_has_generator(RuleScope const& scope) {
    if (scope.tensor(RngDump) == nullptr || is_generated(scope)) return;
    scope.report_port(RngDump, "rng_dump without dropout by a probability above 0", "a generator whose mask is dumped",
                      "call set_dropout(probability, seed, offset), or leave out set_rng_dump()");
}

void requested_results_are_used(RuleScope const& scope) {
    for (int const port : kPortsWhere<is_requested>) {
        TensorId const id = scope.node().ports[static_cast<std::size_t>(port)];
        if (id == kNoTensor || !scope.tensor(port)->is_virtual) continue;
        if (!scope.uses()[static_cast<std::size_t>(id)].readers.empty()) continue;
        scope.report_port(port, text(kPort, " as a virtual tensor that no node reads"),
                          "an output, since it was asked for", "call set_output(true)");
    }
}

}  // namespace cudnn_frontend::nodes::attention_checks
