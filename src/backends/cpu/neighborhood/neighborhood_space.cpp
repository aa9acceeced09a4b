#include "cpu/neighborhood/neighborhood_tiles.h"

#include <algorithm>

namespace cudnn_frontend::cpu {
namespace {

std::array<std::int64_t, 2> places_of(neighborhood::Positions const& positions, std::int64_t dilation) {
    std::int64_t const first = positions.first / dilation;
    return {first, first + positions.count};
}

std::int64_t divide_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

std::int64_t longest_dilation_group(neighborhood::Axis const& axis) { return divide_up(axis.length, axis.dilation); }

// The number of keys, along one axis, that are visible to any of several adjacent queries.
std::int64_t keys_together(neighborhood::Axis const& axis, std::int64_t queries) {
    return std::min<std::int64_t>(queries + axis.kernel - 1, longest_dilation_group(axis));
}

}  // namespace

GridPlace Box::at(std::int64_t index) const {
    return {first[0] + index / (extent(1) * extent(2)), first[1] + index / extent(2) % extent(1),
            first[2] + index % extent(2)};
}

std::array<std::int64_t, 2> DilationGroup::keys_of(std::size_t axis, std::int64_t query) const {
    return places_of(neighborhood::keys_of(axes[axis], position(axis, query)), axes[axis].dilation);
}

std::array<std::int64_t, 2> DilationGroup::queries_of(std::size_t axis, std::int64_t key) const {
    return places_of(neighborhood::queries_of(axes[axis], position(axis, key)), axes[axis].dilation);
}

// Both ends of windows ascend with the place.
Box DilationGroup::keys_of(Box const& queries) const {
    Box keys;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        keys.first[axis] = keys_of(axis, queries.first[axis])[0];
        keys.end[axis] = keys_of(axis, queries.end[axis] - 1)[1];
    }
    return keys;
}

Box DilationGroup::queries_of(Box const& keys) const {
    Box queries;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        queries.first[axis] = queries_of(axis, keys.first[axis])[0];
        queries.end[axis] = queries_of(axis, keys.end[axis] - 1)[1];
    }
    return queries;
}

Division::Division(NeighborhoodProblem const& problem, std::int64_t most_tokens) : problem_(problem) {
    auto const growth = [&](std::size_t axis) {
        neighborhood::Axis const& along = problem.axes[axis];
        return static_cast<double>(keys_together(along, 2 * shape_[axis])) /
               static_cast<double>(keys_together(along, shape_[axis]));
    };
    for (std::int64_t tokens = 1; 2 * tokens <= most_tokens; tokens *= 2) {
        // Among equal axes the last one is chosen, along which tokens are adjacent in memory.
        std::size_t best = 3;
        for (std::size_t axis = 3; axis-- > 0;) {
            if (shape_[axis] >= longest_dilation_group(problem.axes[axis])) continue;
            if (best == 3 || growth(axis) < growth(best)) best = axis;
        }
        if (best == 3) break;
        shape_[best] *= 2;
    }
    for (std::size_t axis = 0; axis < 3; ++axis)
        counts_[axis] = divide_up(longest_dilation_group(problem.axes[axis]), shape_[axis]);
}

std::int64_t Division::blocks_of_head() const {
    std::int64_t blocks = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) blocks *= problem_.axes[axis].dilation * counts_[axis];
    return blocks;
}

TokenBlock Division::block(std::int64_t index) const {
    auto const take = [&](std::int64_t count) {
        std::int64_t const digit = index % count;
        index /= count;
        return digit;
    };
    GridPlace number, phase;
    for (std::size_t axis = 3; axis-- > 0;) number[axis] = take(counts_[axis]);
    for (std::size_t axis = 3; axis-- > 0;) phase[axis] = take(problem_.axes[axis].dilation);
    std::int64_t const h = take(problem_.heads);
    TokenBlock block{index, h, {problem_.axes, phase}, {}};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        std::int64_t const length = block.group.length(axis);
        block.box.first[axis] = std::min(number[axis] * shape_[axis], length);
        block.box.end[axis] = std::min(block.box.first[axis] + shape_[axis], length);
    }
    return block;
}

std::int64_t Division::greatest_extents() const {
    std::int64_t sum = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) sum += keys_together(problem_.axes[axis], shape_[axis]);
    return sum;
}

QueryLanes lanes_of(DilationGroup const& group, Box const& queries, std::int64_t index, std::int64_t lanes) {
    QueryLanes result;
    result.count = std::min(lanes, queries.count() - index);
    for (std::int64_t lane = 0; lane < result.count; ++lane) {
        GridPlace const place = queries.at(index + lane);
        auto const at = static_cast<std::size_t>(lane);
        result.places[at] = place;
        for (std::size_t axis = 0; axis < 3; ++axis) result.first_keys[at][axis] = group.keys_of(axis, place[axis])[0];
    }
    return result;
}

Visibility::Visibility(DilationGroup const& group, QueryLanes const& lanes, Box const& keys, LaneMask* memory)
    : first_(keys.first) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        std::fill_n(memory, keys.extent(axis), 0);
        seen_[axis] = memory;
        for (std::int64_t lane = 0; lane < lanes.count; ++lane) {
            auto const [first, end] = group.keys_of(axis, lanes.places[static_cast<std::size_t>(lane)][axis]);
            std::int64_t const last = std::min(end, keys.end[axis]);
            for (std::int64_t key = std::max(first, keys.first[axis]); key < last; ++key)
                seen_[axis][key - first_[axis]] |= LaneMask{1} << lane;
        }
        memory += keys.extent(axis);
    }
}

}  // namespace cudnn_frontend::cpu
