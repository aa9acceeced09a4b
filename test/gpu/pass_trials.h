// For a rewrite of the table of quirks, the cases whose graphs its pass changes. A GPU runs them without that pass, to
// show whether engines accept and compute right the form that the graph had before.
#pragma once

#include "cudnn/quirks/quirk.h"
#include "gpu/cases/gpu_cases.h"
#include "gpu/cases/random_gpu_case.h"

#include <cstddef>
#include <string>
#include <vector>

namespace sdpa_test {

// The graphs of a case that the pass changes, except those that limits refuse.
struct TriedGraphs {
    std::size_t number;  // in suite_cases()
    bool forward, backward;
};

struct PassTrial {
    cudnn_frontend::quirks::Quirk const* quirk;
    std::vector<TriedGraphs> cases;
};

// The cases of all groups of the suite, then random ones.
std::vector<AttentionCase> suite_cases(CaseRange const& random);

// The trials of these ids; without ids, of all whose reason only a GPU shows.
std::vector<PassTrial> pass_trials(std::vector<AttentionCase> const& cases, std::vector<std::string> const& ids,
                                   cudnn_frontend::quirks::Capabilities const& here);

}  // namespace sdpa_test
