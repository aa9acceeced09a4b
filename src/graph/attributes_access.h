// How the setters and the graph reach the node that an attributes object holds.
#pragma once

#include "nodes/draft.h"

#include <cudnn_frontend/attributes.h>

#include <utility>

namespace cudnn_frontend::inline v1::detail {

struct Attributes_access {
    // The node as described, with name and compute type.
    static nodes::Draft take(Attributes const& attributes) {
        nodes::Draft draft = *attributes.draft_;
        draft.name = attributes.name;
        draft.compute_data_type = attributes.compute_data_type;
        return draft;
    }
};

// A node of the kind that Fields belongs to, with unconnected ports.
template <class Fields>
std::shared_ptr<nodes::Draft> make_draft(int port_count) {
    auto draft = std::make_shared<nodes::Draft>();
    draft->fields = Fields();
    draft->ports.resize(static_cast<std::size_t>(port_count));
    return draft;
}

// The fields of a draft that was made for them.
template <class Fields>
Fields& fields_of(nodes::Draft& draft) {
    return std::get<Fields>(draft.fields);
}

inline void connect(nodes::Draft& draft, int port, Tensor_ptr tensor) {
    draft.ports[static_cast<std::size_t>(port)] = std::move(tensor);
}

// Members of Node_attributes, which the file of each node kind instantiates for its class.
template <class Derived>
Derived& Node_attributes<Derived>::set_name(std::string const& value) {
    name = value;
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Node_attributes<Derived>::set_name(char const* value) {
    name = value ? value : "";
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Node_attributes<Derived>::set_compute_data_type(DataType_t value) {
    compute_data_type = value;
    return static_cast<Derived&>(*this);
}

}  // namespace cudnn_frontend::inline v1::detail
