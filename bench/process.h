// Time and memory of this process.
#pragma once

#include <sys/mman.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <string>

namespace bench {

inline double elapsed_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Processor time of all threads.
inline double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Peak resident memory since the last reset; 0 if the system does not report it.
inline std::int64_t peak_memory_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        std::int64_t kibibytes = 0;
        if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
    }
    return 0;
}

inline void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << 5; }

// Memory whose pages count as resident only once they are written.
class UntouchedMemory {
   public:
    explicit UntouchedMemory(std::size_t bytes)
        : bytes_(bytes), data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
    UntouchedMemory(UntouchedMemory const&) = delete;
    UntouchedMemory& operator=(UntouchedMemory const&) = delete;
    ~UntouchedMemory() { munmap(data_, bytes_); }

    void* data() const { return data_; }

   private:
    std::size_t bytes_;
    void* data_;
};

}  // namespace bench
