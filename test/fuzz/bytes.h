// Decisions made from bytes. The same bytes give the same decisions, and changing few bytes changes few of them, which
// libFuzzer needs in order to learn from its attempts. Once the bytes are used up, every decision is the first choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>

namespace fuzz {

class Bytes {
   public:
    explicit Bytes(std::span<std::uint8_t const> bytes) : rest_(bytes) {}

    bool is_empty() const { return rest_.empty(); }
    std::span<std::uint8_t const> rest() const { return rest_; }

    std::uint8_t byte() {
        if (rest_.empty()) return 0;
        std::uint8_t const first = rest_.front();
        rest_ = rest_.subspan(1);
        return first;
    }
    std::uint64_t word() {
        std::uint64_t value = 0;
        for (int i = 0; i < 8; ++i) value = value << 8 | byte();
        return value;
    }
    std::size_t below(std::size_t count) {
        std::size_t number = byte();
        for (std::size_t most = 256; most < count; most <<= 8) number = number << 8 | byte();
        return number % count;
    }
    std::int64_t between(std::int64_t low, std::int64_t high) {  // inclusive
        return low + static_cast<std::int64_t>(below(static_cast<std::size_t>(high - low + 1)));
    }
    // False once the bytes are used up.
    bool chance(std::size_t one_in) { return below(one_in) == one_in - 1; }
    template <class Choices>
    auto const& pick(Choices const& choices) {
        return *std::next(std::begin(choices), static_cast<std::ptrdiff_t>(below(std::size(choices))));
    }

    // A number that is mostly small, and otherwise near values at which arithmetic on sizes overflows.
    std::int64_t integer() {
        constexpr std::int64_t kEdges[] = {-1,
                                           0,
                                           std::int64_t{1} << 31,
                                           (std::int64_t{1} << 32) + 1,
                                           std::int64_t{1} << 61,
                                           std::numeric_limits<std::int64_t>::max() - 1,
                                           std::numeric_limits<std::int64_t>::max(),
                                           std::numeric_limits<std::int64_t>::min()};
        return chance(5) ? pick(kEdges) : static_cast<std::int64_t>(below(12));
    }
    double number() {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        constexpr double kNumbers[] = {
            0.5,  0.0,   -0.0, 1.0,   -1.0,      0.25,       2.0,
            -2.0, 1e-42, 1e-7, 100.0, -1e4,      3.0e9,      3e18,
            1e11, 3e38,  1e30, -3e38, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};
        return pick(kNumbers);
    }

   private:
    std::span<std::uint8_t const> rest_;
};

}  // namespace fuzz
