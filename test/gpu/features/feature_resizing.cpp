// Plans for all shapes that are resized give the results of graphs of these shapes.
#include "gpu/features/feature_checks.h"
#include "reference/checks/check_case.h"

#include <cudnn_frontend/resized_plan.h>

#include <string>
#include <vector>

namespace sdpa_test {
namespace {

using cudnn_frontend::graph::Resized_plan;
using cudnn_frontend::graph::Tensor_shape;

// The plan of the first graph for the shapes of the second.
Resized_plan resized(Session const& built, Session const& wanted, std::string const& name) {
    std::vector<std::vector<std::int64_t>> lists;
    lists.reserve(2 * wanted.entries().size());
    std::vector<Tensor_shape> shapes;
    for (Session::Entry const& entry : wanted.entries()) {
        auto const& dim = lists.emplace_back(entry.tensor->get_dim());
        auto const& stride = lists.emplace_back(entry.tensor->get_stride());
        shapes.push_back({entry.tensor->get_uid(), dim.data(), stride.data(), dim.size()});
    }
    Resized_plan plan;
    expect_good(Resized_plan::make(built.graph(), shapes.data(), shapes.size(), plan), name + ", resized");
    return plan;
}

void check_resized(Session const& built, Session const& wanted, std::vector<HostTensor> const& results,
                   GpuStream const& gpu, std::string const& name) {
    expect_good(execute_on_gpu(wanted, gpu), name + " of its own shapes");
    std::vector<HostTensor> expected;
    for (HostTensor const& result : results) {
        expected.push_back(make_tensor(result.type, result.dim).fill([&](Index4 const& at) { return result.get(at); }));
        result.fill([](Index4 const&) { return 0.0; });
    }
    Resized_plan const plan = resized(built, wanted, name);
    expect(plan.get_workspace_size() == wanted.graph().get_workspace_size(), name + ", its workspace");
    DeviceMirror mirror;
    auto const pack = device_pack(wanted, mirror);
    HostMemory const workspace(plan.get_workspace_size());
    expect_good(plan.execute(gpu.handle(), pack, mirror.address(workspace)), name + " by a resized plan");
    static_cast<void>(gpu.wait());
    static_cast<void>(mirror.copy_back());
    for (std::size_t i = 0; i < results.size(); ++i) expect_near(results[i], expected[i], name + ", a result");
}

}  // namespace

void check_resized_plans(GpuStream const& gpu) {
    AttentionCase const large = feature_case();
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
        session->graph().set_shape_policy(cudnn_frontend::ShapePolicy_t::ALL_SHAPES);
        expect_good(session->build(Target::cuda(gpu.handle())), "a graph for all shapes");
    }
    check_resized(built, wanted, {small_out.o}, gpu, "forward");
    check_resized(built_backward, wanted_backward, {small_gradients.d_q, small_gradients.d_k, small_gradients.d_v}, gpu,
                  "backward");
}

}  // namespace sdpa_test
