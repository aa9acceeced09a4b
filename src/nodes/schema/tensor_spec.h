// A tensor as a value: the snapshot of the user's Tensor_attributes.
#pragma once

#include "nodes/schema/field.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace cudnn_frontend::nodes {

// Index of a tensor in its GraphSpec.
using TensorId = std::int32_t;
inline constexpr TensorId kNoTensor = -1;

struct TensorSpec {
    std::string name;
    std::optional<std::int64_t> uid;
    std::optional<std::int64_t> automatic_uid;  // assigned by this or an earlier validation; never serialized
    DataType_t data_type = DataType_t::NOT_SET;
    core::Dims dim;
    core::Dims stride;
    bool is_virtual = false;
    bool is_by_value = false;
    std::optional<detail::Scalar> value;  // embedded, with by value or constant
    bool is_constant = false;
    TensorId ragged_offset = kNoTensor;
    std::int64_t ragged_offset_multiplier = 1;
    std::int64_t alignment = 16;
    TensorReordering_t reordering = TensorReordering_t::NONE;
    std::int64_t vector_count = 1;
    std::int64_t vector_dimension = -1;
    bool is_foreign = false;  // registered with another graph; never serialized

    friend bool operator==(TensorSpec const&, TensorSpec const&) = default;
};

// Whether the type is set, to one that exists; a rule of its own reports others.
inline bool has_type(TensorSpec const& tensor) {
    return tensor.data_type != DataType_t::NOT_SET && core::is_known(tensor.data_type);
}

bool all_positive(core::Dims const& dim);
bool none_negative(core::Dims const& stride);
// Whether there are as many dims as strides, all in range, so that arithmetic on them makes sense.
bool has_regular_layout(TensorSpec const& tensor);

// All fields except ragged_offset, which refers to a tensor, and those that are never serialized.
std::span<Field const> tensor_fields();

}  // namespace cudnn_frontend::nodes
