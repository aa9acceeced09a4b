// The rewrites, each with the conditions under which it applies. A program of a graph that fails one is an error that
// says which.
#pragma once

#include "rewrite/attention_node.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cudnn_frontend::rewrite {

// --- Bands

// Backward of a band, a two-sided window or one at the bottom right, as a causal window at the top left, which engines
// compute without the tiles outside: seen from keys that are shifted by the right bound, it is one. The first queries
// also see keys before the shift, and the last ones have no diagonal: these borders are computed on their own and
// added.

std::span<Condition const> bands_conditions();

Result<Program> bands(Attention const& attention);

// --- Classes of shapes

// Attention as one of a class of shapes, whose graphs differ from each other in nothing: over packed sequences, with
// sizes that are rounded up and tables that say where each sequence is. So that one plan serves all shapes of a class.

inline constexpr char const* kNameOfClasses = "classes";

Result<Program> classes(Attention const& attention);

// --- Converted tensors

// A program converts lengths and Stats of types that engines do not take.
Result<Program> converted(Attention const& attention);

// --- Deterministic gradients

// Backward by the deterministic algorithm, for which engines have kernels of their own: of some head dims these are
// faster, though they keep all scores in memory.

std::span<Condition const> deterministic_conditions();

Result<Program> deterministic(Attention const& attention);

// --- Few queries

// Forward attention of few queries over many keys: the query heads that share a head of keys become rows of one, and
// the keys are split, so that engines that work by tiles of rows and heads fill the GPU. Partial results are merged.

std::span<Condition const> few_queries_conditions();

// The keys are in so many splits of equal size. The rest is one more part, as is the end of a causal mask.
Result<Program> few_queries(Attention const& attention, std::int64_t splits);

// --- Neighborhoods as bands

// Neighborhood attention along one axis as attention of other engines. The windows of most queries are a band around
// the diagonal; those of the first queries are one range of keys, and so are those of the last. The groups of a
// dilation are heads, which strides alone make them.
Result<Program> neighborhood_band(nodes::ValidatedGraph const& graph);

// --- Slices

// Backward attention in slices of heads or batch entries, one after the other, so that a workspace that grows with the
// number of heads is that of a slice.

std::span<Condition const> slices_conditions();

// The numbers of slices, up to a thousand, that divide heads and batch entries; ascending, without 1.
std::vector<std::int64_t> slice_counts(Attention const& attention);

Result<Program> slices(Attention const& attention, std::int64_t count);

}  // namespace cudnn_frontend::rewrite
