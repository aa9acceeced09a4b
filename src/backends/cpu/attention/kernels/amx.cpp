#include "cpu/attention/kernels/amx.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstdint>

namespace cudnn_frontend::cpu {
namespace {

#if defined(__x86_64__) && defined(__linux__)

bool has_instructions() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned kBf16 = 1U << 22, kTile = 1U << 24;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kBf16) != 0 && (d & kTile) != 0;
}

// Whether the system saves the tiles and their configuration when it switches threads.
bool is_enabled() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
    std::uint32_t low = 0, high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    constexpr std::uint32_t kTileState = (1U << 17) | (1U << 18);
    return (low & kTileState) == kTileState;
}

// Asks for all threads of the process. Linux before 5.16 does not know the request, nor does it save tiles.
bool get_permission() {
    constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

AmxState find_state() {
    if (!has_instructions()) return AmxState::NoInstructions;
    if (!is_enabled()) return AmxState::NotEnabled;
    return get_permission() ? AmxState::Usable : AmxState::NoPermission;
}

#else

AmxState find_state() { return AmxState::NoInstructions; }

#endif

}  // namespace

AmxState amx_state() {
    static AmxState const state = find_state();
    return state;
}

char const* why_no_amx(AmxState state) {
    switch (state) {
        case AmxState::Usable: return "";
        case AmxState::NoInstructions: return "the processor lacks AMX-BF16";
        case AmxState::NotEnabled: return "the system does not enable the processor's AMX: Linux 5.16 or newer does";
        case AmxState::NoPermission: return "Linux refused this process the permission for AMX (arch_prctl)";
    }
    return "";
}

}  // namespace cudnn_frontend::cpu
