// Arithmetic by the standard's defaults, whatever the program has set.
#pragma once

#include <cfenv>

namespace cudnn_frontend::core::process {

// During its lifetime its thread computes as the standard says. Where a process flushes subnormal numbers to zero,
// these would have the text of 0; with another rounding mode numbers of a text would be read as their neighbors.
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

}  // namespace cudnn_frontend::core::process
