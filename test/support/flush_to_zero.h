// During its lifetime its thread flushes subnormal numbers to 0, as all threads of programs do that were linked with
// -ffast-math.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace sdpa_test {

class FlushToZero {
   public:
#if defined(__SSE2__)
    static constexpr bool kIsHere = true;
    FlushToZero() : before_(_mm_getcsr()) { _mm_setcsr(static_cast<unsigned>(before_) | 0x8040u); }
    ~FlushToZero() { _mm_setcsr(static_cast<unsigned>(before_)); }
#elif defined(__aarch64__)
    static constexpr bool kIsHere = true;
    FlushToZero() {
        asm volatile("mrs %0, fpcr" : "=r"(before_));
        asm volatile("msr fpcr, %0" ::"r"(before_ | std::uint64_t{1} << 24));
    }
    ~FlushToZero() { asm volatile("msr fpcr, %0" ::"r"(before_)); }
#else
    static constexpr bool kIsHere = false;
    FlushToZero() = default;
    ~FlushToZero() {}
#endif
    FlushToZero(FlushToZero const&) = delete;
    FlushToZero& operator=(FlushToZero const&) = delete;

   private:
    std::uint64_t before_ = 0;
};

}  // namespace sdpa_test
