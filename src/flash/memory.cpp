#include "flash/memory.h"

#include "calls/views.h"
#include "flash/rules.h"

#include <algorithm>

namespace sdpa_graph::flash {

calls::Asker asker_of(Call const& call) { return {*call.place, call.function, memory_rule()}; }

error_t provide(Call& call, Sizes const& sizes, Argument argument, DataType_t type, Tensor_view& result) {
    if (call.has(argument)) {
        result = *call.at(argument);
    } else {
        result = calls::view_beside(*call.at(Argument::Q), wanted_dims(call, sizes, argument), type);
        SDPA_GRAPH_TRY(calls::allocate(asker_of(call), name_of(argument), result));
    }
    call.set(argument, result);
    return {};
}

void fill(Tensor_view const& contiguous_floats, float value) {
    std::fill_n(static_cast<float*>(contiguous_floats.data), calls::elements_of(contiguous_floats), value);
}

}  // namespace sdpa_graph::flash
