// A seeded generator with the same numbers on every platform, unlike the standard distributions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace sdpa_test {

class Random {
   public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u) {}

    // splitmix64
    std::uint64_t next() {
        std::uint64_t x = state_ += 0x9E3779B97F4A7C15u;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
        return x ^ (x >> 31);
    }

    std::int64_t between(std::int64_t low, std::int64_t high) {  // inclusive
        return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
    }
    double real(double low, double high) { return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53; }
    bool chance(double probability) { return real(0.0, 1.0) < probability; }

    bool flip() { return chance(0.5); }

    template <class Choices>
    auto pick(Choices const& choices) {
        return *std::next(std::begin(choices), between(0, static_cast<std::int64_t>(std::size(choices)) - 1));
    }
    template <class T>
    T pick(std::initializer_list<T> choices) {
        return pick<std::initializer_list<T>>(choices);
    }

   private:
    std::uint64_t state_;
};

}  // namespace sdpa_test
