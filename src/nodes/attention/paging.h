// K and V in pages, and the one place that says how many keys attention has: the dims of a container do not say so.
#pragma once

#include "nodes/schema/graph_spec.h"

namespace cudnn_frontend::nodes {

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

}  // namespace cudnn_frontend::nodes
