// Registers of the threads of a block that is alone on its multiprocessor.
#pragma once

// As many as a thread has at launch. Where warpgroups ask for more than these in all, take_registers() never returns.
constexpr int registers_at_launch(int threads) {
    constexpr int kOfMultiprocessor = 65536, kStep = 8;
    return kOfMultiprocessor / threads / kStep * kStep;
}
constexpr bool has_registers(int warpgroups, int of_warpgroups) {
    constexpr int kThreadsOfEach = 128;
    return of_warpgroups <= warpgroups * registers_at_launch(warpgroups * kThreadsOfEach);
}
