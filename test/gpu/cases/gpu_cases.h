// The cases of the GPU suite: groups of options at shapes that tensor cores support.
#pragma once

#include "reference/cases/rewrite_case.h"

#include <optional>
#include <string>
#include <vector>

namespace sdpa_test {

struct CaseGroup {
    std::string name;
    std::vector<AttentionCase> cases;
    // The limit of the support table that refuses the last cases on compute capability 9.0, and one that refuses their
    // backward pass alone there. Other architectures have the support matrix (support_matrix_file.h).
    std::string limit = {};
    std::string backward_limit = {};
    std::optional<Rewriting> rewriting = {};  // their graphs ask for it; none: they are not rewritten
};

std::vector<CaseGroup> gpu_case_groups();
// The groups of one query, with those of 8 bits among them.
std::vector<CaseGroup> one_query_groups();
std::vector<CaseGroup> fp8_option_groups();
std::vector<CaseGroup> fp8_shape_groups();
// Groups that violate a limit, on some architecture at least.
std::vector<CaseGroup> groups_at_limits();
// Groups of block masks that limits of cuDNN's engines refuse everywhere (cudnn.s55, cudnn.s56), and that the library's
// own engine runs.
std::vector<CaseGroup> block_mask_groups();

}  // namespace sdpa_test
