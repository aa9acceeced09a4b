#include "cpu/attention/attention_kernels.h"

#include <array>

namespace cudnn_frontend::cpu {

extern Kernels const kBaselineKernels;
#ifdef SDPA_GRAPH_X86_KERNELS
extern Kernels const kAvx2Kernels;
extern Kernels const kAvx512Kernels;
extern Kernels const kAvx512Bf16Kernels;
#endif

namespace {

using KernelList = std::array<Kernels const*, 5>;

KernelList find_kernels() {
    KernelList list{};
    std::size_t count = 0;
#ifdef SDPA_GRAPH_X86_KERNELS
    bool const has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool const has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (has_avx512 && __builtin_cpu_supports("avx512bf16")) list[count++] = &kAvx512Bf16Kernels;
    if (has_avx512) list[count++] = &kAvx512Kernels;
    if (has_avx2) list[count++] = &kAvx2Kernels;
#endif
    list[count] = &kBaselineKernels;
    return list;
}

}  // namespace

Kernels const* const* available_kernels() {
    static KernelList const list = find_kernels();
    return list.data();
}

Kernels const& kernels() { return *available_kernels()[0]; }

}  // namespace cudnn_frontend::cpu
