#include "kernel_sets.h"

#include <string_view>

namespace cudnn_frontend::cpu {
#ifdef SDPA_TEST_PLAIN_TILES
extern Kernels const kPlainTileKernels;
#endif
}  // namespace cudnn_frontend::cpu

namespace attention_test {

namespace cpu = cudnn_frontend::cpu;

std::vector<cpu::Kernels const*> kernel_sets() {
    std::vector<cpu::Kernels const*> sets;
    for (auto const* next = cpu::available_kernels(); *next != nullptr; ++next) {
        sets.push_back(*next);
#ifdef SDPA_TEST_PLAIN_TILES
        if ((*next)->name == std::string_view("avx512_bf16")) sets.push_back(&cpu::kPlainTileKernels);
#endif
    }
    return sets;
}

std::vector<cpu::Kernels const*> kernel_sets_with_pairs() {
    std::vector<cpu::Kernels const*> sets = kernel_sets();
    std::erase_if(sets, [](cpu::Kernels const* kernels) { return kernels->pairs == nullptr; });
    return sets;
}

}  // namespace attention_test
