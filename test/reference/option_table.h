// Every option of attention, each as the smallest change of one small problem.
#pragma once

#include "support/attention_case.h"

#include <functional>
#include <string>
#include <vector>

namespace sdpa_test {

struct Option {
    std::string name;
    std::function<void(AttentionCase&)> base;    // what the option needs beside it
    std::function<void(AttentionCase&)> change;  // the option itself
    double at_least;                             // how much O and each gradient change at their largest difference
    bool changes_stats = true;
};

// fp32, GQA, more keys than queries.
AttentionCase small_case();

std::vector<Option> const& all_options();

}  // namespace sdpa_test
