// Every option of attention, as a minimal change of one small problem.
#pragma once

#include "support/attention_case.h"

#include <functional>
#include <string>
#include <vector>

namespace sdpa_test {

struct Option {
    std::string name;
    std::function<void(AttentionCase&)> base;    // other options that it needs
    std::function<void(AttentionCase&)> change;  // the option itself
    double at_least;                             // a lower bound of the largest change of O and of each gradient
    bool changes_stats = true;
};

// fp32, GQA, more keys than queries.
AttentionCase small_case();

std::vector<Option> const& all_options();

}  // namespace sdpa_test
