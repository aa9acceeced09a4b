// Numbers in memory that blocks of a kernel share.
#pragma once

// Counts to a number, with one thread, and returns what it was before.
inline int count_up(int* number) { return atomicAdd(number, 1); }

// Sets the number to 0 for the next kernel: the first thread of the first block does.
inline void clear_number(int* number) {
    if (number != nullptr && blockIdx.x == 0 && threadIdx.x == 0) *number = 0;
}

// Shows a number to other blocks, with one thread. It comes behind all writes and additions to memory by this thread
// and by threads that it waited for.
inline void show_number(int* to, int number) {
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(to), "r"(number) : "memory");
}

// Waits until memory has that number, with one thread. What this thread does next, and threads that wait for it, comes
// behind all that the number was shown behind.
inline void wait_for_number(int const* from, int number) {
    int seen;
    do {
        asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(from) : "memory");
    } while (seen != number);
}
