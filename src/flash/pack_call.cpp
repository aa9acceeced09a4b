#include "flash/pack_call.h"

namespace sdpa_graph::flash {

using enum Argument;
using enum Extra;

Scratch scratch_of(Call const& call, Sizes const& sizes) {
    Scratch scratch_memory;
    if (!call.is_packed) return scratch_memory;
    scratch_memory.lengths = lengths_of(call);
    if (call.has_pages()) scratch_memory.table = table_of(call, pages_of(call), scratch_memory.lengths->k);
    scratch_memory.log_sums = scratch<float>(sizes.total_q * sizes.heads);
    return scratch_memory;
}

Pack inputs_of(Call const& call, Shapes const& shapes, Scratch& scratch_memory) {
    Pack pack;
    for (Argument const argument : {Q, K, V, ALIBI_SLOPES}) {
        if (call.has(argument)) pack.bind(argument, call.at(argument)->data);
    }
    if (shapes.is_packed) {
        pack.bind(LENGTHS_Q, scratch_memory.lengths->q.data());
        pack.bind(LENGTHS_K, scratch_memory.lengths->k.data());
        pack.bind(CU_SEQLENS_Q, call.at(CU_SEQLENS_Q)->data);
        pack.bind(CU_SEQLENS_K, call.at(CU_SEQLENS_K)->data);
    }
    if (shapes.has_pages) pack.bind(BLOCK_TABLE, scratch_memory.table.data());
    if (call.has_dropout()) {
        auto* const seed = static_cast<std::int64_t*>(call.at(SEED)->data);
        pack.bind(SEED, seed);
        pack.bind(OFFSET, call.has(OFFSET) ? call.at(OFFSET)->data : seed + 1);
    }
    return pack;
}

error_t run(Call const& call, Shapes const& shapes, Lease const& lease, Pack const& pack) {
    auto const plan = calls::Plan<Shapes>::find(shapes, lease.target);
    if (plan.is_bad()) return plan.error();
    auto const workspace = calls::Workspace::make(asker_of(call), *call.at(Q), plan.value()->workspace_bytes());
    if (workspace.is_bad()) return workspace.error();
    return plan.value()->run(pack, workspace.value().data());
}

}  // namespace sdpa_graph::flash
