// A node as a value: its kind's fields and, for each port, a tensor.
#pragma once

#include "attention/attention_operands.h"
#include "attention/neighborhood_operands.h"
#include "core/floats.h"
#include "nodes/schema/tensor_spec.h"

#include <cudnn_frontend/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace cudnn_frontend::nodes {

// Its ports and the facts about them: attention/attention_operands.h.
namespace attention = cudnn_frontend::attention;

namespace pointwise {
enum Port : int { In0, In1, In2, Out0, PortCount };
}
namespace matmul {
enum Port : int { A, B, MOverride, NOverride, KOverride, C, PortCount };
}
namespace reduction {
enum Port : int { X, Y, PortCount };
}
namespace slice {
enum Port : int { X, Y, PortCount };
}
namespace reshape {
enum Port : int { X, Y, PortCount };
}
namespace transpose {
enum Port : int { X, Y, PortCount };
}
// The same for all functions of neighborhood attention: attention/neighborhood_operands.h.
namespace neighborhood = cudnn_frontend::neighborhood;

struct NodeSchema;

// The fields of each node kind. `schema` is their table, defined in the file of the node.

struct AttentionFields {
    std::optional<core::Exact<float>> attn_scale;
    bool alibi_mask = false;
    bool padding_mask = false;
    DiagonalAlignment_t diagonal_alignment = DiagonalAlignment_t::TOP_LEFT;
    std::optional<std::int64_t> left_bound;
    std::optional<std::int64_t> right_bound;
    std::optional<core::Exact<float>> dropout_probability;
    bool block_scaled = false;
    bool stats_use_log2 = false;
    std::optional<std::int64_t> max_total_seq_len_q;
    std::optional<std::int64_t> max_total_seq_len_kv;

    // The form in which options were set, for advice: no part of the graph's computation, and in no table.
    struct Said {
        std::optional<DiagonalAlignment_t> alignment, earlier_alignment;  // the last one, and another before it
        bool is_window = false;                                           // the left bound, as a sliding window
        bool is_padding_implied = false;                                  // the padding mask, by pages with lengths

        friend bool operator==(Said const&, Said const&) = default;
    } said = {};

    friend bool operator==(AttentionFields const&, AttentionFields const&) = default;
};

struct SdpaForwardFields : AttentionFields {
    static NodeSchema const schema;

    bool generate_stats = false;
    AttentionImplementation_t implementation = AttentionImplementation_t::AUTO;
    std::optional<std::int64_t> max_seq_len_kv;
    bool unfuse_fma = false;

    friend bool operator==(SdpaForwardFields const&, SdpaForwardFields const&) = default;
};

struct SdpaBackwardFields : AttentionFields {
    static NodeSchema const schema;

    bool deterministic = false;

    friend bool operator==(SdpaBackwardFields const&, SdpaBackwardFields const&) = default;
};

struct PointwiseFields {
    static NodeSchema const schema;

    PointwiseMode_t mode = PointwiseMode_t::NOT_SET;
    std::optional<std::int64_t> axis;
    std::optional<core::Exact<float>> relu_lower_clip;
    std::optional<core::Exact<float>> relu_upper_clip;
    std::optional<core::Exact<float>> relu_lower_clip_slope;
    std::optional<core::Exact<float>> swish_beta;
    std::optional<core::Exact<float>> elu_alpha;
    std::optional<core::Exact<float>> softplus_beta;

    friend bool operator==(PointwiseFields const&, PointwiseFields const&) = default;
};

struct MatmulFields {
    static NodeSchema const schema;

    core::Exact<double> padding_value = 0.0;

    friend bool operator==(MatmulFields const&, MatmulFields const&) = default;
};

struct ReductionFields {
    static NodeSchema const schema;

    ReductionMode_t mode = ReductionMode_t::NOT_SET;
    bool is_deterministic = false;

    friend bool operator==(ReductionFields const&, ReductionFields const&) = default;
};

struct SliceFields {
    static NodeSchema const schema;

    core::Dims start;
    core::Dims limit;
    core::Dims step;  // empty: 1 in each dim

    friend bool operator==(SliceFields const&, SliceFields const&) = default;
};

struct ReshapeFields {
    static NodeSchema const schema;

    ReshapeMode_t mode = ReshapeMode_t::VIEW_ONLY;
    core::Dims dim;     // of the result; empty: as the tensor says
    core::Dims stride;  // the same

    friend bool operator==(ReshapeFields const&, ReshapeFields const&) = default;
};

struct TransposeFields {
    static NodeSchema const schema;

    core::Dims permutation;

    friend bool operator==(TransposeFields const&, TransposeFields const&) = default;
};

using NeighborhoodFields = neighborhood::Options;

struct NeighborhoodForwardFields : NeighborhoodFields {
    static NodeSchema const schema;

    std::optional<core::Exact<float>> attn_scale;  // none: 1 / sqrt(D)
    bool generate_stats = false;

    friend bool operator==(NeighborhoodForwardFields const&, NeighborhoodForwardFields const&) = default;
};

struct NeighborhoodBackwardFields : NeighborhoodFields {
    static NodeSchema const schema;

    std::optional<core::Exact<float>> attn_scale;

    friend bool operator==(NeighborhoodBackwardFields const&, NeighborhoodBackwardFields const&) = default;
};

struct NeighborhoodQkFields : NeighborhoodFields {
    static NodeSchema const schema;

    friend bool operator==(NeighborhoodQkFields const&, NeighborhoodQkFields const&) = default;
};

struct NeighborhoodQkBackwardFields : NeighborhoodFields {
    static NodeSchema const schema;

    friend bool operator==(NeighborhoodQkBackwardFields const&, NeighborhoodQkBackwardFields const&) = default;
};

struct NeighborhoodAvFields : NeighborhoodFields {
    static NodeSchema const schema;

    friend bool operator==(NeighborhoodAvFields const&, NeighborhoodAvFields const&) = default;
};

struct NeighborhoodAvBackwardFields : NeighborhoodFields {
    static NodeSchema const schema;

    friend bool operator==(NeighborhoodAvBackwardFields const&, NeighborhoodAvBackwardFields const&) = default;
};

using Fields = std::variant<SdpaForwardFields, SdpaBackwardFields, PointwiseFields, MatmulFields, ReductionFields,
                            SliceFields, ReshapeFields, TransposeFields, NeighborhoodForwardFields,
                            NeighborhoodBackwardFields, NeighborhoodQkFields, NeighborhoodQkBackwardFields,
                            NeighborhoodAvFields, NeighborhoodAvBackwardFields>;

// The kinds in the order of the alternatives of Fields.
enum class NodeKind {
    SdpaForward,
    SdpaBackward,
    Pointwise,
    Matmul,
    Reduction,
    Slice,
    Reshape,
    Transpose,
    NeighborhoodForward,
    NeighborhoodBackward,
    NeighborhoodQk,
    NeighborhoodQkBackward,
    NeighborhoodAv,
    NeighborhoodAvBackward
};

// The reason why a score modifier returned nothing for the tensor at a port.
struct ModifierFault {
    int port;
    std::string found, needed;

    friend bool operator==(ModifierFault const&, ModifierFault const&) = default;
};

// A node without its tensors.
struct NodeBody {
    std::string name;
    DataType_t compute_data_type = DataType_t::NOT_SET;
    Fields fields;
    std::vector<ModifierFault> modifier_faults = {};

    NodeKind kind() const { return static_cast<NodeKind>(fields.index()); }

    friend bool operator==(NodeBody const&, NodeBody const&) = default;
};

template <class TensorRef>
struct BasicNode : NodeBody {
    std::vector<TensorRef> ports;  // by port number; an empty reference where the port is not connected

    friend bool operator==(BasicNode const&, BasicNode const&) = default;
};

struct Node : BasicNode<TensorId> {
    // The operations of its score modifier, and of the modifier's gradient, in an order in which they can run. Only
    // attention has some, and none of them has some in turn.
    std::vector<Node> modifier = {};
    std::size_t position = 0;  // in the description, for messages

    friend bool operator==(Node const&, Node const&) = default;
};

// The fields that forward and backward attention share; null for other nodes.
inline AttentionFields const* attention_fields(Node const& node) {
    if (auto const* forward = std::get_if<SdpaForwardFields>(&node.fields)) return forward;
    return std::get_if<SdpaBackwardFields>(&node.fields);
}

// The fields that all functions of neighborhood attention share; null for other nodes.
inline NeighborhoodFields const* neighborhood_fields(NodeBody const& node) {
    return std::visit(
        [](auto const& fields) -> NeighborhoodFields const* {
            if constexpr (std::is_base_of_v<NeighborhoodFields, std::decay_t<decltype(fields)>>) return &fields;
            else return nullptr;
        },
        node.fields);
}

}  // namespace cudnn_frontend::nodes
