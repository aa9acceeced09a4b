// How the library reads a user's tensor without copies, and fills in what validation inferred.
#pragma once

#include "nodes/tensor_spec.h"

#include <cudnn_frontend/tensor.h>

#include <exception>

namespace cudnn_frontend::detail {

struct Tensor_access {
    // The tensor as the user described it: what an earlier validation inferred is left out. The ragged offset's id is
    // not known here. Throws where memory ran out in a setter.
    static nodes::TensorSpec describe(graph::Tensor_attributes const& tensor);
    // Fills what is empty or was inferred before.
    static void fill_inferred(graph::Tensor_attributes& tensor, nodes::TensorSpec const& spec);
    // A tensor with every explicit value of the spec.
    static graph::Tensor_attributes make(nodes::TensorSpec const& spec);

    // Where memory runs out, the member keeps its value and the tensor is marked.
    template <class Member, class Value>
    static void assign(graph::Tensor_attributes& tensor, Member& member, Value const& value) noexcept {
        try {
            member = value;
        } catch (std::exception const&) {
            tensor.is_incomplete_ = true;
        }
    }

    // Throws where memory runs out.
    static void copy(graph::Tensor_attributes const& from, graph::Tensor_attributes& to) {
        static_cast<Tensor_fields&>(to) = from;
    }

    static std::uint64_t graph_id(graph::Tensor_attributes const& tensor) { return tensor.owner_.graph_id; }
    static void set_graph_id(graph::Tensor_attributes& tensor, std::uint64_t id) { tensor.owner_.graph_id = id; }
    static bool has_automatic_uid(graph::Tensor_attributes const& tensor) { return tensor.has_automatic_uid_; }
    static std::shared_ptr<graph::Tensor_attributes> const& ragged_offset(graph::Tensor_attributes const& tensor) {
        return tensor.ragged_offset_;
    }
};

}  // namespace cudnn_frontend::detail
