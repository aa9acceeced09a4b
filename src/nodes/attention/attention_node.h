// Questions about an attention node that several layers ask: pages and the number of keys, 8-bit attention, the unified
// implementation, dropout.
#pragma once

#include "nodes/schema/graph_spec.h"
#include "nodes/schema/node.h"

#include <array>
#include <span>

namespace cudnn_frontend::nodes {

// K and V in pages, and the one place that says how many keys attention has: the dims of a container do not say so.

// The port of the table that says where the pages of K or V are.
int page_table_port(int port);
// Whether K or V, the tensor of this port, is a container of pages.
bool is_paged(Node const& node, int port);
bool has_pages(Node const& node);

// Whether a node has lengths of queries and of keys, as they are or as sums.
bool has_lengths(Node const& node);
// Sets the padding mask of a node with pages and lengths, which alone say how many keys are in the pages; says whether
// it was not set.
bool imply_padding(Node& node);

// Rows of a page of K or V.
std::int64_t page_size(GraphSpec const& graph, Node const& node, int port);
// Pages that hold this many keys, at least one.
std::int64_t pages_for(std::int64_t keys, std::int64_t page_size);

// Skv: the length of K, or of V, whichever is not paged. Where both are, in this order: the number that the node
// states, the columns of the bias, those of the dump, the number of keys for which the tables have room. 0 where none
// of these is known.
std::int64_t key_count(GraphSpec const& graph, Node const& node);

// {B, Hq, Sq, Skv}; empty where Q or the key count is not known.
core::Dims score_dims(GraphSpec const& graph, Node const& node);
// The same and the width of V; all unknown where the scores are.
attention::Sizes attention_sizes(GraphSpec const& graph, Node const& node);

// 8-bit attention: the same node as other attention, whose tensors of 8 bits come with factors, and whose results come
// with their greatest magnitudes. Each tensor has one factor or, in block-scaled attention, one for each 32 numbers.

// Whether only 8-bit attention has the port: a factor where it is an input, a greatest magnitude where it is an output.
constexpr bool is_fp8_port(int port) { return attention::operand(port).part == attention::Part::Fp8; }
// Whether only block-scaled attention has the port.
constexpr bool is_block_port(int port) { return attention::operand(port).part == attention::Part::Blocks; }

// Whether the node is 8-bit attention: it has such a port connected, or says that it is block-scaled. Builders always
// connect the greatest magnitudes.
bool is_fp8(Node const& node);
bool is_block_scaled(Node const& node);

// A tensor of block-scaled attention, the port of its scales, and the axis that its product sums over, along which 32
// numbers share a scale.
struct BlockScaled {
    int tensor;
    int scale;
    std::size_t axis;
};
// Empty for attention that is not block-scaled.
std::span<BlockScaled const> block_scaled_ports(Node const& node);

// Which forward attention asks for the implementation UNIFIED, and which properties decide where the choice is left
// open.

// The port of the first cumulative lengths that mask padding; -1 where each sequence has a length.
int sums_port(Node const& node);
// The port of the first tensor whose ragged offset counts several elements as one; -1 where there is none.
int multiplied_port(GraphSpec const& graph, Node const& node);
bool unfuses_multiplication(Node const& node);

bool asks_for_unified(Node const& node);  // set_implementation(UNIFIED) was called
// Whether it is forward attention with a block mask, cumulative lengths, an offset's multiplier or unfused
// multiplication.
bool needs_unified(GraphSpec const& graph, Node const& node);
bool is_told_as_unified(GraphSpec const& graph, Node const& node);  // asks for it or needs it

// The two tensors of dropout by a mask may be given in either order, since their product is the same. Exchanges a
// node's mask and scale where each is in the other's place, and returns whether it did. Looks at types and dims, which
// are inferred by then.
bool put_dropout_in_order(GraphSpec const& graph, Node& node);

}  // namespace cudnn_frontend::nodes
