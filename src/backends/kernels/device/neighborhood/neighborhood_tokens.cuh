// Neighborhood attention with a warp for each token: which token it is, which others are visible to it or see it, and
// the joint work of the lanes. Each lane handles one of 32 of these others at a time; then the lanes share the columns
// of a row.
#pragma once

#include <neighborhood/neighborhood_arguments.h>
#include <elements.cuh>
#include <warp.cuh>

using cudnn_frontend::kernels::kMostAxes;
using cudnn_frontend::kernels::NeighborhoodAccess;
using cudnn_frontend::kernels::NeighborhoodArguments;
using cudnn_frontend::neighborhood::Axis;
using cudnn_frontend::neighborhood::Positions;

constexpr int kLanes = 32, kTokenWarps = 4;

struct Token {
    long long batch, head, at[kMostAxes];
};

inline long long tokens_of(NeighborhoodArguments const& arguments) {
    long long count = arguments.batches * arguments.heads;
    for (Axis const& axis : arguments.axes) count *= axis.length;
    return count;
}

// The number of the warp's token; there may be more warps than tokens.
inline long long token_index() { return static_cast<long long>(blockIdx.x) * kTokenWarps + threadIdx.x / kLanes; }

// Neighbors along the last axis come one after the other, since they read the same rows.
inline Token token_of(NeighborhoodArguments const& arguments, long long index) {
    Token token;
    for (int axis = kMostAxes; axis-- > 0;) {
        token.at[axis] = index % arguments.axes[axis].length;
        index /= arguments.axes[axis].length;
    }
    token.head = index % arguments.heads;
    token.batch = index / arguments.heads;
    return token;
}

template <class Element>
inline Element* row_of(NeighborhoodAccess const& tensor, Token const& token) {
    long long offset = token.batch * tensor.batch + token.head * tensor.head;
    for (int axis = 0; axis < kMostAxes; ++axis) offset += token.at[axis] * tensor.space[axis];
    return static_cast<Element*>(tensor.start) + offset;
}

// A key that is visible to a token, or a query that sees it.
struct VisibleToken {
    bool is_there;
    Token token;
};

// The keys that are visible to a query, by slots, of which some are empty if an axis is causal. Slots are fewer than
// 2^31.
class KeyWindow {
   public:
    KeyWindow(NeighborhoodArguments const& arguments, Token const& query) : axes_(arguments.axes), query_(query) {
        for (int axis = 0; axis < kMostAxes; ++axis) {
            keys_[axis] = keys_of(axes_[axis], query.at[axis]);
            count_ *= static_cast<unsigned>(axes_[axis].kernel);
        }
    }

    unsigned count() const { return count_; }
    VisibleToken operator[](unsigned slot) const {
        VisibleToken visible{slot < count_, query_};
        for (int axis = kMostAxes; axis-- > 0;) {
            unsigned const kernel = static_cast<unsigned>(axes_[axis].kernel), at = slot % kernel;
            slot /= kernel;
            visible.is_there = visible.is_there && at < keys_[axis].count;
            visible.token.at[axis] = keys_[axis].first + at * axes_[axis].dilation;
        }
        return visible;
    }

   private:
    Axis const* axes_;
    Token query_;
    Positions keys_[kMostAxes];
    unsigned count_ = 1;
};

// The queries that see a key.
class InverseWindow {
   public:
    InverseWindow(NeighborhoodArguments const& arguments, Token const& key) : axes_(arguments.axes), key_(key) {
        for (int axis = 0; axis < kMostAxes; ++axis) {
            Positions const queries = queries_of(axes_[axis], key.at[axis]);
            first_[axis] = queries.first;
            counts_[axis] = static_cast<unsigned>(queries.count);
            count_ *= counts_[axis];
        }
    }

    unsigned count() const { return count_; }
    VisibleToken operator[](unsigned number) const {
        VisibleToken visible{number < count_, key_};
        for (int axis = kMostAxes; axis-- > 0;) {
            visible.token.at[axis] = first_[axis] + number % counts_[axis] * axes_[axis].dilation;
            number /= counts_[axis];
        }
        return visible;
    }
    // The slot of the key in the window of a query that sees it.
    long long slot_for(Token const& query) const {
        long long slot = 0;
        for (int axis = 0; axis < kMostAxes; ++axis) {
            long long const first_key = keys_of(axes_[axis], query.at[axis]).first;
            slot = slot * axes_[axis].kernel + (key_.at[axis] - first_key) / axes_[axis].dilation;
        }
        return slot;
    }

   private:
    Axis const* axes_;
    Token key_;
    long long first_[kMostAxes];
    unsigned counts_[kMostAxes];
    unsigned count_ = 1;
};

// The product of the rows of two tokens. If they are read by vectors, both tensors have their columns next to each
// other.
template <class Element>
inline float dot(NeighborhoodArguments const& arguments, NeighborhoodAccess const& a, Token const& of_a,
                 NeighborhoodAccess const& b, Token const& of_b) {
    Element const* const x = row_of<Element const>(a, of_a);
    Element const* const y = row_of<Element const>(b, of_b);
    float sum = 0;
    if (!arguments.by_vectors) {
        for (int i = 0; i < arguments.columns; ++i) sum += to_float(x[i * a.column]) * to_float(y[i * b.column]);
        return sum;
    }
    constexpr int kCount = 16 / sizeof(Element);
    for (int i = 0; i < arguments.columns; i += kCount) {
        ElementRun<Element, kCount> of_x, of_y;
        of_x.load(x + i);
        of_y.load(y + i);
        for (int j = 0; j < kCount; ++j) sum += to_float(of_x.elements[j]) * to_float(of_y.elements[j]);
    }
    return sum;
}

// The term added to the score of a query and a visible key.
template <class Element>
inline float bias_of(NeighborhoodArguments const& arguments, Token const& query, Token const& key) {
    NeighborhoodAccess const& bias = arguments.tensors[cudnn_frontend::kernels::NeighborhoodTensor::Bias];
    if (bias.start == nullptr) return 0;
    Token entry = query;
    entry.batch = 0;
    for (int axis = 0; axis < kMostAxes; ++axis) {
        Axis const& along = arguments.axes[axis];
        entry.at[axis] = (key.at[axis] - query.at[axis]) / along.dilation + along.kernel - 1;
    }
    return to_float(*row_of<Element const>(bias, entry));
}

// A lane's columns of a row, from `first` on: every 32nd.
template <int COUNT>
struct Columns {
    float sums[COUNT] = {};

    // Adds the rows of the lanes' tokens, each times the lane's weight. A token that is not there has the weight 0.
    template <class Element>
    void add_rows(NeighborhoodArguments const& arguments, NeighborhoodAccess const& tensor, int first,
                  VisibleToken const& visible, float weight) {
        long long const row = row_of<Element const>(tensor, visible.token) - static_cast<Element const*>(tensor.start);
        for (unsigned there = ballot(visible.is_there); there != 0; there &= there - 1) {
            int const lane = lowest_bit(there);
            float const weight_of_row = from_lane(weight, lane);
            Element const* const start = static_cast<Element const*>(tensor.start) + from_lane(row, lane);
            for (int i = 0; i < COUNT; ++i) {
                int const column = first + i * kLanes + lane_index();
                if (column < arguments.columns) sums[i] += weight_of_row * to_float(start[column * tensor.column]);
            }
        }
    }

    template <class Element>
    void store(NeighborhoodArguments const& arguments, NeighborhoodAccess const& tensor, int first, Token const& token,
               float factor) const {
        Element* const row = row_of<Element>(tensor, token);
        for (int i = 0; i < COUNT; ++i) {
            int const column = first + i * kLanes + lane_index();
            if (column < arguments.columns) assign(row[column * tensor.column], sums[i] * factor);
        }
    }
};

// The result is the same in all lanes.
inline float sum_of_lanes(float x) {
    for (int step = kLanes / 2; step > 0; step /= 2) x += from_lane_across(x, step);
    return x;
}
inline float largest_of_lanes(float x) {
    for (int step = kLanes / 2; step > 0; step /= 2) x = fmaxf(x, from_lane_across(x, step));
    return x;
}
