#include "cudnn/quirks/quirk_rows.h"

#include "nodes/attention/attention_node.h"
#include "nodes/schema/schema.h"

namespace cudnn_frontend::quirks {
namespace {

// The first option that the unified operation has no place for.
Found without_place(Facts const& facts) {
    auto const& fields = facts.fields;
    if (facts.has(Port::Bias)) return Violation{Port::Bias, "a bias"};
    if (facts.has(Port::Score)) return Violation{Port::ScoreMod, "a score modifier"};
    if (fields.alibi_mask) return Violation{-1, "an alibi mask"};
    if (fields.left_bound || fields.right_bound) return Violation{-1, "a band mask"};
    bool const has_dropout = draws_dropout(facts) || facts.has(Port::DropoutMask);
    if (has_dropout) return Violation{-1, "dropout"};
    if (facts.has(Port::SinkToken)) return Violation{Port::SinkToken, "a sink token"};
    if (has_softmax_result(facts)) return Violation{-1, "Max or Sum_exp"};
    return {};
}

// The reason why the node's graph is not lowered to that operation; empty where it is.
std::string why_not_unified(Facts const& facts) {
    auto const* const forward = std::get_if<nodes::SdpaForwardFields>(&facts.node.fields);
    if (forward == nullptr) return " in backward";
    if (nodes::is_fp8(facts.node)) return " in FP8 attention";
    if (forward->implementation == AttentionImplementation_t::COMPOSITE) return " under the implementation COMPOSITE";
    return {};
}

Found unified_version(Facts const& facts) {
    if (!nodes::asks_for_unified(facts.node)) return {};
    return Violation{-1, "the implementation UNIFIED"};
}

Found unified_lengths(Facts const& facts) {
    if (!nodes::asks_for_unified(facts.node) || !facts.fields.padding_mask) return {};
    return Violation{-1, "a padding mask under the implementation UNIFIED"};
}

Found block_mask_of_one_query(Facts const& facts) {
    if (!facts.has(Port::BlockMask) || facts.queries() != 1) return {};
    return Violation{Port::BlockMask, "a block mask of one query"};
}

Found unified_options(Facts const& facts) {
    Found found = nodes::asks_for_unified(facts.node) ? without_place(facts) : std::nullopt;
    if (found) found->found += " under the implementation UNIFIED";
    return found;
}

Found any_block_mask(Facts const& facts) {
    if (!facts.has(Port::BlockMask)) return {};
    return Violation{Port::BlockMask, "a block mask"};
}

Found padded_block_mask(Facts const& facts) {
    Found found = facts.fields.padding_mask ? any_block_mask(facts) : std::nullopt;
    if (found) found->found += " with a padding mask";
    return found;
}

Found block_mask_options(Facts const& facts) {
    Found found = facts.has(Port::BlockMask) ? without_place(facts) : std::nullopt;
    if (found) found->found += " with a block mask";
    return found;
}

Found composite_block_mask(Facts const& facts) {
    auto const* const forward = std::get_if<nodes::SdpaForwardFields>(&facts.node.fields);
    if (!facts.has(Port::BlockMask) || forward->implementation != AttentionImplementation_t::COMPOSITE) return {};
    return Violation{Port::BlockMask, "a block mask under the implementation COMPOSITE"};
}

Found sums_of_lengths(Facts const& facts) {
    int const port = nodes::sums_port(facts.node);
    if (port < 0) return {};
    return Violation{port, nodes::port_name(facts.node.kind(), port)};
}

Found offset_multiplier(Facts const& facts) {
    int const port = nodes::multiplied_port(facts.graph, facts.node);
    if (port < 0) return {};
    return Violation{port, "a ragged offset that counts " + number(facts.tensor(port)->ragged_offset_multiplier) +
                               " elements as one"};
}

Found unfused_multiplication(Facts const& facts) {
    if (!nodes::unfuses_multiplication(facts.node)) return {};
    return Violation{-1, "set_unfuse_fma(true)"};
}

// An option that only the unified operation has, in a graph that is not lowered to it.
template <Found (*find)(Facts const&)>
Found outside_unified(Facts const& facts) {
    std::string const why = why_not_unified(facts);
    Found found = why.empty() ? std::nullopt : find(facts);
    if (found) found->found += why;
    return found;
}

Found options_beside_unified(Facts const& facts) {
    bool const is_told_so = !nodes::asks_for_unified(facts.node) && !facts.has(Port::BlockMask) && !facts.is_backward;
    Found found = is_told_so && nodes::needs_unified(facts.graph, facts.node) ? without_place(facts) : std::nullopt;
    if (!found) return {};
    int const sums = nodes::sums_port(facts.node);
    bool const is_unfused = nodes::unfuses_multiplication(facts.node);
    found->found += " with ";
    if (sums >= 0) found->found += nodes::port_name(facts.node.kind(), sums);
    else found->found += is_unfused ? "set_unfuse_fma(true)" : "an offset's multiplier";
    return found;
}

constexpr char const* kComposite = "set_implementation(AttentionImplementation_t::COMPOSITE)";
constexpr char const* kMaskAsBias = "give the same mask as a bias of 0 and minus infinity";
constexpr char const* kLengths = "call set_seq_len_q() and set_seq_len_kv() with the lengths, or use Target::cpu()";

constexpr Quirk kRows[] = {
    {.id = "cudnn.s09",
     .cudnn = {0, 91301},
     .evidence = Evidence::NoEngine,
     .verified = {91200, kOffline},
     .summary = "cuDNN 9.13.1 or newer for the unified operation",
     .fix = kComposite,
     .seen =
         "9.12.0: no engine. 9.13.0 names one, and its plan compiles; the existing frontend uses it from 9.13.1 on, "
         "and so does this library",
     .check = unified_version},
    {.id = "cudnn.s10",
     .cudnn = {0, 91500},
     .evidence = Evidence::NoEngine,
     .verified = {91400, kOffline},
     .summary = "cuDNN 9.15 or newer for sequence lengths with the unified operation",
     .fix = kComposite,
     .check = unified_lengths},
    {.id = "cudnn.s11",
     .evidence = Evidence::AskedOffline,
     .verified = {91900, kOffline},
     .summary = "no options except scale, lengths and Stats with the unified operation",
     .fix = "set_implementation(AttentionImplementation_t::AUTO)",
     .seen = "36 of 36 runs past the limit were wrong on an H200: the operation has no place for the option",
     .check = unified_options},
    {.id = "cudnn.s55",
     .on = kEvery - kDatacenterBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "compute capability 10.x for a block mask",
     .fix = kMaskAsBias,
     .seen = "no operation of a composite graph reads bits, and no stride repeats an element 128 times before it moves "
             "on. As a bias the mask takes two bytes for each score instead of one bit for 16,384",
     .check = any_block_mask},
    {.id = "cudnn.s55",
     .cudnn = {0, 91400},
     .on = kDatacenterBlackwell,
     .evidence = Evidence::ToldByNvidia,
     .summary = "cuDNN 9.14 or newer for a block mask",
     .fix = "install 9.14 or newer, or give the same mask as a bias of 0 and minus infinity",
     .check = any_block_mask},
    {.id = "cudnn.s55",
     .cudnn = {0, 91500},
     .on = kDatacenterBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {91400, kOffline},
     .summary = "cuDNN 9.15 or newer for a block mask with a padding mask",
     .fix = "install 9.15 or newer, or give the same mask as a bias of 0 and minus infinity",
     .check = padded_block_mask},
    {.id = "cudnn.s56",
     .evidence = Evidence::AskedOffline,
     .verified = {92800, kOffline},
     .summary = "no options except scale, lengths and Stats with a block mask",
     .fix = kMaskAsBias,
     .check = block_mask_options},
    {.id = "cudnn.s57",
     .evidence = Evidence::AskedOffline,
     .verified = {92800, kOffline},
     .summary = "the implementation AUTO or UNIFIED for a block mask",
     .fix = "set_implementation(AttentionImplementation_t::AUTO)",
     .check = composite_block_mask},
    {.id = "cudnn.s58",
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "more than one query with a block mask",
     .fix = kMaskAsBias,
     .check = block_mask_of_one_query},
    {.id = "cudnn.s69",
     .evidence = Evidence::AskedOffline,
     .verified = {92800, kOffline},
     .summary = "forward of HALF, BFLOAT16 or FLOAT and the implementation AUTO or UNIFIED for cumulative lengths",
     .fix = kLengths,
     .check = outside_unified<sums_of_lengths>},
    {.id = "cudnn.s69",
     .cudnn = {0, 92500},
     .evidence = Evidence::AskedOffline,
     .verified = {92400, kOffline},
     .summary = "cuDNN 9.25 or newer for cumulative lengths",
     .fix = kLengths,
     .seen = "9.25.1 and 9.28.0 compile plans for 8.0, 9.0, 10.0 and 12.0; nothing was run",
     .check = sums_of_lengths},
    {.id = "cudnn.s70",
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "forward of HALF, BFLOAT16 or FLOAT and the implementation AUTO or UNIFIED for an offset's multiplier",
     .fix = "count elements in the offset, or use Target::cpu()",
     .seen = "9.28.0's other engines say that they support no multiplier except 1",
     .check = outside_unified<offset_multiplier>},
    {.id = "cudnn.s70",
     .cudnn = {0, 92400},
     .evidence = Evidence::NoEngine,
     .verified = {91900, kOffline},
     .summary = "cuDNN 9.24 or newer for an offset's multiplier",
     .fix = "count elements in the offset, or use Target::cpu()",
     .seen = "9.24.0, 9.25.1 and 9.28.0 compile plans for 8.0, 9.0, 10.0 and 12.0; nothing was run. 9.22.0 has none",
     .check = offset_multiplier},
    {.id = "cudnn.s71",
     .on = kEvery - kDatacenterBlackwell,
     .evidence = Evidence::ToldByNvidia,
     .summary = "compute capability 10.x for set_unfuse_fma()",
     .fix = "leave out set_unfuse_fma()",
     .check = unfused_multiplication},
    {.id = "cudnn.s71",
     .on = kDatacenterBlackwell,
     .evidence = Evidence::AskedOffline,
     .verified = {92800, kOffline},
     .summary = "forward of HALF, BFLOAT16 or FLOAT and the implementation AUTO or UNIFIED for set_unfuse_fma()",
     .fix = "leave out set_unfuse_fma()",
     .check = outside_unified<unfused_multiplication>},
    {.id = "cudnn.s71",
     .cudnn = {0, 92200},
     .on = kDatacenterBlackwell,
     .evidence = Evidence::ToldByNvidia,
     .summary = "cuDNN 9.22 or newer for set_unfuse_fma()",
     .fix = "leave out set_unfuse_fma()",
     .check = unfused_multiplication},
    {.id = "cudnn.s72",
     .evidence = Evidence::AskedOffline,
     .verified = {92800, kOffline},
     .summary = "no options except scale, lengths and Stats with cumulative lengths, an offset's multiplier or "
                "set_unfuse_fma()",
     .fix = "give lengths and offsets in the other form, leave out set_unfuse_fma(), or use Target::cpu()",
     .check = options_beside_unified},
};

}  // namespace

std::span<Quirk const> unified_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
