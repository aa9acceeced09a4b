#include "ir/builder.h"

#include <algorithm>
#include <utility>

namespace cudnn_frontend::ir {
namespace {

bool is_bound(Value const& value) {
    bool const has_pointer = value.role == Role::Input || value.role == Role::Output || value.role == Role::ByValue;
    return has_pointer && value.view_of == kNoValue;
}

std::vector<Binding> bindings_of(std::vector<Value> const& values) {
    std::vector<Binding> bindings;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (is_bound(values[i])) bindings.push_back({values[i].uid, static_cast<ValueId>(i)});
    }
    std::stable_sort(bindings.begin(), bindings.end(),
                     [](Binding const& a, Binding const& b) { return a.uid < b.uid; });
    return bindings;
}

}  // namespace

ValueId Builder::add(Value value) {
    graph_.values_.push_back(std::move(value));
    return static_cast<ValueId>(graph_.values_.size() - 1);
}

ValueId Builder::transposed(ValueId id, std::size_t a, std::size_t b) {
    Value view = value(id);
    view.name += "^T";
    view.view_of = id;
    std::swap(view.dim[a], view.dim[b]);
    std::swap(view.stride[a], view.stride[b]);
    return add(std::move(view));
}

ValueId Builder::constant(std::string name, detail::Scalar scalar) {
    Value value;
    value.name = std::move(name);
    value.type = scalar.type;
    value.dim = {1, 1, 1, 1};
    value.stride = {1, 1, 1, 1};
    value.role = Role::Constant;
    value.constant = scalar;
    return add(std::move(value));
}

void Builder::add(Op op) { graph_.ops_.push_back(std::move(op)); }

Result<OpGraph> Builder::finish() && {
    graph_.bindings_ = bindings_of(graph_.values_);
    SDPA_GRAPH_TRY(verify(graph_));
    return std::move(graph_);
}

}  // namespace cudnn_frontend::ir
