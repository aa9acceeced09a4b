// The library's access to a user's tensor: reading without copies, and filling in inferred values.
#pragma once

#include "nodes/schema/tensor_spec.h"

#include <cudnn_frontend/tensor.h>

#include <exception>
#include <memory>
#include <utility>

namespace cudnn_frontend::detail {

struct Tensor_access {
    // Replaces the spec by the tensor as the user described it, without the values that an earlier validation inferred.
    // The id of the ragged offset and the owner are not known here. Throws if memory ran out in a setter.
    static void describe(graph::Tensor_attributes const& tensor, nodes::TensorSpec& spec);
    // The dims and the name of that description.
    static core::Dims const& described_dim(graph::Tensor_attributes const& tensor);
    static std::string const& described_name(graph::Tensor_attributes const& tensor);
    // Fills values that are empty or were inferred before.
    static void fill_inferred(graph::Tensor_attributes& tensor, nodes::TensorSpec const& spec);
    // A tensor with every explicit value of the spec.
    static graph::Tensor_attributes make(nodes::TensorSpec const& spec);

    // If memory runs out, the member keeps its value and the tensor is marked.
    template <class Member, class Value>
    static void assign(graph::Tensor_attributes& tensor, Member& member, Value const& value) noexcept {
        guarded(tensor, [&] { member = value; });
    }
    // Marks the tensor if memory runs out in the body.
    template <class Body>
    static void guarded(graph::Tensor_attributes& tensor, Body const& body) noexcept {
        try {
            body();
        } catch (std::exception const&) {
            tensor.is_incomplete_ = true;
        }
    }

    // Replaces an offset that has an offset itself, which is not allowed: by sharing it, tensors could form a cycle,
    // which would never be freed. The copy has an offset of its own, so that a rule reports it.
    static std::shared_ptr<graph::Tensor_attributes> chained_copy(graph::Tensor_attributes const& offset);

    // Throws if memory runs out.
    static void copy(graph::Tensor_attributes const& from, graph::Tensor_attributes& to) {
        static_cast<Tensor_fields&>(to) = from;
        to.set_ragged_offset(std::exchange(to.ragged_offset_, nullptr));
    }

    static std::uint64_t graph_id(graph::Tensor_attributes const& tensor) { return tensor.owner_.graph_id; }
    static std::size_t place_in_graph(graph::Tensor_attributes const& tensor) { return tensor.owner_.place; }
    static void set_owner(graph::Tensor_attributes& tensor, std::uint64_t graph_id, std::size_t place) {
        tensor.owner_.graph_id = graph_id;
        tensor.owner_.place = place;
    }
    static bool has_automatic_uid(graph::Tensor_attributes const& tensor) { return tensor.has_automatic_uid_; }
    static std::shared_ptr<graph::Tensor_attributes> const& ragged_offset(graph::Tensor_attributes const& tensor) {
        return tensor.ragged_offset_;
    }
};

}  // namespace cudnn_frontend::detail
