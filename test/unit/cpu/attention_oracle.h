// Attention by plain loops in double: what the fused kernels are compared with.
#pragma once

#include "attention_case.h"

#include <vector>

namespace attention_test {

// Row-major without gaps, in the tensors' dims.
using Numbers = std::vector<double>;

struct ForwardNumbers {
    Numbers o, stats, dropout_mask;
};
ForwardNumbers forward_oracle(Case const& test, Data const& data);

struct BackwardNumbers {
    Numbers d_q, d_k, d_v, d_bias;
};
// From the O and stats that `data` holds.
BackwardNumbers backward_oracle(Case const& test, Data const& data);

}  // namespace attention_test
