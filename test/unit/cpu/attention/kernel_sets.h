// The kernels that tests force one after the other.
#pragma once

#include "cpu/attention/kernels/attention_kernels.h"

#include <vector>

namespace attention_test {

// Kernels that run on this machine; where it has AVX-512 with BFLOAT16 also those for AMX with tiles in plain C++.
std::vector<cudnn_frontend::cpu::Kernels const*> kernel_sets();

// The sets of kernels that multiply pairs of BFLOAT16 numbers.
std::vector<cudnn_frontend::cpu::Kernels const*> kernel_sets_with_pairs();

// The library runs these kernels as long as this lives.
class Forced {
   public:
    explicit Forced(cudnn_frontend::cpu::Kernels const* kernels) { cudnn_frontend::cpu::force_kernels(kernels); }
    ~Forced() { cudnn_frontend::cpu::force_kernels(nullptr); }
    Forced(Forced const&) = delete;
    Forced& operator=(Forced const&) = delete;
};

}  // namespace attention_test
