// Valid calls of both functions, which tests change in one place.
#pragma once

#include "support/buffers.h"

#include <sdpa_graph/attention.h>

namespace attention_test {

using namespace sdpa_test;
namespace attention = sdpa_graph::attention;

enum class Kind { Padded, Packed, Paged };

// Two sequences with four heads of queries and two of keys, of 8 elements. Padded ones have 3 queries and 5 keys,
// packed ones 2 and 3 queries and 4 and 5 keys, and pages have 4 rows.
class Example {
   public:
    explicit Example(Kind kind = Kind::Padded);

    attention::Inputs inputs;
    attention::Options options;
    Tensor_view grad_o, o, stats;  // the inputs of backward
    attention::Forward_results forward_results;
    attention::Backward_results backward_results;
    Arena arena;
    sdpa_graph::Place place;

    // The buffer's view; its memory is kept.
    Tensor_view kept(Buffer const& buffer) { return arena.buffers.emplace_back(buffer).view(); }
    Tensor_view made(DataType_t type, Dims const& dim);
    Tensor_view integers(std::vector<std::int32_t> const& values) { return kept(Buffer::integers(values)); }

    void add_bias();
    void add_sink();
    void add_dropout();

    cudnn_frontend::error_object forward(bool wants_stats = true);
    cudnn_frontend::error_object backward();

   private:
    sdpa_test::Random random_{11};
};

}  // namespace attention_test
