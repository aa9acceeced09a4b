// Attention of one sequence by the formulas of docs/flash.md, in double, written independently of the library.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace flash_test {

enum class Function { MhaFwd, MhaVarlenFwd };

// The settings that decide which pairs are kept. Sizes are the padded ones, or the longest of the call.
struct Masking {
    Function function;
    std::int64_t queries, keys;
    bool is_causal;
    std::int64_t left, right;  // negative: unbounded
    bool has_slopes;
};

struct Formula {
    Masking masking;
    double scale = 1.0, softcap = 0.0, p_dropout = 0.0;
    std::int64_t queries = 0, keys = 0, width = 0;  // of this sequence
    // The rows of q, k, v and dout of one query head.
    std::vector<double> q, k, v, dout;
    double slope = 0.0;
    std::vector<bool> kept;  // by dropout, {queries, keys}; empty without
};

struct Answer {
    std::vector<double> out, log_sums, probabilities;  // +inf in rows without keys
    std::vector<double> dq, dk, dv, softmax_d;
};

Answer evaluate(Formula const& formula);

}  // namespace flash_test
