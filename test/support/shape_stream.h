// A stream of random shapes through eight threads of one process, and the memory that it leaves behind.
#pragma once

#include "support/sanitizers.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace sdpa_test {

// 500, enough to have all classes among them, or SDPA_GRAPH_TEST_SHAPES where these are more.
inline int shapes_of_stream() {
    char const* const wanted = std::getenv("SDPA_GRAPH_TEST_SHAPES");
    return std::max(500, wanted == nullptr ? 0 : std::atoi(wanted));
}

// The process's memory, without what the allocator only keeps.
inline long resident_kibibytes() {
    malloc_trim(0);
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
    }
    return 0;
}

struct StreamFigures {
    int shapes = 0;
    std::vector<long> kibibytes;  // after each fifth of the shapes

    // Whether memory grew by no more than this after the first fifth. Sanitizers keep what is freed.
    bool is_memory_flat(long most_kibibytes) const {
        return kIsUnderSanitizer || kibibytes.back() - kibibytes.front() <= most_kibibytes;
    }
    void print(char const* name, std::int64_t classes, std::int64_t plans) const {
        std::printf("%s: %d shapes in eight threads, %lld classes, %lld plans built, MiB after each fifth:", name,
                    shapes, static_cast<long long>(classes), static_cast<long long>(plans));
        for (long const each : kibibytes) std::printf(" %.1f", static_cast<double>(each) / 1024.0);
        std::printf("\n");
    }
};

// Calls work(number) for each shape from eight threads.
template <class Work>
StreamFigures run_stream(Work const& work) {
    StreamFigures figures{.shapes = shapes_of_stream(), .kibibytes = {}};
    for (int part = 0; part < 5; ++part) {
        std::atomic<int> next{figures.shapes / 5 * part};
        int const end = part == 4 ? figures.shapes : figures.shapes / 5 * (part + 1);
        std::vector<std::thread> threads;
        for (int thread = 0; thread < 8; ++thread) {
            threads.emplace_back([&] {
                for (int number = next++; number < end; number = next++) work(number);
            });
        }
        for (std::thread& thread : threads) thread.join();
        figures.kibibytes.push_back(resident_kibibytes());
    }
    return figures;
}

}  // namespace sdpa_test
