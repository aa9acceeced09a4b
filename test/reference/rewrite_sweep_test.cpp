// Graphs that are rewritten as programs against the oracle, over random shapes, layouts and data types.
#include "reference/cases/rewrite_case.h"
#include "reference/checks/check_case.h"
#include "support/catch.h"

namespace {

using cudnn_frontend::Rewrite_t;
using sdpa_test::AttentionCase;
using sdpa_test::Rewriting;
using sdpa_test::Rig;
using sdpa_test::Target;

constexpr std::uint64_t kCases = 1000;

// Checks the case, and returns whether a program ran.
bool check(AttentionCase const& c, Rewriting const& rewriting, Target const& target) {
    Rig rig(target);
    rig.joins_parts = true;
    rig.prepare = [&](cudnn_frontend::graph::Graph& graph) { sdpa_test::ask_for(rewriting, c, graph); };
    sdpa_test::Outcome const outcome = sdpa_test::check_case(c, rig);
    INFO("case: " << sdpa_test::describe(c));
    INFO("target: " << cudnn_frontend::to_string(target.kind()));
    CHECK(outcome.faults() == "");
    return outcome.forward.ran_program || outcome.backward.ran_program;
}

void sweep(Rewriting const& rewriting, AttentionCase (*make)(std::uint64_t)) {
    std::uint64_t programs = 0;
    for (std::uint64_t index = 0; index < kCases; ++index) {
        INFO("case " << index);
        bool const on_reference = index % 4 == 0;
        programs += check(make(index), rewriting, on_reference ? Target::reference() : Target::cpu(1)) ? 1 : 0;
    }
    CHECK(programs >= kCases * 9 / 10);
}

}  // namespace

TEST_CASE("few queries: forward attention in splits of the keys is that of the definition") {
    sweep(Rewrite_t::FEW_QUERIES, sdpa_test::few_queries_case);
}

TEST_CASE("bands: backward of windows in shifted parts is that of the definition") {
    sweep(Rewrite_t::BANDS, sdpa_test::bands_case);
}

TEST_CASE("slices: backward by heads and batch entries is that of the definition") {
    sweep(Rewrite_t::SLICES, sdpa_test::slices_case);
}

TEST_CASE("classes: attention with rounded sizes over packed sequences is that of the definition") {
    sweep(cudnn_frontend::ShapePolicy_t::CLASSES, sdpa_test::class_case);
}
