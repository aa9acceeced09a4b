#include "ir/op_graph.h"

#include <algorithm>

namespace cudnn_frontend::ir {

// Names each field, so that one that is added here or to the next cannot be forgotten.
bool same_work(Value const& a, Value const& b) {
    auto const& [name, type, dim, stride, role, uid, constant, table, ragged, steps, view, reordering, is_factor] = a;
    return type == b.type && dim == b.dim && stride == b.stride && role == b.role && uid == b.uid &&
           constant == b.constant && table == b.table && ragged == b.ragged && steps == b.steps_of &&
           view == b.view_of && reordering == b.reordering && is_factor == b.is_factor;
}

bool same_work(Op const& a, Op const& b) {
    auto const& [name, compute_type, body] = a;
    return compute_type == b.compute_type && body == b.body;
}

// Bindings follow from the values.
bool same_work(OpGraph const& a, OpGraph const& b) {
    auto const are_same = [](auto const& x, auto const& y) { return same_work(x, y); };
    return std::ranges::equal(a.ops(), b.ops(), are_same) && std::ranges::equal(a.values(), b.values(), are_same);
}

}  // namespace cudnn_frontend::ir
