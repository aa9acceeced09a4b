// Neighborhood attention of one head of one batch entry by its formulas, in double and written independently of the
// library.
#pragma once

#include <cstdint>
#include <vector>

namespace sdpa_test {

// The functions that the formulas are of, the first two with a softmax.
enum class NeighborhoodFunction { Forward, Backward, Qk, QkBackward, Av, AvBackward };
inline constexpr int kNeighborhoodFunctions = 6;

}  // namespace sdpa_test

namespace neighborhood_formula {

using Numbers = std::vector<double>;

struct Axis {
    std::int64_t length, kernel, dilation = 1;
    bool is_causal = false;
};

// Rows of tokens in row-major order of the axes.
struct Head {
    std::vector<Axis> axes;
    std::int64_t width = 0;
    double scale = 1.0;  // of the fused functions
    Numbers q, k, v;
    Numbers bias;  // row-major, 2 * kernel - 1 entries along each axis; empty where there is none

    std::int64_t tokens() const;
    std::int64_t slots() const;
    std::int64_t bias_entries() const;
};

// A key that is visible to a query.
struct Seen {
    std::int64_t key, slot, bias;
};

std::vector<Seen> keys_of(std::vector<Axis> const& axes, std::int64_t query);

struct Forward {
    Numbers o, stats;
};
struct Gradients {
    Numbers q, k, v, bias, attn;  // those that the function has
};

Forward fused_forward(Head const& head);
Gradients fused_backward(Head const& head, Numbers const& o, Numbers const& stats, Numbers const& d_o);

// attn has a row of slots for each query: -inf, in gradients 0, where a slot has no key.
Numbers qk_forward(Head const& head);
Gradients qk_backward(Head const& head, Numbers const& d_attn);
Numbers av_forward(Head const& head, Numbers const& attn);
Gradients av_backward(Head const& head, Numbers const& attn, Numbers const& d_o);

}  // namespace neighborhood_formula
