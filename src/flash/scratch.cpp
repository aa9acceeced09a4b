#include "flash/scratch.h"

#include "core/saturating.h"
#include "flash/memory.h"

namespace sdpa_graph::flash {

using fe::core::saturating_add;
using fe::core::saturating_multiply;

std::int64_t Scratch::add(std::initializer_list<std::int64_t> factors) {
    constexpr std::int64_t kAlignment = 256;
    std::int64_t bytes = 1;
    for (std::int64_t const factor : factors) bytes = saturating_multiply(bytes, factor);
    std::int64_t const offset = bytes_;
    bytes_ = saturating_add(bytes_, saturating_add(bytes, kAlignment - 1) / kAlignment * kAlignment);
    return offset;
}

fe::Result<Scratch> Scratch::make(Call const& call, Shapes const& shapes, Sizes const& sizes, std::int64_t workspace) {
    constexpr std::int64_t kFloat = sizeof(float), kInteger = sizeof(int), kLong = sizeof(long long), kElement = 2;
    Scratch scratch;
    scratch.workspace_ = scratch.add({workspace});
    if (shapes.is_packed) {
        scratch.lengths_q_ = scratch.add({shapes.batches, kInteger});
        scratch.lengths_k_ = scratch.add({shapes.batches, kInteger});
        if (shapes.has_squares_apart) scratch.squares_ = scratch.add({shapes.batches, kInteger});
        std::size_t const count = starts_of(shapes).size();
        for (std::size_t i = 0; i < count; ++i) scratch.starts_[i] = scratch.add({shapes.batches + 1, kLong});
        scratch.table_ = scratch.add({shapes.batches, shapes.page_columns(), kInteger});
        std::int64_t const rows = shapes.gathers_queries ? shapes.batches : sizes.total_q;
        scratch.log_sums_ = scratch.add({rows, shapes.heads, kFloat});
    }
    if (shapes.gathers_queries) {
        scratch.q_ = scratch.add({shapes.batches, shapes.heads, shapes.width, kElement});
        scratch.out_ = scratch.add({shapes.batches, shapes.heads, shapes.width, kElement});
    }
    if (shapes.dumps_dropout)
        scratch.kept_ = scratch.add({shapes.batches, shapes.heads, shapes.queries, shapes.keys, kFloat});
    SDPA_GRAPH_TRY(
        calls::Workspace::make(asker_of(call), *call.at(Argument::Q), scratch.bytes_).move_to(scratch.memory_));
    return scratch;
}

}  // namespace sdpa_graph::flash
