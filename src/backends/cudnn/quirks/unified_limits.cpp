#include "cudnn/quirks/unified_limits.h"

#include "nodes/attention/fp8.h"
#include "nodes/attention/unified.h"
#include "nodes/schema/schema.h"

namespace cudnn_frontend::quirks {
namespace {

// The first option that the unified operation has no place for.
Found without_place(Facts const& facts) {
    auto const& fields = facts.fields;
    if (facts.has(Port::Bias)) return Violation{Port::Bias, "a bias"};
    if (facts.has(Port::Score)) return Violation{Port::Score_mod, "a score modifier"};
    if (fields.alibi_mask) return Violation{-1, "an alibi mask"};
    if (fields.left_bound || fields.right_bound) return Violation{-1, "a band mask"};
    bool const has_dropout = draws_dropout(facts) || facts.has(Port::Dropout_mask);
    if (has_dropout) return Violation{-1, "dropout"};
    if (facts.has(Port::Sink_token)) return Violation{Port::Sink_token, "a sink token"};
    if (has_softmax_result(facts)) return Violation{-1, "Max or Sum_exp"};
    return {};
}

// Why a forward node's graph is not told as that operation, in which cuDNN has something from this version on; empty
// where it is.
std::string why_not_unified(Facts const& facts, Capabilities const& here, std::size_t since) {
    auto const* const forward = std::get_if<nodes::SdpaForwardFields>(&facts.node.fields);
    if (forward == nullptr) return " in backward";
    if (nodes::is_fp8(facts.node)) return " in FP8 attention";
    if (forward->implementation == AttentionImplementation_t::COMPOSITE) return " under the implementation COMPOSITE";
    return here.cudnn_version < since ? " with " + version(here.cudnn_version) : "";
}

}  // namespace

Found unified_version(Facts const& facts, Capabilities const& here) {
    if (!nodes::asks_for_unified(facts.node) || here.cudnn_version >= 91301) return {};
    return Violation{-1, "the implementation UNIFIED with " + version(here.cudnn_version)};
}

Found unified_lengths(Facts const& facts, Capabilities const& here) {
    if (!nodes::asks_for_unified(facts.node) || !facts.fields.padding_mask || here.cudnn_version >= 91500) return {};
    return Violation{-1, "a padding mask under the implementation UNIFIED with " + version(here.cudnn_version)};
}

Found block_mask_of_one_query(Facts const& facts, Capabilities const&) {
    if (!facts.has(Port::Block_mask) || facts.queries() != 1) return {};
    return Violation{Port::Block_mask, "a block mask of one query"};
}

Found unified_options(Facts const& facts, Capabilities const&) {
    Found found = nodes::asks_for_unified(facts.node) ? without_place(facts) : std::nullopt;
    if (found) found->found += " under the implementation UNIFIED";
    return found;
}

Found block_mask_place(Facts const& facts, Capabilities const& here) {
    if (!facts.has(Port::Block_mask)) return {};
    if (is_hopper(here) || !is_hopper_or_datacenter(here)) {
        return Violation{Port::Block_mask, "a block mask on " + architecture_of(here)};
    }
    std::size_t const needed = facts.fields.padding_mask ? 91500 : 91400;
    if (here.cudnn_version >= needed) return {};
    return Violation{Port::Block_mask, std::string("a block mask ") +
                                           (facts.fields.padding_mask ? "beside a padding mask " : "") + "with " +
                                           version(here.cudnn_version)};
}

Found block_mask_options(Facts const& facts, Capabilities const&) {
    Found found = facts.has(Port::Block_mask) ? without_place(facts) : std::nullopt;
    if (found) found->found += " beside a block mask";
    return found;
}

Found composite_block_mask(Facts const& facts, Capabilities const&) {
    auto const* const forward = std::get_if<nodes::SdpaForwardFields>(&facts.node.fields);
    if (!facts.has(Port::Block_mask) || forward->implementation != AttentionImplementation_t::COMPOSITE) return {};
    return Violation{Port::Block_mask, "a block mask under the implementation COMPOSITE"};
}

Found sums_of_lengths(Facts const& facts, Capabilities const& here) {
    int const port = nodes::sums_port(facts.node);
    std::string const why = port < 0 ? "" : why_not_unified(facts, here, 92500);
    if (why.empty()) return {};
    return Violation{port, nodes::port_name(facts.node.kind(), port) + why};
}

Found offset_multiplier(Facts const& facts, Capabilities const& here) {
    int const port = nodes::multiplied_port(facts.graph, facts.node);
    std::string const why = port < 0 ? "" : why_not_unified(facts, here, 92400);
    if (why.empty()) return {};
    return Violation{port, "a ragged offset that counts " + number(facts.tensor(port)->ragged_offset_multiplier) +
                               " elements as one" + why};
}

Found unfused_multiplication(Facts const& facts, Capabilities const& here) {
    if (!nodes::unfuses_multiplication(facts.node)) return {};
    std::string const why = is_datacenter(here) ? why_not_unified(facts, here, 92200) : " on " + architecture_of(here);
    if (why.empty()) return {};
    return Violation{-1, "set_unfuse_fma(true)" + why};
}

Found options_beside_unified(Facts const& facts, Capabilities const&) {
    bool const is_told_so = !nodes::asks_for_unified(facts.node) && !facts.has(Port::Block_mask) && !facts.is_backward;
    Found found = is_told_so && nodes::needs_unified(facts.graph, facts.node) ? without_place(facts) : std::nullopt;
    if (!found) return {};
    int const sums = nodes::sums_port(facts.node);
    bool const is_unfused = nodes::unfuses_multiplication(facts.node);
    found->found += " beside ";
    if (sums >= 0) found->found += nodes::port_name(facts.node.kind(), sums);
    else found->found += is_unfused ? "set_unfuse_fma(true)" : "an offset's multiplier";
    return found;
}

}  // namespace cudnn_frontend::quirks
