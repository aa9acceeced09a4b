#include "core/text.h"

#include <array>
#include <cfenv>
#include <charconv>

namespace cudnn_frontend::core {
namespace {

// During its lifetime its thread computes as the standard says. Where a process flushes subnormal numbers to zero,
// these would have the text of 0.
class StandardArithmetic {
   public:
    StandardArithmetic() {
        std::fegetenv(&before_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~StandardArithmetic() { std::fesetenv(&before_); }
    StandardArithmetic(StandardArithmetic const&) = delete;
    StandardArithmetic& operator=(StandardArithmetic const&) = delete;

   private:
    std::fenv_t before_;
};

template <class Number>
std::string text_of(Number value) {
    StandardArithmetic const standard;
    std::array<char, 32> text{};
    auto const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return {text.data(), end};
}

}  // namespace

std::string shortest_text(float value) { return text_of(value); }
std::string shortest_text(double value) { return text_of(value); }

}  // namespace cudnn_frontend::core
