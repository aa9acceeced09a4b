// The score modifiers of support/modifiers by the kernels of attention, on the host.
#include "host_attention.h"
#include "support/catch.h"
#include "support/modifiers/modifier_problem.h"

using namespace sdpa_test;

TEST_CASE("attention by warpgroups runs every named modifier, forward and backward") {
    RunModifier const run = [](cudnn_frontend::graph::Graph& graph, ModifierProblem const& problem) {
        return run_on_host(graph, cudnn_frontend::kernels::AttentionScope::Alone,
                           [&](std::int64_t uid) { return problem.tensor(uid).data(); });
    };
    ModifierSizes const sizes{.heads = 2, .key_heads = 1, .queries = 140, .keys = 200, .columns = 64};
    for (NamedModifier const& modifier : named_modifiers()) {
        INFO(modifier.name);
        auto const [forward, backward] = compare_with_reference(modifier, DataType_t::BFLOAT16, sizes, run);
        CHECK(forward.failure == "");
        CHECK(forward.error < kRoundedModifierError);
        CHECK(backward.failure == "");
        CHECK(backward.error < kRoundedModifierError);
    }
}
