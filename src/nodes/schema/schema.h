// The table of a node's ports and fields.
// JSON, printing, hashing and checks of presence are generic over it.
#pragma once

#include "core/findings.h"
#include "nodes/schema/node.h"

#include <span>

namespace cudnn_frontend::nodes {

enum class Direction { Input, Output };
enum class Presence { Required, Optional };

struct PortRow {
    int port;          // index into Node::ports
    char const* name;  // as in messages and JSON
    Direction direction;
    Presence presence;
    char const* summary;
    bool is_inner = false;  // between attention and its modifier: scores that it shows, or what it reads in their place
};

// The type that a node computes in: one that the program names, FLOAT unless it names another, or none, since it only
// moves elements.
enum class Computes { InNamedType, InFloat, Nothing };

struct GraphSpec;
class RuleScope;
using Rule = core::RuleFor<RuleScope>;

struct NodeSchema {
    NodeKind kind;
    char const* tag;  // in JSON and printing
    int port_count;   // size of Node::ports
    std::span<PortRow const> ports;
    std::span<Field const> fields;
    // Fills data types, dims and strides of the node's output tensors where they are empty.
    void (*infer)(GraphSpec& graph, Node const& node);
    std::span<Rule const> (*rules)();
    Computes computes = Computes::InNamedType;
};

NodeSchema const& schema_of(NodeKind kind);
std::span<NodeSchema const* const> all_schemas();

// Calls visit(row, tensor id) for each connected port of a direction.
template <class Visit>
void for_each_port(Node const& node, Direction direction, Visit const& visit) {
    for (PortRow const& row : schema_of(node.kind()).ports) {
        TensorId const id = node.ports[static_cast<std::size_t>(row.port)];
        if (row.direction == direction && id != kNoTensor) visit(row, id);
    }
}

// The object that the schema's fields read and write.
void const* fields_object(Node const& node);
void* fields_object(Node& node);

// A node of the kind with default fields and unconnected ports.
Node make_node(NodeKind kind);

// The port's name for messages; "?" for a port that the kind does not have.
char const* port_name(NodeKind kind, int port);

// Joins tables at compile time.
template <class Row, std::size_t A, std::size_t B>
constexpr std::array<Row, A + B> join(std::array<Row, A> const& a, std::array<Row, B> const& b) {
    return [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>, std::index_sequence<J...>) {
        return std::array<Row, A + B>{a[I]..., b[J]...};
    }
    (std::make_index_sequence<A>(), std::make_index_sequence<B>());
}

// The strides of a packed tensor {B, H, S, D} whose rows hold all heads: the layout of sequences of different lengths.
core::Dims rows_first_strides(core::Dims const& dim);

// Fills an output's dims and packed strides, and its type, where they are empty; nothing where no tensor is connected.
void infer_output(TensorSpec* tensor, core::Dims const& dim);
void infer_output(TensorSpec* tensor, core::Dims const& dim, DataType_t type);
}  // namespace cudnn_frontend::nodes
