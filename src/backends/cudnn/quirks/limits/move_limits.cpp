#include "cudnn/quirks/quirk_rows.h"

#include "nodes/schema/schema.h"

namespace cudnn_frontend::quirks {
namespace {

Found moves(Facts const& facts) {
    return Violation{-1, std::string("a ") + nodes::schema_of(facts.node.kind()).tag + " node"};
}

constexpr Quirk kRows[] = {
    {.id = "cudnn.s93",
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "no slice, reshape or transpose nodes, which no engine supports",
     .fix = "say the same with the dims, strides and address of a tensor in memory, or use Target::cpu()",
     .seen =
         "63 combinations for H200, B200 and A100 with 9.19.0 and 9.28.0, and for RTX 5090 with 9.28.0: alone, before "
         "and after a pointwise node, as either operand and as the result of a matmul, before and after attention; "
         "no engine, and a segmentation fault before attention's K",
     .check = moves,
     .of = QuirkScope::Moves},
};

}  // namespace

std::span<Quirk const> move_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
