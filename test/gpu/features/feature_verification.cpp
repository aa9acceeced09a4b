// Graph::verify() and first runs that are verified, on results in the GPU's memory.
#include "gpu/features/feature_checks.h"
#include "reference/checks/check_case.h"

#include <cudnn_frontend/process.h>
#include <cudnn_frontend/runtime.h>
#include <cudnn_frontend/verification.h>
#include <sdpa_graph/plan_store.h>

#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <numbers>
#include <utility>

namespace sdpa_test {
namespace {

namespace fs = std::filesystem;
using cudnn_frontend::Compared_result;
using cudnn_frontend::Verification;

// With fewer queries than keys the corners of the mask differ.
AttentionCase verified_case() {
    AttentionCase c = feature_case();
    c.alibi = false;
    c.s_q = 120;
    return c;
}

// The verdict on the tensors' present content, which is copied to the GPU for it.
Verification verdict_on(Session const& session, std::string const& what) {
    DeviceMirror mirror;
    Verification verification;
    expect_good(session.graph().verify(device_pack(session, mirror), verification), "verify() of " + what);
    return verification;
}

// Prints the whole verdict where it is not as expected.
void expect_verdict(bool holds, std::string const& what, Verification const& verification) {
    expect(holds, holds ? what : what + ":\n" + verification.to_text());
}

void expect_right(Session const& session, std::string const& what) {
    Verification const verification = verdict_on(session, what);
    expect_verdict(verification.ok() && !verification.is_sampled(), what + " is right", verification);
}

// The mistake with this id, and no other one, explains the results.
void expect_explained(Session const& session, char const* id, std::string const& what) {
    Verification const verification = verdict_on(session, what);
    bool const is_explained = verification.explanations().size() == 1 && verification.explanations()[0].id == id;
    expect_verdict(!verification.ok() && is_explained, what + " is explained by " + id, verification);
}

// Runs another graph, whose results are in the memory of those that are verified.
void check_mistake(Session const& session, Session mistaken, GpuStream const& gpu, char const* id,
                   std::string const& what) {
    if (!expect_plan(mistaken.build(Target::cuda(gpu.handle())), "a plan, " + what)) return;
    expect_good(execute_on_gpu(mistaken, gpu), "its run");
    expect_explained(session, id, what);
}

void check_wrong_element(Session const& session, HostTensor const& o) {
    Index4 const place = {1, 2, 100, 5};
    double const right = o.get(place);
    o.set(place, right + 1.0);
    Verification const verification = verdict_on(session, "O with one wrong element");
    auto const result =
        std::ranges::find(verification.results(), session.tensor_of(o)->get_uid(), &Compared_result::uid);
    bool const is_found = result != verification.results().end() && result->wrong == 1 &&
                          std::ranges::equal(result->worst_index, place) && result->got > result->expected;
    expect_verdict(is_found && verification.explanations().empty(), "the wrong element is found", verification);
    o.set(place, right);
}

void check_verified_forward(GpuStream const& gpu) {
    AttentionCase const c = verified_case();
    Inputs const in = make_inputs(c);
    ForwardOutputs const out = make_forward_outputs(c);
    Session session(c, in, out);
    expect_good(session.build(Target::cuda(gpu.handle())), "a graph whose results are verified");
    expect_good(execute_on_gpu(session, gpu), "its run");
    expect_right(session, "forward");
    check_wrong_element(session, out.o);
    auto const in_base_2 = [&](Index4 const& at) { return out.stats.get(at) * std::numbers::log2e; };
    out.stats.fill(in_base_2);
    expect_explained(session, "stats_base", "forward with Stats in base 2");

    AttentionCase cornered = c, unscaled = c;
    cornered.alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    unscaled.scale_value = 1.0f;
    Inputs exchanged = in;
    std::swap(exchanged.k, exchanged.v);
    check_mistake(session, Session(cornered, in, out), gpu, "mask_corner", "forward with the mask at the other corner");
    check_mistake(session, Session(unscaled, make_inputs(unscaled), out), gpu, "scale_missing",
                  "forward with a scale of 1");
    check_mistake(session, Session(c, exchanged, out), gpu, "k_and_v_swapped", "forward with K and V exchanged");
}

void check_verified_backward(GpuStream const& gpu) {
    AttentionCase const c = verified_case();
    Inputs const in = make_inputs(c);
    BackwardInputs const more = make_backward_inputs(c, oracle::forward(to_problem(c, in, {})));
    BackwardOutputs const out = make_backward_outputs(c);
    Session session(c, in, more, out);
    expect_good(session.build(Target::cuda(gpu.handle())), "a graph whose gradients are verified");
    expect_good(execute_on_gpu(session, gpu), "its run");
    expect_right(session, "backward");
    BackwardOutputs exchanged = out;
    std::swap(exchanged.d_k, exchanged.d_v);
    check_mistake(session, Session(c, in, more, exchanged), gpu, "dk_and_dv_swapped",
                  "backward with dK and dV exchanged");
}

// The files in which a plan store has the outcomes of first runs.
std::vector<fs::path> outcomes_in(fs::path const& store) {
    std::vector<fs::path> files;
    std::error_code failure;
    for (fs::recursive_directory_iterator at(store, failure), end; !failure && at != end; at.increment(failure)) {
        if (at->path().parent_path().filename().string().ends_with("outcomes-of-first-runs")) files.push_back(*at);
    }
    return files;
}

// A store shows that first runs were verified.
void check_first_runs(GpuStream const& gpu) {
    fs::path const store = fs::temp_directory_path() / ("sdpa_gpu_first_runs_" + std::to_string(getpid()));
    sdpa_graph::set_plan_store({store.string()});
    cudnn_frontend::runtime::forget_graphs();
    AttentionCase const c = verified_case();
    Inputs const in = make_inputs(c);
    ForwardOutputs const out = make_forward_outputs(c);
    for (std::size_t const outcomes : {0u, 1u}) {
        Session session(c, in, out);
        session.graph().set_first_run_verification(outcomes == 1);
        expect_good(session.build(Target::cuda(gpu.handle())), "a plan for a first run");
        std::string planned, name, candidates;
        expect_good(session.graph().get_plan_name(planned), "its name");
        expect_good(execute_on_gpu(session, gpu), outcomes == 1 ? "a verified run" : "a run that is not verified");
        expect(outcomes_in(store).size() == outcomes, std::to_string(outcomes) + " plans were verified");
        expect_good(session.graph().get_plan_name(name), "its name after the run");
        expect_good(session.graph().print_candidates(candidates), "its candidates");
        bool const is_refuted = candidates.find("gave wrong results in its first run") != std::string::npos;
        expect(name == planned && !is_refuted, "the right plan " + planned + " stays, of\n" + candidates);
        expect_right(session, "its result");
    }
    sdpa_graph::set_plan_store({});
    std::error_code ignored;
    fs::remove_all(store, ignored);
}

}  // namespace

void check_verification(GpuStream const& gpu) {
    check_verified_forward(gpu);
    check_verified_backward(gpu);
    check_first_runs(gpu);
}

}  // namespace sdpa_test
