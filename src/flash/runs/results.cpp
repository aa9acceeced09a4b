#include "flash/runs/runs.h"

#include "flash/checks/rules.h"

namespace sdpa_graph::flash {

calls::Asker asker_of(Call const& call) { return {*call.place, call.function, memory_rule()}; }

error_t provide(Call& call, Sizes const& sizes, Argument argument, DataType_t type, Tensor_view& made) {
    if (call.has(argument)) return {};
    made = calls::view_beside(*call.at(Argument::Q), wanted_dims(call, sizes, argument), type);
    SDPA_GRAPH_TRY(calls::allocate(asker_of(call), name_of(argument), made));
    call.set(argument, made);
    return {};
}

void take(Call const& call, Argument argument, Tensor_view& result) {
    if (!call.has(argument)) result = {};
    else if (call.at(argument) != &result) result = *call.at(argument);
}

}  // namespace sdpa_graph::flash
