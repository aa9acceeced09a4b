// The random sweep over all options, in parts: a case is known by its number, whatever part it runs in.
#pragma once

#include "gpu/cases/gpu_cases.h"

#include <cstdint>
#include <optional>
#include <string>

namespace sdpa_test {

// The numbers from the first one up to the one before the end.
struct CaseRange {
    std::uint64_t first, end;
};
// The range of "300", the first 300, or of "1000-2000", in which 2000 is not; nothing where the text is neither.
std::optional<CaseRange> case_range(std::string const& text);

// The same number gives the same case, always.
AttentionCase random_gpu_case(std::uint64_t number);
AttentionCase random_fp8_gpu_case(std::uint64_t number);
// The cases of the range, and those of FP8, for which every fifth number is used.
std::vector<CaseGroup> random_gpu_groups(CaseRange const& range);

}  // namespace sdpa_test
