#include "flash/runs/runs.h"
#include "flash/shapes.h"

namespace sdpa_graph::flash {

using enum Argument;
using enum Extra;

calls::Pack inputs_of(Run const& run) {
    Call const& call = run.call;
    calls::Pack pack;
    for (Argument const argument : {Q, K, V, AlibiSlopes}) {
        if (call.has(argument)) pack.bind(argument, call.at(argument)->data);
    }
    if (run.shapes.gathers_queries) pack.bind(Q, run.scratch.q());
    if (run.shapes.is_packed) {
        pack.bind(LengthsQ, run.scratch.lengths_q());
        pack.bind(LengthsK, run.scratch.lengths_k());
        std::size_t const count = starts_of(run.shapes).size();
        for (std::size_t i = 0; i < count; ++i)
            pack.bind(static_cast<std::size_t>(FirstStarts) + i, run.scratch.starts(i));
    }
    if (run.shapes.has_pages) pack.bind(BlockTable, run.scratch.table());
    if (call.has_dropout()) {
        auto* const seed = static_cast<std::int64_t*>(call.at(Seed)->data);
        pack.bind(Seed, seed);
        pack.bind(Offset, call.has(Offset) ? call.at(Offset)->data : seed + 1);
    }
    return pack;
}

}  // namespace sdpa_graph::flash
