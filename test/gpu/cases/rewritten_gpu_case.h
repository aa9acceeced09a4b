// Random cases to which a rewrite applies, of sizes and types that engines of the GPU support.
#pragma once

#include "gpu/cases/random_gpu_case.h"

namespace sdpa_test {

// A group for each rewrite, for which every second number of the range is used.
std::vector<CaseGroup> rewritten_gpu_groups(CaseRange const& range);

}  // namespace sdpa_test
