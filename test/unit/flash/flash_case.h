// A call of the functions on sequences with data, and its comparison with the formulas.
#pragma once

#include "support/buffers.h"

#include <sdpa_graph/flash.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flash_test {

using namespace sdpa_test;

struct Sequence {
    std::int64_t queries, keys;
};

// Padded tensors have sequences of one size. For packed ones, `used` are the keys that seqused_k names.
struct Case {
    std::vector<Sequence> sequences;
    bool is_packed = false;
    std::int64_t heads = 2, key_heads = 2, width = 8;
    DataType_t type = DataType_t::HALF;
    bool is_causal = false;
    int left = -1, right = -1;
    float softcap = 0.0f, p_dropout = 0.0f;
    int dims_of_slopes = 0;
    std::vector<std::int32_t> used;
    std::int64_t page_rows = 0;
    bool zero_tensors = false, is_interleaved = false;    // q, k and v are views of one buffer, row by row
    std::optional<std::int64_t> most_queries, most_keys;  // if they are more than the longest
    std::optional<cudnn_frontend::Target> target;
    bool is_as_on_gpu = false;       // except attention itself
    bool has_shared_totals = false;  // cu_seqlens_q and cu_seqlens_k are one tensor
    bool has_log_sums_by_row = false;
    sdpa_graph::Shape_policy shape_policy = sdpa_graph::Shape_policy::AUTO;
    std::uint64_t seed = 1;
};

std::string describe(Case const& c);

// Forward, and backward where there are no pages and no used keys. Empty if all is as the formulas have it.
std::string faults_of(Case const& c);

// The works on rows of a case as on a GPU, by name, or why it failed.
std::vector<std::string> works_of(Case const& c);

// The share of p's entries that are negative, in a padded case with dropout.
double share_dropped(Case const& c);

}  // namespace flash_test
