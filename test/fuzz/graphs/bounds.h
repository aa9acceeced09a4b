// How far two right answers may lie apart, computed from the answers themselves: the reference runs the graph, with all
// tensors of 16 bits as FLOAT, on inputs that are off by some roundings, and shows how far each output moves.
#pragma once

#include "fuzz/graphs/runs.h"

namespace fuzz {

struct Bounds {
    // By uid, for each element of the memory; infinite where nothing can be said.
    std::map<std::int64_t, std::vector<double>> allowed;
    // Whether all numbers are so small that nothing but an infinity among the inputs makes one: FLOAT ends far earlier
    // than the reference's arithmetic.
    bool is_moderate = false;
};

// Nothing where the graph has no such run.
std::optional<Bounds> bounds_of(GraphCase const& c, std::vector<Place> const& places, Data const& data);

// The first element of the place in which the two differ by more; empty if there is none.
enum class Infinities { MustAgree, MayDiffer };
std::string difference(Place const& place, std::vector<std::byte> const& a, std::vector<std::byte> const& b,
                       std::vector<double> const& allowed, Infinities infinities);

}  // namespace fuzz
