// A number that equals another only where all its bits do: -0 is not 0, not even where a process treats subnormal
// numbers as 0, and NaN is itself. So values that hold one can be compared to find out whether they are the same.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace cudnn_frontend::core {

template <class T>
struct Exact {
    T value = 0;

    constexpr Exact() = default;
    constexpr Exact(T number) : value(number) {}
    constexpr operator T() const { return value; }

    friend constexpr bool operator==(Exact a, Exact b) { return bits(a) == bits(b); }
    friend constexpr bool operator==(Exact a, T b) { return a == Exact(b); }

   private:
    static constexpr auto bits(Exact number) {
        return std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(number.value);
    }
};

}  // namespace cudnn_frontend::core
