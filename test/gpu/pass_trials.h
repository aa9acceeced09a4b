// For a rewrite of the table of quirks, the cases whose graphs its pass changes: what a GPU runs without that pass, to
// see whether engines take and compute right the form that the graph had before.
#pragma once

#include "cudnn/quirks/quirk.h"
#include "gpu/gpu_cases.h"
#include "gpu/random_gpu_case.h"

#include <cstddef>
#include <string>
#include <vector>

namespace sdpa_test {

// The graphs of a case that the pass changes, but for those that limits refuse.
struct TriedCase {
    std::size_t number;  // in suite_cases()
    bool forward, backward;
};

struct PassTrial {
    cudnn_frontend::quirks::Quirk const* quirk;
    std::vector<TriedCase> cases;
};

// Of all groups of the suite, and random ones behind them.
std::vector<AttentionCase> suite_cases(CaseRange const& random);

// Of these ids; of none, of all whose pass is there for what only a GPU shows.
std::vector<PassTrial> pass_trials(std::vector<AttentionCase> const& cases, std::vector<std::string> const& ids,
                                   cudnn_frontend::core::Capabilities const& here);

}  // namespace sdpa_test
