// Whether two tensors have an element in common.
#pragma once

#include "pipeline/pack.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace cudnn_frontend::pipeline {

// Exact for tensors that one pointer starts, that have gaps nowhere, or that have the same strides (such as Q, K and V
// interleaved in one buffer). Tensors of different strides that interleave share memory unless a period shows that they
// do not, of which each uses a part of its own (such as O and Stats side by side in each row of a buffer): a sharing is
// never missed, and an interleaving without such a period is refused.
bool share_memory(Slot const& a, void const* a_data, Slot const& b, void const* b_data);

// A tensor in memory; of a ragged one its sequences, in order and apart from each other.
struct Placed {
    Slot const& slot;
    void const* data;
    cpu::PackedSequences const& sequences;
};

// The same of tensors that may be ragged, whose rows alone count.
bool share_memory(Placed const& a, Placed const& b);

// From the first byte to past the last that a tensor may lie at.
struct Extent {
    std::intptr_t begin, end;
};
Extent extent_of(Slot const& slot, void const* data);  // of a ragged tensor: of a sequence that starts with it
Extent extent_of(Placed const& tensor);

// Calls visit(a, b) once for each pair of slots of which one is written and whose extents meet, in any order.
template <class Visit>
void for_each_meeting(std::vector<Slot> const& slots, std::span<Extent const> extents, Visit const& visit);

// Of a ragged tensor: rows of one of its sequences, at least one.
Slot sequence_slot(Slot const& ragged, std::int64_t rows);

// A sweep over the addresses. Those that began before and have not ended yet are kept apart, the written ones and the
// others, so that inputs that share memory with each other cost nothing.
template <class Visit>
void for_each_meeting(std::vector<Slot> const& slots, std::span<Extent const> extents, Visit const& visit) {
    SlotList<std::size_t> order(slots.size()), written(slots.size()), others(slots.size());
    std::size_t written_count = 0, other_count = 0;
    auto const meet = [&](std::size_t at, std::span<std::size_t> open, std::size_t& count) {
        for (std::size_t i = 0; i < count;) {
            bool const has_ended = extents[open[i]].end <= extents[at].begin;
            if (has_ended) open[i] = open[--count];
            else visit(open[i++], at);
        }
    };
    std::iota(order.all().begin(), order.all().end(), std::size_t{0});
    std::ranges::sort(order.all(), {}, [&](std::size_t i) { return extents[i].begin; });
    for (std::size_t const at : order.all()) {
        meet(at, written.all(), written_count);
        if (slots[at].is_written) {
            meet(at, others.all(), other_count);
            written.all()[written_count++] = at;
        } else {
            others.all()[other_count++] = at;
        }
    }
}

}  // namespace cudnn_frontend::pipeline
