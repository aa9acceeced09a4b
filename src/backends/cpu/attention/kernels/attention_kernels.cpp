#include "cpu/attention/kernels/attention_kernels.h"

#include "core/process/environment.h"
#include "cpu/attention/kernels/amx.h"
#include "cpu/attention/kernels/kernel_choice.h"

#include <array>
#include <atomic>

namespace cudnn_frontend::cpu {

extern Kernels const kBaselineKernels;
#ifdef SDPA_GRAPH_X86_KERNELS
extern Kernels const kAvx2Kernels;
extern Kernels const kAvx512Kernels;
extern Kernels const kAvx512Bf16Kernels;
extern Kernels const kAmxKernels;
#endif

namespace {

using KernelList = std::array<Kernels const*, 6>;

KernelList find_kernels() {
    KernelList list{};
    std::size_t count = 0;
#ifdef SDPA_GRAPH_X86_KERNELS
    // All processors with AVX2 also convert HALF (F16C), for which clang has no name here.
    bool const has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool const has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    bool const has_pairs = has_avx512 && __builtin_cpu_supports("avx512bf16");
    if (has_pairs && amx_state() == AmxState::Usable) list[count++] = &kAmxKernels;
    // Intel's processors multiply pairs by one instruction in two cycles, and floats by two in each.
    bool const are_pairs_faster = !__builtin_cpu_is("intel");
    if (has_pairs && are_pairs_faster) list[count++] = &kAvx512Bf16Kernels;
    if (has_avx512) list[count++] = &kAvx512Kernels;
    if (has_pairs && !are_pairs_faster) list[count++] = &kAvx512Bf16Kernels;
    if (has_avx2) list[count++] = &kAvx2Kernels;
#endif
    list[count] = &kBaselineKernels;
    return list;
}

Kernels const& usual_kernels() {
    std::string const wanted = core::environment::cpu_kernels();
    for (auto const* next = available_kernels(); *next != nullptr; ++next) {
        if (wanted == (*next)->name) return **next;
    }
    return *available_kernels()[0];
}

std::atomic<Kernels const*> forced{nullptr};

}  // namespace

Kernels const* const* available_kernels() {
    static KernelList const list = find_kernels();
    return list.data();
}

Kernels const& kernels() {
    static Kernels const& usual = usual_kernels();
    Kernels const* const chosen = forced.load(std::memory_order_relaxed);
    return chosen == nullptr ? usual : *chosen;
}

void force_kernels(Kernels const* chosen) { forced = chosen; }

std::string describe_kernels() {
    std::string const chosen = kernels().name, wanted = core::environment::cpu_kernels();
    std::string others;
    for (auto const* next = available_kernels(); *next != nullptr; ++next) {
        if ((*next)->name != chosen) others += (others.empty() ? "" : ", ") + std::string((*next)->name);
    }
    std::string text = "attention on the CPU: kernels for " + chosen;
    if (!wanted.empty() && wanted == chosen) text += ", as SDPA_GRAPH_CPU_KERNELS says";
    if (!others.empty()) text += "; others that run here: " + others;
    if (!wanted.empty() && wanted != chosen)
        text += "; SDPA_GRAPH_CPU_KERNELS=" + wanted + " has no effect, since it is none of these names";
    if (AmxState const state = amx_state(); state != AmxState::Usable)
        text += "; no amx: " + std::string(why_no_amx(state));
    return text;
}

}  // namespace cudnn_frontend::cpu
