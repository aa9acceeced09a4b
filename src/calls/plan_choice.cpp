#include "calls/plan_choice.h"

#include <array>
#include <atomic>

namespace sdpa_graph::calls {

std::uint64_t count_call(std::size_t hash) {
    constexpr std::size_t kPlaces = 256;
    constexpr std::uint64_t kCount = 0xffff;
    static constinit std::array<std::atomic<std::uint64_t>, kPlaces> places{};  // a hash above its count
    std::atomic<std::uint64_t>& place = places[hash % kPlaces];
    std::uint64_t const name = hash & ~kCount, seen = place.load(std::memory_order_relaxed);
    if ((seen & ~kCount) != name) {
        place.store(name | 1, std::memory_order_relaxed);
        return 0;
    }
    if ((seen & kCount) < kOften) place.store(seen + 1, std::memory_order_relaxed);
    return seen & kCount;
}

}  // namespace sdpa_graph::calls
