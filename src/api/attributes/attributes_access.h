// Access of the setters and the graph to the node inside an attributes object.
#pragma once

#include "core/immortal.h"
#include "nodes/schema/node.h"

#include <cudnn_frontend/attributes.h>
#include <cudnn_frontend/score_modifier.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace cudnn_frontend::nodes {

// A node under construction: ports hold the user's tensors. The ports beyond the last one of `ports` are not connected:
// attention has many, of which a graph uses few. Score modifiers are called when the node is added to the graph: they
// become nodes of the graph then.
struct Draft : BasicNode<std::shared_ptr<graph::Tensor_attributes>> {
    detail::Score_modifier score_mod, score_mod_bprop;
};

}  // namespace cudnn_frontend::nodes

namespace cudnn_frontend::detail {

struct Attributes_access {
    // The node with name and compute type. Throws if memory ran out in a setter.
    static nodes::Draft take(Attributes const& attributes);
};

// A node of the kind that Fields belongs to, with so many unconnected ports; null if memory runs out.
template <class Fields>
nodes::Draft* make_draft(int port_count) noexcept {
    try {
        auto draft = std::make_unique<nodes::Draft>();
        draft->fields = Fields();
        draft->ports.resize(static_cast<std::size_t>(port_count));
        return draft.release();
    } catch (std::exception const&) {
        return nullptr;
    }
}

// The fields of a draft that was made for them.
template <class Fields>
Fields& fields_of(nodes::Draft& draft) {
    return std::get<Fields>(draft.fields);
}

// The same, read-only, for a draft that may be null.
template <class Fields>
Fields const& fields_of(nodes::Draft const* draft) {
    static core::Immortal<Fields> const lost;
    return draft == nullptr ? *lost : std::get<Fields>(draft->fields);
}

inline void connect(nodes::Draft& draft, int port, Tensor_ptr tensor) {
    auto const at = static_cast<std::size_t>(port);
    if (at >= draft.ports.size()) draft.ports.resize(at + 1);
    draft.ports[at] = std::move(tensor);
}

template <class Derived>
template <class Change>
Derived& Node_attributes<Derived>::change(Change const& body) noexcept {
    try {
        if (draft_ != nullptr) body(*draft_);
    } catch (std::exception const&) {
        delete std::exchange(draft_, nullptr);
    }
    return static_cast<Derived&>(*this);
}

}  // namespace cudnn_frontend::detail
