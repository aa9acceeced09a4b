#include "modifier_runs.h"

#include "gpu/device_mirror.h"
#include "support/modifiers/modifier_problem.h"

#include <cstdio>
#include <map>
#include <string>

namespace sdpa_test {
namespace {

using cudnn_frontend::HeurMode_t;

// With 16 heads, blocks of which bounds say little are looked at score by score.
constexpr ModifierSizes kSizes{.heads = 8, .key_heads = 4, .queries = 200, .keys = 300, .columns = 64};

// The forms of kernels that keep terms of the distance in memory of their own, or compute them for each score.
constexpr ModifierSizes with(std::int64_t columns, std::int64_t value_columns, bool has_bias = false) {
    ModifierSizes sizes = kSizes;
    sizes.columns = columns;
    sizes.value_columns = value_columns;
    sizes.has_bias = has_bias;
    return sizes;
}
constexpr ModifierSizes kDistanceSizes[] = {with(64, 64), with(128, 128), with(192, 128), with(256, 256),
                                            with(64, 64, true)};

enum class Engines { Chosen, OwnAlone };

error_t build(Graph& graph, GpuStream const& gpu, Engines engines) {
    if (engines == Engines::Chosen) return graph.build(Target::cuda(gpu.handle()));
    graph.set_shape_policy(cudnn_frontend::ShapePolicy_t::CLASSES);
    for (auto const& stage : {graph.build_operation_graph(Target::cuda(gpu.handle())),
                              graph.create_execution_plans({HeurMode_t::OPENSOURCE}), graph.build_plans()}) {
        if (stage.is_bad()) return stage;
    }
    return {};
}

// The plans of both passes.
struct PlanNames {
    std::string names;

    void add(Graph const& graph) {
        std::string name;
        static_cast<void>(graph.get_plan_name(name));
        names += (names.empty() ? "" : ", ") + name;
    }
};

RunModifier run_on_gpu(GpuStream const& gpu, Engines engines, PlanNames& plans) {
    return [&gpu, engines, &plans](Graph& graph, ModifierProblem const& problem) -> error_t {
        if (error_t const error = build(graph, gpu, engines); error.is_bad()) return error;
        plans.add(graph);
        DeviceMirror mirror;
        std::map<std::int64_t, void*> pack;
        for (auto const& [uid, tensor] : problem.tensors()) pack[uid] = mirror.address(tensor);
        return execute_in_mirror(graph, pack, mirror, gpu);
    };
}

// Whether no result is wrong. Passes that are refused are right where engines may refuse them.
bool check(NamedModifier const& modifier, ModifierSizes const& sizes, GpuStream const& gpu, Engines engines,
           bool may_refuse) {
    PlanNames plans;
    auto const [forward, backward] =
        compare_with_reference(modifier, DataType_t::BFLOAT16, sizes, run_on_gpu(gpu, engines, plans));
    std::printf("  %-28s %-40s errors %.1e %.1e\n", modifier.name, plans.names.c_str(), forward.error, backward.error);
    bool is_right = true;
    for (ModifierPass const& pass : {forward, backward}) {
        if (!pass.failure.empty()) std::printf("    %s\n", pass.failure.c_str());
        is_right = is_right && pass.error < kRoundedModifierError && (may_refuse || pass.failure.empty());
    }
    return is_right;
}

}  // namespace

bool check_named_modifiers(bool has_own_engine) {
    GpuStream const gpu;
    int wrong = 0;
    for (NamedModifier const& modifier : named_modifiers()) {
        wrong += check(modifier, kSizes, gpu, Engines::Chosen, !has_own_engine) ? 0 : 1;
        if (has_own_engine) wrong += check(modifier, kSizes, gpu, Engines::OwnAlone, false) ? 0 : 1;
    }
    std::printf("named modifiers: %zu, %d wrong runs\n", named_modifiers().size(), wrong);
    return wrong == 0;
}

bool check_distance_modifiers() {
    GpuStream const gpu;
    int wrong = 0;
    for (ModifierSizes const& sizes : kDistanceSizes) {
        std::printf("  %lld and %lld columns%s\n", static_cast<long long>(sizes.columns),
                    static_cast<long long>(sizes.value_columns), sizes.has_bias ? " with a bias" : "");
        for (NamedModifier const& modifier : distance_modifiers())
            wrong += check(modifier, sizes, gpu, Engines::OwnAlone, false) ? 0 : 1;
        wrong += check(modifier_behind_prefix(), sizes, gpu, Engines::OwnAlone, false) ? 0 : 1;
    }
    std::printf("distance modifiers: %zu, %d wrong runs\n", distance_modifiers().size() + 1, wrong);
    return wrong == 0;
}

}  // namespace sdpa_test
