// Made data for any graph: random numbers, and lengths, offsets, page tables and scales that fit the graph.
#pragma once

#include "data/memory.h"

#include <cstdint>
#include <optional>

namespace sdpa {

// Numbers of a tensor in the order of its indices, in place of made ones.
using Given_numbers = std::map<std::int64_t, std::vector<double>>;  // by uid

struct Data_options {
    std::uint64_t seed = 1;
    bool has_full_lengths = false;  // else the sequences have lengths of their own
    bool computes_forward = true;   // else O and Stats of backward are random, which only the time may depend on
    Given_numbers given = {};
};

// The document with a uid for each tensor, so that packs can name it.
Json with_uids(Json const& document);
// Such a document with the dims that its validated graph inferred, for reading: they are no part of the description.
Json with_dims(Json const& document, fe::graph::Graph const& graph);
// Whether a node of the document writes this tensor.
bool is_computed(Json const& document, std::string const& id);

// A built graph of such a document: memory for each tensor of its pack. Results are filled with NaN. Where backward
// needs O and Stats of forward, they are computed on the CPU.
Memories make_data(Json const& document, fe::graph::Graph const& graph, Data_options const& options);

// The tensors of the graph's pack, without data.
Memories describe_tensors(Json const& document, fe::graph::Graph const& graph);

// The graph of forward attention whose O and Stats the document's backward node reads; nothing where it has none.
std::optional<Json> forward_of(Json const& document);

// Memory for a plan, of which there may not be enough.
std::vector<std::byte> make_workspace(std::int64_t bytes);

// Builds the graph for a target of the host and runs it once.
void run_on_host(Json const& document, fe::Target const& target, Memories& memories);

}  // namespace sdpa
