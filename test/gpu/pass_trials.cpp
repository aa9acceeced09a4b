#include "gpu/pass_trials.h"

#include "cudnn/quirks/support.h"
#include "lowering/case_graphs.h"
#include "lowering/option_rows.h"
#include "lowering/quirks/changing_rewrites.h"

#include <algorithm>
#include <map>

namespace sdpa_test {
namespace {

using namespace cudnn_frontend;
using quirks::Evidence;
using quirks::Quirk;

// A form that no engine accepts is tested without a GPU, and a form that is slower is known to be right.
bool needs_gpu(Quirk const& quirk) {
    return quirk.evidence != Evidence::NoEngine && quirk.evidence != Evidence::Slower;
}

bool is_tried(Quirk const& quirk, std::vector<std::string> const& ids) {
    return ids.empty() ? needs_gpu(quirk) : std::ranges::count(ids, std::string(quirk.id)) > 0;
}

// The case's graphs that the pass changes, by quirk.
std::map<Quirk const*, TriedGraphs> tried(AttentionCase const& c, std::size_t number,
                                          quirks::Capabilities const& here) {
    std::map<Quirk const*, TriedGraphs> changed;
    Graphs const graphs(c);
    for (bool const is_backward : {false, true}) {
        if (is_backward && !c.has_backward()) continue;
        auto const graph = validated(spec_of((is_backward ? graphs.backward : graphs.forward).graph()));
        if (!quirks::violations(graph, here, {.dynamic_shapes = c.dynamic_shapes}).empty()) continue;
        for (Quirk const* const quirk : changing_rewrites(graph, here)) {
            TriedGraphs& one = changed.try_emplace(quirk, TriedGraphs{number, false, false}).first->second;
            (is_backward ? one.backward : one.forward) = true;
        }
    }
    return changed;
}

}  // namespace

std::vector<AttentionCase> suite_cases(CaseRange const& random) {
    std::vector<AttentionCase> cases;
    for (auto const& groups : {gpu_case_groups(), random_gpu_groups(random)}) {
        for (CaseGroup const& group : groups) cases.insert(cases.end(), group.cases.begin(), group.cases.end());
    }
    return cases;
}

std::vector<PassTrial> pass_trials(std::vector<AttentionCase> const& cases, std::vector<std::string> const& ids,
                                   quirks::Capabilities const& here) {
    std::vector<PassTrial> trials;
    for (Quirk const& quirk : quirks::quirks()) {
        bool const is_rewrite = quirk.verdict == quirks::Verdict::Rewrite && quirk.is_in_force(here);
        if (is_rewrite && is_tried(quirk, ids)) trials.push_back({&quirk, {}});
    }
    for (std::size_t number = 0; number < cases.size(); ++number) {
        auto const changed = tried(cases[number], number, here);
        for (PassTrial& trial : trials) {
            auto const found = changed.find(trial.quirk);
            if (found != changed.end()) trial.cases.push_back(found->second);
        }
    }
    return trials;
}

}  // namespace sdpa_test
