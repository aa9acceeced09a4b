#include "flash/bind.h"

namespace sdpa_graph::flash {

using enum Argument;
using enum Extra;

calls::Pack inputs_of(Run const& run) {
    Call const& call = run.call;
    calls::Pack pack;
    for (Argument const argument : {Q, K, V, ALIBI_SLOPES}) {
        if (call.has(argument)) pack.bind(argument, call.at(argument)->data);
    }
    if (run.shapes.gathers_queries) pack.bind(Q, run.scratch.q());
    if (run.shapes.is_packed) {
        pack.bind(LENGTHS_Q, run.scratch.lengths_q());
        pack.bind(LENGTHS_K, run.scratch.lengths_k());
        std::size_t const count = starts_of(run.shapes).size();
        for (std::size_t i = 0; i < count; ++i) pack.bind(static_cast<std::size_t>(STARTS) + i, run.scratch.starts(i));
    }
    if (run.shapes.has_pages) pack.bind(BLOCK_TABLE, run.scratch.table());
    if (call.has_dropout()) {
        auto* const seed = static_cast<std::int64_t*>(call.at(SEED)->data);
        pack.bind(SEED, seed);
        pack.bind(OFFSET, call.has(OFFSET) ? call.at(OFFSET)->data : seed + 1);
    }
    return pack;
}

}  // namespace sdpa_graph::flash
