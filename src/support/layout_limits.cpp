#include "support/layout_limits.h"

#include "core/data_type.h"

namespace cudnn_frontend::inline v1::support {

// Hopper's engines read these tensors through descriptors that hold strides in units of 16 bytes.
Found stride_multiple(Facts const& facts, Capabilities const&) {
    for (int const port : {Port::Q, Port::K, Port::V, Port::O, Port::dO, Port::dQ, Port::dK, Port::dV}) {
        nodes::TensorSpec const* const tensor = facts.tensor(port);
        if (tensor == nullptr) continue;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            bool const is_offset = axis == 0 && is_ragged(tensor);
            bool const is_used = tensor->dim[axis] > 1 && !is_offset;
            std::int64_t const bytes = tensor->stride[axis] * core::size_of(tensor->data_type);
            if (is_used && bytes % 16 != 0) {
                return Violation{port, "a stride of " + number(bytes) + " bytes in dim " + number(std::int64_t(axis))};
            }
        }
    }
    return {};
}

// dBias and dumps of dropout masks.
Found gaps_between_scores(Facts const& facts, Capabilities const&) {
    for (int const port : {Port::Rng_dump, Port::dBias}) {
        nodes::TensorSpec const* const tensor = facts.tensor(port);
        if (tensor == nullptr) continue;
        core::Dims const packed = core::packed_strides(tensor->dim);
        for (std::size_t axis = 0; axis < 4; ++axis) {
            if (tensor->dim[axis] == 1 || tensor->stride[axis] == packed[axis]) continue;
            return Violation{port, "a stride of " + number(tensor->stride[axis]) + " in dim " +
                                       number(std::int64_t(axis)) + ", where packed is " + number(packed[axis])};
        }
    }
    return {};
}

Found columns_apart(Facts const& facts, Capabilities const&) {
    for (int const port : {Port::Bias, Port::Dropout_mask}) {
        nodes::TensorSpec const* const tensor = facts.tensor(port);
        if (tensor == nullptr || tensor->dim[3] == 1 || tensor->stride[3] == 1) continue;
        return Violation{port, "a last stride of " + number(tensor->stride[3])};
    }
    return {};
}

}  // namespace cudnn_frontend::inline v1::support
