// How far two correct results may differ, computed from the results themselves: the reference runs the graph, with all
// 16-bit tensors as FLOAT, on inputs perturbed by some roundings, which shows how far each output moves.
#pragma once

#include "fuzz/graphs/runs.h"

namespace fuzz {

struct Bounds {
    // The bounds by uid, for each element of the memory; infinite if there is none.
    std::map<std::int64_t, std::vector<double>> allowed;
    // Whether all numbers are so small that infinities arise only from infinities in the inputs: FLOAT overflows far
    // earlier than the reference's arithmetic.
    bool is_moderate = false;
};

// Empty if the graph cannot run so.
std::optional<Bounds> bounds_of(GraphDocument const& c, std::vector<Place> const& places, Data const& data);

// Describes the first element of the place that differs by more; empty if there is none.
enum class Infinities { MustAgree, MayDiffer };
std::string difference(Place const& place, std::vector<std::byte> const& a, std::vector<std::byte> const& b,
                       std::vector<double> const& allowed, Infinities infinities);

}  // namespace fuzz
