// A call of forward and backward with data, and its comparison with the formula.
#pragma once

#include "support/buffers.h"

#include <sdpa_graph/attention.h>

#include <optional>
#include <string>
#include <vector>

namespace attention_test {

using namespace sdpa_test;
using sdpa_graph::Shape_policy;

struct Sequence {
    std::int64_t queries, keys;
};

// The order of the dims of padded tensors in memory.
enum class Order { Bshd, Bhsd, Sbhd };

struct Orders {
    Order q = Order::Bshd, k = Order::Bshd, v = Order::Bshd, o = Order::Bshd, grad_o = Order::Bshd, grads = Order::Bshd;
};

// A side is packed, with rows of no sequence in front and at the end, or padded to the longest sequence and `room`
// rows.
struct Side {
    bool is_packed = false;
    bool has_lengths = false;  // without them all sequences of a padded side are as long as the tensor
    std::int64_t room = 0;
};

struct Case {
    std::vector<Sequence> sequences;
    Side of_q, of_kv;
    std::int64_t heads = 2, key_heads = 2, value_heads = 2, width = 16, value_width = 16;
    std::int64_t gap = 0;  // elements between the heads, or rows, of all tensors
    DataType_t type = DataType_t::HALF;
    Orders orders;
    std::optional<std::int64_t> left, right;
    bool is_bottom_right = false, has_alibi = false, has_sink = false, is_deterministic = false;
    std::optional<float> softcap;
    float dropout_p = 0.0f;
    bool gives_results = false;  // memory between guards; otherwise the allocator's
    Shape_policy policy = Shape_policy::CLASSES;
    std::optional<cudnn_frontend::Target> target;
    std::uint64_t seed = 1;

    bool has_alike_sequences(std::int64_t Sequence::*length) const;
};

std::string describe(Case const& c);

// The differences from the formula in the results of both passes, the rows of no sequence that are not 0, and whether
// memory around results was written. Empty if nothing is wrong.
std::string faults_of(Case const& c);

}  // namespace attention_test
