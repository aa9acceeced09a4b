// A graph's plan for other shapes, overridden in a call or resized before it, gives the results of a graph of these
// shapes.
#include "gpu/features/feature_checks.h"
#include "reference/checks/check_case.h"

#include <cudnn_frontend/resized_plan.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace sdpa_test {
namespace {

using cudnn_frontend::graph::Graph;
using cudnn_frontend::graph::Resized_plan;
using cudnn_frontend::graph::Tensor_shape;

// A run of the built graph's plan with the shapes of the wanted one.
struct OtherShapesRun {
    Session const& built;
    Session const& wanted;
    GpuStream const& gpu;
    std::string name;
    DeviceMirror& mirror;
    std::map<std::int64_t, void*> const& pack;
};

struct WayToOtherShapes {
    void (*set)(Graph& graph, bool is_built_once);
    void (*run)(OtherShapesRun const& run);
};

// Brings the results back. The workspace is in the mirror too, so it has to be there still.
void finish(OtherShapesRun const& run) {
    static_cast<void>(run.gpu.wait());
    static_cast<void>(run.mirror.copy_back());
}

// Each new shape is planned once.
void run_overridden(OtherShapesRun const& run) {
    HostMemory const workspace(run.built.graph().get_workspace_size());
    std::vector<std::int64_t> uids;
    std::vector<std::vector<std::int64_t>> dims, strides;
    for (Session::Entry const& entry : run.wanted.entries()) {
        uids.push_back(entry.tensor->get_uid());
        dims.push_back(entry.tensor->get_dim());
        strides.push_back(entry.tensor->get_stride());
    }
    for (char const* const turn : {"planned", "again"}) {
        auto const start = std::chrono::steady_clock::now();
        expect_good(
            run.built.graph().execute(run.gpu.handle(), run.pack, run.mirror.address(workspace), uids, dims, strides),
            run.name + " of overridden shapes, " + turn);
        std::chrono::duration<double, std::milli> const time = std::chrono::steady_clock::now() - start;
        std::printf("  %.3f ms\n", time.count());
    }
    finish(run);
}

void run_resized(OtherShapesRun const& run) {
    std::vector<std::vector<std::int64_t>> lists;
    lists.reserve(2 * run.wanted.entries().size());
    std::vector<Tensor_shape> shapes;
    for (Session::Entry const& entry : run.wanted.entries()) {
        auto const& dim = lists.emplace_back(entry.tensor->get_dim());
        auto const& stride = lists.emplace_back(entry.tensor->get_stride());
        shapes.push_back({entry.tensor->get_uid(), dim.data(), stride.data(), dim.size()});
    }
    Resized_plan plan;
    expect_good(Resized_plan::make(run.built.graph(), shapes.data(), shapes.size(), plan), run.name + ", resized");
    expect(plan.get_workspace_size() == run.wanted.graph().get_workspace_size(), run.name + ", its workspace");
    HostMemory const workspace(plan.get_workspace_size());
    expect_good(plan.execute(run.gpu.handle(), run.pack, run.mirror.address(workspace)),
                run.name + " by a resized plan");
    finish(run);
}

void check_pass(Session const& built, Session const& wanted, std::vector<HostTensor> const& results,
                WayToOtherShapes const& way, GpuStream const& gpu, std::string const& name) {
    expect_good(execute_on_gpu(wanted, gpu), name + " of its own shapes");
    std::vector<HostTensor> expected;
    for (HostTensor const& result : results) {
        expected.push_back(make_tensor(result.type, result.dim).fill([&](Index4 const& at) { return result.get(at); }));
        result.fill([](Index4 const&) { return 0.0; });
    }
    DeviceMirror mirror;
    auto const pack = device_pack(wanted, mirror);
    way.run({built, wanted, gpu, name, mirror, pack});
    for (std::size_t i = 0; i < results.size(); ++i) expect_near(results[i], expected[i], name + ", a result");
}

void check_both_passes(GpuStream const& gpu, AttentionCase const& large, WayToOtherShapes const& way) {
    AttentionCase small = large;
    small.s_q = small.s_kv = 72;
    Inputs const in = make_inputs(large), small_in = make_inputs(small);
    ForwardOutputs const out = make_forward_outputs(large), small_out = make_forward_outputs(small);
    oracle::Forward const forward = oracle::forward(to_problem(large, in, {}));
    oracle::Forward const small_forward = oracle::forward(to_problem(small, small_in, {}));
    BackwardInputs const more = make_backward_inputs(large, forward);
    BackwardInputs const small_more = make_backward_inputs(small, small_forward);
    BackwardOutputs const gradients = make_backward_outputs(large), small_gradients = make_backward_outputs(small);
    Session built(large, in, out), wanted(small, small_in, small_out);
    Session built_backward(large, in, more, gradients), wanted_backward(small, small_in, small_more, small_gradients);
    for (Session* const session : {&built, &wanted, &built_backward, &wanted_backward}) {
        way.set(session->graph(), session == &built || session == &built_backward);
        expect_good(session->build(Target::cuda(gpu.handle())), "a graph for other shapes");
    }
    check_pass(built, wanted, {small_out.o}, way, gpu, "forward");
    check_pass(built_backward, wanted_backward, {small_gradients.d_q, small_gradients.d_k, small_gradients.d_v}, way,
               gpu, "backward");
}

}  // namespace

void check_shape_overrides(GpuStream const& gpu) {
    auto const set = [](Graph& graph, bool is_built_once) { graph.set_override_shape_enabled(is_built_once); };
    check_both_passes(gpu, feature_case(), {set, run_overridden});
}

void check_resized_plans(GpuStream const& gpu) {
    auto const set = [](Graph& graph, bool) { graph.set_shape_policy(cudnn_frontend::ShapePolicy_t::ALL_SHAPES); };
    AttentionCase with_number = feature_case();  // a scale that a pack brings is none of the engine's
    with_number.scale = Scale::Number;
    check_both_passes(gpu, with_number, {set, run_resized});
}

}  // namespace sdpa_test
