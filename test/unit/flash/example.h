// Valid calls of the four functions, which tests change in one place.
#pragma once

#include "support/buffers.h"

#include <sdpa_graph/flash.h>

#include <cstdint>

namespace flash_test {

using namespace sdpa_test;

// Two sequences of three queries and four keys, two heads of 8.
struct Padded {
    explicit Padded(Dims const& of_q = {2, 3, 2, 8}, Dims const& of_k = {2, 4, 2, 8});

    Buffer q, k, v, dout, out, log_sums, slopes, generator;
    sdpa_graph::flash::Optional_tensor out_, slopes_, generator_, dq_, dk_, dv_;
    Tensor_view seed, offset;
    float p_dropout = 0.0f, scale = 0.3f, softcap = 0.0f;
    bool is_causal = false, return_softmax = false;
    int left = -1, right = -1;
    Arena arena;
    sdpa_graph::flash::Place place;
    sdpa_graph::flash::Forward_results forward_results;
    sdpa_graph::flash::Backward_results backward_results;

    cudnn_frontend::error_t forward();
    cudnn_frontend::error_t backward();
};

// Sequences of two and three queries, and of four and one key.
struct Packed {
    Packed();

    Buffer q, k, v, dout, out, log_sums, slopes, generator, totals_q, totals_k;
    sdpa_graph::flash::Optional_tensor out_, slopes_, generator_, used_, table_, dq_, dk_, dv_;
    Tensor_view seed, offset;
    int most_q = 3, most_k = 4;
    float p_dropout = 0.0f, scale = 0.3f, softcap = 0.0f;
    bool is_causal = false, return_softmax = false, zero_tensors = false;
    int left = -1, right = -1;
    Arena arena;
    sdpa_graph::flash::Place place;
    sdpa_graph::flash::Forward_results forward_results;
    sdpa_graph::flash::Backward_results backward_results;

    // Keys in pages of 256 rows: so many pages, and a table of one column for each sequence.
    void use_pages(std::int64_t pages, std::vector<std::int32_t> const& entries);

    cudnn_frontend::error_t forward();
    cudnn_frontend::error_t backward();
};

}  // namespace flash_test
