// The ways to run a plan on the GPU: by map, by sorted pointers, captured, as a CUDA graph, from many threads, tuned.
// All give the bits of the first run.
#include "gpu/allocation_count.h"
#include "gpu/features/feature_checks.h"
#include "gpu/this_gpu.h"
#include "reference/checks/check_case.h"
#include "support/dynamic_shapes.h"

#include <cudnn_frontend/process.h>
#include <cudnn_frontend/runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace {

using namespace sdpa_test;
using cudnn_frontend::BuildPlanPolicy_t;
using cudnn_frontend::HeurMode_t;
using cudnn_frontend::Rewrite_t;
using Rewrites = std::vector<Rewrite_t>;

// The present content of these tensors; they are poisoned for the next run.
std::vector<std::byte> take(std::vector<HostTensor> const& results, DeviceMirror& mirror) {
    static_cast<void>(cudaDeviceSynchronize());
    static_cast<void>(mirror.copy_back());
    std::vector<std::byte> bytes;
    for (HostTensor const& tensor : results) {
        if (!tensor) continue;
        bytes.insert(bytes.end(), tensor.memory->data(), tensor.memory->data() + tensor.memory->size());
        poison(mirror.address(*tensor.memory), tensor.memory->size());
    }
    return bytes;
}

// The case with its own device memory, planned.
class Place {
   public:
    explicit Place(GpuStream const& gpu, AttentionCase const& c = feature_case(), Rewrites const& rewrites = {})
        : case_(c) {
        expect_good(gpu.status(), "a handle");
        session_.graph().set_rewrites(rewrites).deselect_engines({"few_queries(1)"});  // it merges nothing
        auto const start = std::chrono::steady_clock::now();
        expect_good(session_.build(Target::cuda(gpu.handle())), "the plan");
        build_time_ = std::chrono::steady_clock::now() - start;
        pack_ = device_pack(session_, mirror_);
    }

    double milliseconds_of_build() const { return build_time_.count(); }

    cudnn_frontend::graph::Graph& graph() { return session_.graph(); }
    std::map<std::int64_t, void*>& pack() { return pack_; }
    void* scratch() { return mirror_.address(workspace_); }

    std::vector<std::byte> take_result() { return take(out_.all(), mirror_); }
    // The results as they were read last.
    ForwardOutputs const& results() const { return out_; }

   private:
    AttentionCase case_;
    Inputs in_ = make_inputs(case_);
    ForwardOutputs out_ = make_forward_outputs(case_);
    Session session_{case_, in_, out_};
    DeviceMirror mirror_;
    HostMemory workspace_{std::int64_t{1} << 20};
    std::map<std::int64_t, void*> pack_;
    std::chrono::duration<double, std::milli> build_time_{};
};

// A kernel of the library's own runs after the engine.
AttentionCase case_of_sink_gradient() {
    AttentionCase c = feature_case();
    c.sink = DataType_t::FLOAT, c.d_sink = true;
    return c;
}

void expect_program(cudnn_frontend::graph::Graph const& graph, bool is_program) {
    std::string name;
    expect_good(graph.get_plan_name(name), "a plan");
    expect(name.starts_with("program ") == is_program, "the plan is " + name);
}

void launch(cudaGraph_t graph, cudaStream_t stream) {
    cudaGraphExec_t executable = nullptr;
    expect(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess, "the CUDA graph instantiates");
    expect(cudaGraphLaunch(executable, stream) == cudaSuccess, "the CUDA graph launches");
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(executable);
}

void check_forms(Place& place, GpuStream const& gpu, std::vector<std::byte> const& wanted) {
    std::vector<void*> sorted;
    for (std::int64_t const uid : place.graph().get_variant_pack_uids_sorted()) sorted.push_back(place.pack().at(uid));
    auto const count = static_cast<int>(sorted.size());
    expect_good(place.graph().execute(gpu.handle(), sorted.data(), count, place.scratch()), "sorted pointers");
    expect(place.take_result() == wanted, "sorted pointers give the same bits");
    expect_bad(place.graph().execute(gpu.handle(), sorted.data(), count - 1, place.scratch()), "; expected ",
               "one pointer too few");
    expect_good(place.graph().warmup(gpu.handle()), "warm-up");
}

// Runs by turns in two memories.
void check_memories(Place& place, Place& other, GpuStream const& gpu, std::vector<std::byte> const& wanted) {
    for (int turn = 0; turn < 6; ++turn) {
        Place& one = turn % 2 == 0 ? place : other;
        expect_good(one.graph().execute(gpu.handle(), one.pack(), one.scratch()), "a run in another memory");
        expect(one.take_result() == wanted, "runs in two memories give the same bits");
    }
}

// A graph that is built again uses the plan of the first, whose graph is gone, and has its own memory.
void check_kept_graphs(GpuStream const& gpu, std::vector<std::byte> const& wanted) {
    cudnn_frontend::runtime::forget_graphs();
    double const first = Place(gpu).milliseconds_of_build();
    double again = Place(gpu).milliseconds_of_build();
    for (int i = 0; i < 3; ++i)
        again = std::min(again, Place(gpu).milliseconds_of_build());  // others may use the machine
    expect(again * 5 < first, "building takes " + std::to_string(first) + " ms, then " + std::to_string(again));
    Place kept(gpu);
    expect_good(kept.graph().execute(gpu.handle(), kept.pack(), kept.scratch()), "a run of a kept plan");
    expect(kept.take_result() == wanted, "a kept plan gives the same bits");
}

// Runs with a scale that the host passes, and with a number, where cuDNN's pack of the last run is kept.
void check_allocations(GpuStream const& gpu) {
    for (Scale const scale : {Scale::ByValue, Scale::Number}) {
        AttentionCase c = feature_case();
        c.scale = scale;
        Place place(gpu, c);
        auto const run = [&] { return place.graph().execute(gpu.handle(), place.pack(), place.scratch()); };
        expect_good(run(), "a first run");
        long const before = allocations();
        bool const is_good = run().is_good();
        long const made = allocations() - before;
        expect(is_good && made == 0, "later runs allocate nothing: " + std::to_string(made) + " allocations");
    }
    long const before = allocations();
    delete new int;
    expect(allocations() == before + 1, "allocations are counted");
}

void check_capture(Place& place, GpuStream const& gpu, std::vector<std::byte> const& wanted) {
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(gpu.stream(), cudaStreamCaptureModeThreadLocal);
    expect_good(place.graph().execute(gpu.handle(), place.pack(), place.scratch()), "execute under stream capture");
    expect(cudaStreamEndCapture(gpu.stream(), &graph) == cudaSuccess, "the capture ends well");
    launch(graph, gpu.stream());
    expect(place.take_result() == wanted, "a captured run gives the same bits");
    cudaGraphDestroy(graph);
}

// Backward gets the full lengths, which no program passes, and writes its sums to a workspace that others used before.
void check_captured_backward(GpuStream const& gpu, AttentionCase c, Rewrites const& rewrites) {
    c.deterministic = true;
    Inputs const in = make_inputs(c);
    BackwardInputs const more = make_backward_inputs(c, oracle::forward(to_problem(c, in, {})));
    BackwardOutputs const out = make_backward_outputs(c);
    Session session(c, in, more, out);
    session.graph().set_rewrites(rewrites).deselect_engines({"slices(2)", "slices(4)"});  // they sum nothing
    expect_good(session.build(Target::cuda(gpu.handle())), "a backward plan with full lengths");
    expect_program(session.graph(), !rewrites.empty());
    DeviceMirror mirror;
    auto const pack = device_pack(session, mirror);
    HostMemory const workspace(session.graph().get_workspace_size());
    void* const scratch = mirror.address(workspace);
    expect_good(session.graph().execute(gpu.handle(), pack, scratch), "its run");
    auto const wanted = take(out.all(), mirror);

    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(gpu.stream(), cudaStreamCaptureModeThreadLocal);
    expect_good(session.graph().execute(gpu.handle(), pack, scratch), "backward under stream capture");
    expect(cudaStreamEndCapture(gpu.stream(), &graph) == cudaSuccess, "its capture ends well");
    for (char const* const turn : {"first", "second"}) {
        poison(scratch, workspace.size());
        launch(graph, gpu.stream());
        expect(take(out.all(), mirror) == wanted, std::string("captured backward gives the same bits, ") + turn);
    }
    cudaGraphDestroy(graph);
    cudaGraphCreate(&graph, 0);
    expect_good(session.graph().populate_cuda_graph(gpu.handle(), pack, scratch, graph), "populate with backward");
    poison(scratch, workspace.size());
    launch(graph, gpu.stream());
    expect(take(out.all(), mirror) == wanted, "a populated backward gives the same bits");
    cudaGraphDestroy(graph);
}

void check_cuda_graph(Place& place, Place& other, GpuStream const& gpu, std::vector<std::byte> const& wanted) {
    cudaGraph_t graph = nullptr;
    cudaGraphCreate(&graph, 0);
    expect_good(place.graph().populate_cuda_graph(gpu.handle(), place.pack(), place.scratch(), graph), "populate");
    launch(graph, gpu.stream());
    expect(place.take_result() == wanted, "a populated CUDA graph gives the same bits");
    expect_bad(place.graph().populate_cuda_graph(gpu.handle(), place.pack(), place.scratch(), graph), "needs an empty",
               "populate a graph that has nodes");
    expect_good(place.graph().update_cuda_graph(gpu.handle(), other.pack(), other.scratch(), graph), "update");
    launch(graph, gpu.stream());
    expect(other.take_result() == wanted, "an updated CUDA graph writes to the other memory");
    cudaGraphDestroy(graph);
}

// Attention over splits of the keys, and a merge; backward in slices, and sums.
void check_programs(GpuStream const& gpu) {
    AttentionCase c = feature_case();
    c.alibi = false;
    check_captured_backward(gpu, c, {Rewrite_t::SLICES});
    c.right.reset();
    c.s_q = 2, c.s_kv = 1024;
    Place place(gpu, c, {Rewrite_t::FEW_QUERIES}), other(gpu, c, {Rewrite_t::FEW_QUERIES});
    expect_program(place.graph(), true);
    expect_good(place.graph().execute(gpu.handle(), place.pack(), place.scratch()), "a program's run");
    std::vector<std::byte> const wanted = place.take_result();
    check_forms(place, gpu, wanted);
    check_memories(place, other, gpu, wanted);
    check_capture(place, gpu, wanted);
    check_cuda_graph(place, other, gpu, wanted);
}

// The last keys of a causal mask, and the borders of bands, at the same time as the other steps.
void check_lanes(GpuStream const& gpu) {
    AttentionCase c = feature_case();
    c.alibi = false;
    c.left = 33, c.right = 32;
    check_captured_backward(gpu, c, {Rewrite_t::BANDS});
    c.left.reset(), c.right = 0;
    c.alignment = cudnn_frontend::DiagonalAlignment_t::BOTTOM_RIGHT;
    c.b = 1, c.s_q = 2, c.s_kv = 1024;
    Place place(gpu, c, {Rewrite_t::FEW_QUERIES}), other(gpu, c, {Rewrite_t::FEW_QUERIES});
    expect_program(place.graph(), true);
    expect_good(place.graph().execute(gpu.handle(), place.pack(), place.scratch()), "a run of lanes");
    std::vector<std::byte> const wanted = place.take_result();
    check_memories(place, other, gpu, wanted);
    check_capture(place, gpu, wanted);
    check_cuda_graph(place, other, gpu, wanted);
    cudaGraph_t graph = nullptr;
    std::size_t roots = 0;
    cudaGraphCreate(&graph, 0);
    expect_good(place.graph().populate_cuda_graph(gpu.handle(), place.pack(), place.scratch(), graph), "populate");
    expect(cudaGraphGetRootNodes(graph, nullptr, &roots) == cudaSuccess && roots == 2, "the CUDA graph has two lanes");
    cudaGraphDestroy(graph);
}

// In a graph with packed tensors, rows of a dense result past the lengths hold zeros, however the plan runs.
void check_dense_result(GpuStream const& gpu) {
    AttentionCase c = feature_case();
    c.len_q = {70, 200}, c.len_kv = {200, 33};
    c.input_layout = Layout::Ragged, c.stats_layout = Layout::Ragged;
    Place place(gpu, c), other(gpu, c);
    expect_good(place.graph().execute(gpu.handle(), place.pack(), place.scratch()), "a run with a dense result");
    std::vector<std::byte> const wanted = place.take_result();
    HostTensor const& o = place.results().o;
    bool is_clear = true;
    for_each_index(o.dim,
                   [&](Index4 const& at) { is_clear = is_clear && (at[0] != 0 || at[2] < 70 || o.get(at) == 0); });
    expect(is_clear, "rows of a dense result past the lengths are zeros");
    check_forms(place, gpu, wanted);
    check_memories(place, other, gpu, wanted);
    check_capture(place, gpu, wanted);
    check_cuda_graph(place, other, gpu, wanted);
}

void check_threads(Place& shared, std::vector<std::byte> const& wanted) {
    std::atomic<int> wrong{0};
    auto const& graph = shared.graph();
    auto const worker = [&] {
        GpuStream const gpu;
        Place own(gpu);
        for (int i = 0; i < 20; ++i) {
            if (graph.execute(gpu.handle(), own.pack(), own.scratch()).is_bad()) ++wrong;
            static_cast<void>(gpu.wait());
            if (i % 10 == 0 && own.take_result() != wanted) ++wrong;
        }
    };
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back(worker);
    threads.clear();
    expect(wrong == 0, "eight threads run one graph with their own handles and memory");
}

void check_plans(Place& place, GpuStream const& gpu) {
    auto& graph = place.graph();
    expect_good(graph.create_execution_plans({HeurMode_t::A, HeurMode_t::FALLBACK}), "candidates");
    expect_good(graph.build_plans(BuildPlanPolicy_t::ALL, true), "all plans, in parallel");
    expect_good(graph.autotune(gpu.handle(), place.pack(), place.scratch()), "autotune");
    std::string name;
    expect_good(graph.get_plan_name(name), "the fastest plan");
    std::printf("  fastest of %lld: %s\n", static_cast<long long>(graph.get_execution_plan_count()), name.c_str());
    for (std::int64_t i = 0; i < graph.get_execution_plan_count(); ++i) {
        if (graph.get_workspace_size_plan_at_index(i) > (1 << 20) || graph.build_plan_at_index(i).is_bad()) continue;
        expect_good(graph.execute_plan_at_index(gpu.handle(), place.pack(), place.scratch(), i),
                    "plan " + std::to_string(i));
    }
}

// Forward graphs with dynamic shapes and one kernel cache: right for each shape, and a shape that comes again is not
// compiled again.
void check_kernel_cache(GpuStream const& gpu) {
    auto const cache = std::make_shared<cudnn_frontend::KernelCache>();
    bool is_forward = true;
    Rig rig(Target::cuda(gpu.handle()));
    rig.execute = [&](Session const& session) { return execute_on_gpu(session, gpu); };
    rig.rounds_factors = true;
    rig.prepare = [&](Graph& graph) {
        if (is_forward) graph.set_dynamic_shape_enabled(true).set_kernel_cache(cache);
        is_forward = false;
    };
    for (std::int64_t const depth : {64, 128}) {
        for (std::int64_t const rows : {200, 72, 333, 200}) {
            AttentionCase c = feature_case();
            c.alibi = false;
            c.s_q = c.s_kv = rows, c.d_qk = c.d_v = depth;
            is_forward = true;
            Outcome const outcome = check_case(c, rig);
            if (!test::takes_dynamic_shapes()) {
                expect(outcome.faults().find("cudnn.s84") != std::string::npos,
                       "dynamic shapes are refused by version");
                return;
            }
            expect(outcome.faults().empty(),
                   "dynamic shapes, " + std::to_string(rows) + " rows of " + std::to_string(depth) + outcome.faults());
        }
    }
    expect(cache->describe() == "kernel cache of 6 graphs", cache->describe());
}

void check_bad_arguments(Place& place, GpuStream const& gpu) {
    auto pack = place.pack();
    expect_bad(place.graph().execute(nullptr, pack, place.scratch()), "handle is null", "a null handle");
    for (auto& entry : pack) entry.second = pack.begin()->second;
    expect_bad(place.graph().execute(gpu.handle(), pack, place.scratch()), "shares with", "O in the memory of Q");
    pack = place.pack();
    pack.begin()->second = static_cast<std::byte*>(pack.begin()->second) + 2;
    expect_bad(place.graph().execute(gpu.handle(), pack, place.scratch()), "multiple of 16", "a misaligned Q");
    pack.erase(pack.begin());
    expect_bad(place.graph().execute(gpu.handle(), pack, place.scratch()), "no entry for uid", "a missing Q");
}

// Backward adds dQ up in single precision, so that it has a workspace wherever it runs.
void check_bad_workspaces(GpuStream const& gpu) {
    AttentionCase const c = feature_case();
    Inputs const in = make_inputs(c);
    BackwardInputs const more = make_backward_inputs(c, oracle::forward(to_problem(c, in, {})));
    BackwardOutputs const out = make_backward_outputs(c);
    Session session(c, in, more, out);
    expect_good(session.build(Target::cuda(gpu.handle())), "a backward plan");
    std::int64_t const bytes = session.graph().get_workspace_size();
    expect(bytes > 0, "it needs a workspace: " + std::to_string(bytes) + " bytes");
    DeviceMirror mirror;
    auto const pack = device_pack(session, mirror);
    HostMemory const memory(bytes + 256);
    auto* const workspace = static_cast<std::byte*>(mirror.address(memory));
    auto const run = [&](void* at, std::int64_t size) { return session.graph().execute(gpu.handle(), pack, at, size); };
    expect_bad(run(workspace + 8, bytes), "is not aligned", "a misaligned workspace");
    expect_bad(run(nullptr, bytes), "workspace that is null", "a null workspace");
    expect_bad(run(workspace, bytes - 1), "as get_workspace_size() returns", "a workspace that is too small");
    expect_good(run(workspace, bytes), "a workspace of just the size");
    expect_good(gpu.wait(), "its run");
}

// The graph's Stats are computed, and stay in it.
void check_virtual_results(GpuStream const& gpu) {
    AttentionCase const c = feature_case();
    Inputs const in = make_inputs(c);
    ForwardOutputs const out = make_forward_outputs(c);
    Session session(c, in, out);
    TensorPtr const stats = session.tensor_of(out.stats);
    stats->set_output(false).set_uid(500);
    expect_good(session.build(Target::cuda(gpu.handle())), "a plan with virtual Stats");
    DeviceMirror mirror;
    auto pack = device_pack(session, mirror);
    HostMemory const workspace(session.graph().get_workspace_size());
    auto const run = [&] { return session.graph().execute(gpu.handle(), pack, mirror.address(workspace)); };
    expect_bad(run(), "[run.r06] tensor 'attention::Stats'", "memory for virtual Stats");
    pack.erase(stats->get_uid());
    expect_good(run(), "a pack without them");
    expect_good(gpu.wait(), "its run");
}

// Launches kernel by kernel, or replays. Returns the result of attention.
std::vector<std::byte> check_launches(GpuStream const& gpu, std::int64_t replay_after) {
    cudnn_frontend::runtime::set_replay_after(replay_after);
    cudnn_frontend::runtime::forget_graphs();
    Place place(gpu), other(gpu);
    expect_good(place.graph().execute(gpu.handle(), place.pack(), place.scratch()), "execute");
    std::vector<std::byte> const wanted = place.take_result();
    check_forms(place, gpu, wanted);
    check_memories(place, other, gpu, wanted);
    check_allocations(gpu);
    check_capture(place, gpu, wanted);
    check_captured_backward(gpu, feature_case(), {});
    check_captured_backward(gpu, case_of_sink_gradient(), {});
    check_cuda_graph(place, other, gpu, wanted);
    check_programs(gpu);
    check_lanes(gpu);
    check_dense_result(gpu);
    check_threads(place, wanted);
    return wanted;
}

}  // namespace

int main() {
    if (gpu_count() == 0) {
        std::puts("skipped: there is no GPU here");
        return 77;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    GpuStream const gpu;
    auto const wanted = check_launches(gpu, -1);
    expect(check_launches(gpu, 0) == wanted, "replays give the same bits");
    Place place(gpu);
    check_bad_arguments(place, gpu);
    check_bad_workspaces(gpu);
    check_virtual_results(gpu);
    check_kept_graphs(gpu, wanted);
    check_plans(place, gpu);
    check_kernel_cache(gpu);
    check_shape_overrides(gpu);
    check_resized_plans(gpu);
    check_determinism(gpu);
    check_deterministic_program(gpu);
    check_dropout_replay(gpu);
    check_dropout_offsets(gpu);
    check_indices(gpu);
    check_verification(gpu);
    std::printf("%d failures\n", failures());
    return failures() == 0 ? 0 : 1;
}
