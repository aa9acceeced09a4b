#include "flash/runs/runs.h"

#include "calls/result_memory.h"
#include "flash/checks/rules.h"

namespace sdpa_graph::flash {

calls::AllocationRequest allocation_request_of(Call const& call) { return {*call.place, call.function, memory_rule()}; }

error_t provide(Call& call, Sizes const& sizes, Argument argument, DataType_t type, Tensor_view& made) {
    if (call.has(argument)) return {};
    made = calls::view_on_device_of(*call.at(Argument::Q), wanted_dims(call, sizes, argument), type);
    SDPA_GRAPH_TRY(calls::allocate(allocation_request_of(call), name_of(argument), made));
    call.set(argument, made);
    return {};
}

void take(Call const& call, Argument argument, Tensor_view& result) {
    if (!call.has(argument)) result = {};
    else if (call.at(argument) != &result) result = *call.at(argument);
}

fe::Result<Scratch> Scratch::make(Call const& call, Shapes const& shapes, Sizes const& sizes, std::int64_t workspace) {
    constexpr std::int64_t kFloat = sizeof(float), kInteger = sizeof(int), kLong = sizeof(long long), kElement = 2;
    Scratch scratch;
    calls::ScratchPieces pieces;
    scratch.workspace_ = pieces.add({workspace});
    if (shapes.is_packed) {
        scratch.lengths_q_ = pieces.add({shapes.slots, kInteger});
        scratch.lengths_k_ = pieces.add({shapes.slots, kInteger});
        if (shapes.has_squares_apart) scratch.squares_ = pieces.add({shapes.slots, kInteger});
        std::size_t const count = starts_of(shapes).size();
        for (std::size_t i = 0; i < count; ++i) scratch.starts_[i] = pieces.add({shapes.slots + 1, kLong});
        scratch.table_ = pieces.add({shapes.slots, shapes.page_columns(), kInteger});
        std::int64_t const rows = shapes.gathers_queries ? shapes.slots : sizes.total_q;
        scratch.log_sums_ = pieces.add({rows, shapes.heads, kFloat});
    }
    if (shapes.gathers_queries) {
        scratch.q_ = pieces.add({shapes.slots, shapes.heads, shapes.width, kElement});
        scratch.out_ = pieces.add({shapes.slots, shapes.heads, shapes.width, kElement});
    }
    if (shapes.dumps_dropout)
        scratch.kept_ = pieces.add({shapes.slots, shapes.heads, shapes.queries, shapes.keys, kFloat});
    SDPA_GRAPH_TRY(calls::Workspace::make(allocation_request_of(call), *call.at(Argument::Q), pieces.bytes())
                       .move_to(scratch.memory_));
    return scratch;
}

}  // namespace sdpa_graph::flash
