// Graphs that are rewritten as programs against the oracle, over random shapes, layouts and data types.
#include "reference/cases/rewrite_case.h"
#include "reference/checks/check_case.h"
#include "reference/checks/named_kernels.h"
#include "support/catch.h"
#include "support/skip.h"

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

struct Sweep {
    Rewriting rewriting;
    AttentionCase (*make)(std::uint64_t index);
};
constexpr Sweep kFewQueries{Rewrite_t::FEW_QUERIES, sdpa_test::few_queries_case};
constexpr Sweep kBands{Rewrite_t::BANDS, sdpa_test::bands_case};
constexpr Sweep kSlices{Rewrite_t::SLICES, sdpa_test::slices_case};
constexpr Sweep kClasses{cudnn_frontend::ShapePolicy_t::CLASSES, sdpa_test::class_case};

Target any_target(std::uint64_t index) { return index % 4 == 0 ? Target::reference() : Target::cpu(1); }
Target on_cpu(std::uint64_t) { return Target::cpu(1); }

void run(Sweep const& sweep, std::uint64_t cases = kCases, Target (*target_of)(std::uint64_t) = any_target) {
    std::uint64_t programs = 0;
    for (std::uint64_t index = 0; index < cases; ++index) {
        INFO("case " << index);
        programs += check(sweep.make(index), sweep.rewriting, target_of(index)) ? 1 : 0;
    }
    CHECK(programs >= cases * 9 / 10);
}

}  // namespace

TEST_CASE("few queries: forward attention in splits of the keys is that of the definition") { run(kFewQueries); }

TEST_CASE("bands: backward of windows in shifted parts is that of the definition") { run(kBands); }

TEST_CASE("slices: backward by heads and batch entries is that of the definition") { run(kSlices); }

TEST_CASE("classes: attention with rounded sizes over packed sequences is that of the definition") { run(kClasses); }

TEST_CASE("rewrites with one instruction set", "[.][kernels]") {
    if (std::string const reason = sdpa_test::why_not_named_kernels(); !reason.empty()) return sdpa_test::skip(reason);
    for (Sweep const& sweep : {kFewQueries, kBands, kSlices, kClasses}) run(sweep, 60, on_cpu);
}
