#include "functions/attention/scratch.h"

#include "calls/pieces.h"
#include "functions/attention/rules.h"

namespace sdpa_graph::attention {

fe::Result<Scratch> Scratch::make(Call const& call, Shapes const& shapes, std::int64_t workspace) {
    constexpr std::int64_t kInteger = sizeof(int), kLong = sizeof(long long);
    Scratch scratch;
    calls::Pieces pieces;
    scratch.workspace_ = pieces.add({workspace});
    if (shapes.has_lengths) {
        scratch.lengths_q_ = pieces.add({shapes.slots, kInteger});
        scratch.lengths_kv_ = pieces.add({shapes.slots, kInteger});
    }
    for (Argument const argument : kRowTensors) {
        if (shapes.has_table(argument))
            scratch.starts_[static_cast<std::size_t>(argument)] = pieces.add({shapes.slots + 1, kLong});
    }
    calls::Asker const asker{call.place, call.function, memory_rule()};
    SDPA_GRAPH_TRY(calls::Workspace::make(asker, *call.at(Argument::Q), pieces.bytes()).move_to(scratch.memory_));
    return scratch;
}

}  // namespace sdpa_graph::attention
