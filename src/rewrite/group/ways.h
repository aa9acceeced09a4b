// The ways in which a group computes an attention, each a function from the graph of a rank's part to the rank's
// program.
#pragma once

#include "group/task.h"
#include "rewrite/attention_node.h"

#include <string>

namespace cudnn_frontend::rewrite {

// All rules that the graph and the group break, as one error. The target and the settings have rules of their own.
error_t check_in_group(nodes::ValidatedGraph const& graph, group::Task const& task);

// Why GATHER cannot compute the attention; empty where it can.
std::string obstacle_to_gather(Attention const& attention);
// Whether ALL_TO_ALL can.
bool can_be_by_heads(Attention const& attention, group::Task const& task);

// Each rank gets the keys and values that its queries see, in stages of heads, and attends to them chunk by chunk. In
// backward the partial gradients of keys go to the ranks that own them, where they are summed in the sequence's order.
Result<Program> gather(Attention const& attention, group::Task const& task, int stages);

// Each rank gets all tokens of its share of the heads, attends to them as one attention, and gives the results back.
Result<Program> all_to_all(Attention const& attention, group::Task const& task);

// Why RING cannot; empty where it can.
std::string obstacle_to_ring(Attention const& attention, group::Task const& task);

// Shards of keys and values go round. Each rank attends to those that it sees, and joins the parts by their Stats. In
// backward a shard's gradients go round behind it, and each rank adds its own: memory does not grow with the ranks.
Result<Program> ring(Attention const& attention, group::Task const& task);

// The program of the way that the task says, or of the one that is expected to wait least.
Result<Program> program_in_group(nodes::ValidatedGraph const& graph, group::Task const& task);

}  // namespace cudnn_frontend::rewrite
