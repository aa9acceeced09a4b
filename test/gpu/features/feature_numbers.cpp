// Promises about results besides being right: the same bits in each run, dropout that can be replayed, and no reading
// of lengths, offsets and pages that lead elsewhere.
#include "gpu/cases/case_changes.h"
#include "gpu/features/feature_checks.h"
#include "reference/checks/check_case.h"

#include <cudnn_frontend/process.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

namespace sdpa_test {
namespace {

using cudnn_frontend::Rewrite_t;
using Bits = std::set<std::string>;

// Many heads and rows at once, so that a sum in any order would show.
AttentionCase large_case() {
    AttentionCase c = feature_case();
    c.b = 4, c.h_q = 8, c.s_q = c.s_kv = 320, c.alibi = false;
    c.mask_type = c.type;
    return c;
}

// The number of different bit patterns of each tensor in so many runs of a session; empty where one failed.
std::vector<std::size_t> different_bits(Session& session, std::vector<HostTensor const*> const& tensors,
                                        GpuStream const& gpu, int runs) {
    std::vector<Bits> bits(tensors.size());
    for (int run = 0; run < runs; ++run) {
        Error const error = execute_on_gpu(session, gpu);
        if (error.is_bad()) return expect_good(error, "its run"), std::vector<std::size_t>();
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            if (!*tensors[i]) continue;
            HostMemory const& memory = *tensors[i]->memory;
            bits[i].emplace(reinterpret_cast<char const*>(memory.data()), memory.size());
        }
    }
    std::vector<std::size_t> counts;
    for (Bits const& of_tensor : bits) counts.push_back(of_tensor.size());
    return counts;
}

// Has the session's graph rewritten, where a rewrite is named, as a program that joins parts.
using Rewritten = std::optional<Rewrite_t>;

bool has_plan(Session& session, Rewritten rewritten, GpuStream const& gpu, std::string const& what) {
    if (rewritten) session.graph().set_rewrites({*rewritten});
    if (rewritten) session.graph().deselect_engines({"few_queries(1)", "slices(2)", "slices(4)"});
    if (!expect_plan(session.build(Target::cuda(gpu.handle())), what)) return false;
    std::string name;
    expect_good(session.graph().get_plan_name(name), "its name");
    if (rewritten) expect(name.starts_with("program "), "the plan of " + what + " is " + name);
    return true;
}

void expect_answer(Session const& session, bool is_deterministic) {
    bool answer = !is_deterministic;
    expect_good(session.graph().get_is_deterministic(answer), "its answer");
    expect(answer == is_deterministic,
           is_deterministic ? "it says that it is deterministic" : "it does not say that it is deterministic");
}

// The differences of dQ, dK, dV, dBias and dSink; empty where there is no plan.
std::vector<std::size_t> different_gradients(AttentionCase const& c, GpuStream const& gpu, int runs,
                                             bool wants_determinism, std::string const& name,
                                             Rewritten rewritten = {}) {
    Inputs const in = make_inputs(c);
    AttentionCase undropped = c;  // the GPU's mask is not known, nor needed
    undropped.dropout = Dropout::None;
    BackwardInputs const more = make_backward_inputs(c, oracle::forward(to_problem(undropped, in, {})));
    BackwardOutputs const out = make_backward_outputs(c);
    Session session(c, in, more, out);
    if (!has_plan(session, rewritten, gpu, "backward, " + name)) return {};
    expect_answer(session, wants_determinism);
    return different_bits(session, {&out.d_q, &out.d_k, &out.d_v, &out.d_bias, &out.d_sink}, gpu, runs);
}

// The differences of O, Stats, the dump and the magnitudes of FP8; empty where there is no plan.
std::vector<std::size_t> different_results(AttentionCase const& c, GpuStream const& gpu, int runs,
                                           bool wants_determinism, std::string const& name, Rewritten rewritten = {}) {
    Inputs const in = make_inputs(c);
    ForwardOutputs const out = make_forward_outputs(c);
    Session session(c, in, out);
    if (!has_plan(session, rewritten, gpu, "forward, " + name)) return {};
    expect_answer(session, wants_determinism);
    return different_bits(session, {&out.o, &out.stats, &out.rng_dump, &out.amax_s, &out.amax_o}, gpu, runs);
}

struct Kind {
    char const* name;
    Change change;
    Rewritten rewritten = {};
};

std::vector<Kind> deterministic_kinds() {
    return {
        {"causal", [](auto&) {}},
        {"a sink", [](auto& c) { c.sink = DataType_t::FLOAT; }},
        {"a sink with its gradient", sink},
        {"lengths", lengths},
        {"packed sequences", packed},
        {"a window", [](auto& c) { c.left = 50; }},
        {"dBias", biased(true, true, true)},
        {"dBias summed over batches", biased(false, true, true)},
        {"a dropout mask", masked_dropout},
        {"dropout", dropout},
        {"heads of 128", head_dims(128, 128)},
        {"no shared heads", [](auto& c) { c.h_k = c.h_v = c.h_q; }},
        {"in slices", [](auto& c) { c.b = 1; }, Rewrite_t::SLICES},
        {"dBias in slices", [](auto& c) { c.b = 1, biased(true, true, true)(c); }, Rewrite_t::SLICES},
        {"a band", [](auto& c) { c.left = 33, c.right = 32; }, Rewrite_t::BANDS},
    };
}

// Decoding is split over the keys.
std::vector<Kind> forward_kinds() {
    auto const one_query = [](AttentionCase& c) { decode(4096)(c), c.right.reset(), c.generate_stats = false; };
    return {
        {"causal", [](auto&) {}},
        {"dropout", dropout},
        {"packed sequences", packed},
        {"one query", one_query},
        {"keys in splits", [](auto& c) { c.s_q = 3, c.s_kv = 2048, c.right.reset(); }, Rewrite_t::FEW_QUERIES},
        {"one query, pages", [=](auto& c) { one_query(c), lengths(c), c.paging.k_rows = c.paging.v_rows = 16; }},
        {"FP8", [](auto& c) { c.type = c.result_type = DataType_t::FP8_E4M3, head_dims(128, 128)(c); }},
    };
}

// The bits of a drawn mask, as a mask of the program's own.
AttentionCase replay_of(AttentionCase const& drawn) {
    AttentionCase replayed = drawn;
    replayed.dropout = Dropout::Mask, replayed.rng_dump = false;
    replayed.mask = Index4{drawn.b, drawn.h_q, drawn.s_q, drawn.s_kv};
    replayed.mask_type = DataType_t::FLOAT;
    return replayed;
}

// A plan that looks at lengths, offsets and page tables before it runs.
struct CheckedPlan {
    explicit CheckedPlan(AttentionCase const& made, GpuStream const& gpu, std::string const& what)
        : c(made), in(make_inputs(c)), out(make_forward_outputs(c)), session(c, in, out) {
        cudnn_frontend::runtime::set_checks_indices(true);
        has_plan = expect_plan(session.build(Target::cuda(gpu.handle())), "a plan that checks " + what);
        cudnn_frontend::runtime::set_checks_indices(false);
        if (has_plan) expect_good(execute_on_gpu(session, gpu), what + " that are right");
    }

    AttentionCase c;
    Inputs in;
    ForwardOutputs out;
    Session session;
    bool has_plan = false;
};

AttentionCase case_with_lengths() {
    AttentionCase c = feature_case();
    c.alibi = false;
    c.len_q = {200, 7}, c.len_kv = {3, 200};
    return c;
}

void check_no_look_under_capture(Session const& session, GpuStream const& gpu) {
    DeviceMirror mirror;
    auto const pack = device_pack(session, mirror);
    HostMemory const workspace(session.graph().get_workspace_size());
    void* const scratch = mirror.address(workspace);
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(gpu.stream(), cudaStreamCaptureModeThreadLocal);
    expect_good(session.graph().execute(gpu.handle(), pack, scratch), "no look at indices under capture");
    expect(cudaStreamEndCapture(gpu.stream(), &graph) == cudaSuccess, "that capture ends well");
    cudaGraphDestroy(graph);
}

}  // namespace

static void expect_same_bits(std::vector<std::size_t> const& counts, std::string const& what) {
    if (counts.empty()) return;  // the failure was reported before
    std::size_t const most = std::ranges::max(counts);
    expect(most == 1, what + " the same bits in 20 runs: " + std::to_string(most));
}

void check_determinism(GpuStream const& gpu) {
    constexpr int kRuns = 20;
    for (Kind const& kind : deterministic_kinds()) {
        AttentionCase c = large_case();
        kind.change(c);
        c.deterministic = true;
        expect_same_bits(different_gradients(c, gpu, kRuns, true, kind.name, kind.rewritten), "its gradients have");
    }
    for (Kind const& kind : forward_kinds()) {
        AttentionCase c = large_case();
        kind.change(c);
        expect_same_bits(different_results(c, gpu, kRuns, true, kind.name, kind.rewritten), "its results have");
    }
    // A case for which nothing is promised.
    AttentionCase c = large_case();
    c.b = 1, c.s_q = c.s_kv = 2048, c.sink = DataType_t::FLOAT, c.d_sink = true;
    auto const counts = different_gradients(c, gpu, kRuns, false, "in any order, with dSink");
    if (counts.empty()) return;
    std::printf("  in 20 runs dQ has %zu different bits, dK %zu, dV %zu, dSink %zu\n", counts[0], counts[1], counts[2],
                counts[4]);
    c = large_case();
    decode(4096)(c), c.right.reset();
    auto const of_one_query = different_results(c, gpu, kRuns, false, "one query, with Stats");
    if (of_one_query.empty()) return;
    std::printf("  in 20 runs O has %zu different bits, Stats %zu\n", of_one_query[0], of_one_query[1]);
}

// Where the GPU's figures say that the deterministic algorithm is the faster one, it runs without being asked for.
void check_deterministic_program(GpuStream const& gpu) {
    AttentionCase c = large_case();
    head_dims(192, 128)(c);
    c.b = 1, c.h_q = c.h_k = c.h_v = 8, c.s_q = c.s_kv = 1024, c.right.reset();
    Inputs const in = make_inputs(c);
    BackwardInputs const more = make_backward_inputs(c, oracle::forward(to_problem(c, in, {})));
    BackwardOutputs const out = make_backward_outputs(c), wanted = make_backward_outputs(c);
    Session session(c, in, more, out), on_cpu(c, in, more, wanted);
    if (!expect_plan(session.build(Target::cuda(gpu.handle())), "backward of 192 and 128 columns")) return;
    std::string name, candidates;
    expect_good(session.graph().get_plan_name(name), "its name");
    expect_good(session.graph().print_candidates(candidates), "its candidates");
    bool const is_measured = candidates.find("\n  deterministic: about ") != std::string::npos;
    expect(name.starts_with("program deterministic: ") == is_measured, "its plan is " + name + " of\n" + candidates);
    expect_good(execute_on_gpu(session, gpu), "its run");
    expect_good(on_cpu.run(Target::cpu()), "its run on the CPU");
    expect_near(out.d_q, wanted.d_q, "its dQ");
    expect_near(out.d_k, wanted.d_k, "its dK");
    expect_near(out.d_v, wanted.d_v, "its dV");
}

// The mask of the GPU's generator, dumped and given to the CPU targets, gives the GPU's numbers there.
void check_replay(AttentionCase drawn, std::string const& name, GpuStream const& gpu) {
    dropout(drawn), drawn.alibi = false;
    Inputs const in = make_inputs(drawn);
    ForwardOutputs const out = make_forward_outputs(drawn);
    Session forward(drawn, in, out);
    expect_good(forward.build(Target::cuda(gpu.handle())), "drawn dropout, " + name);
    expect_good(execute_on_gpu(forward, gpu), "its run");

    AttentionCase const replayed = replay_of(drawn);
    Inputs masked = make_inputs(replayed);
    // The dump is not written where scores are masked.
    oracle::Array const scores = oracle::scores(to_problem(replayed, masked, {}));
    auto const is_kept = [&](Index4 const& at) { return !std::isinf(scores.at(at[0], at[1], at[2], at[3])); };
    masked.mask.fill([&](Index4 const& at) { return is_kept(at) ? out.rng_dump.get(at) : 0.0; });
    BackwardInputs const more = make_backward_inputs(replayed, oracle::forward(to_problem(replayed, masked, {})));
    BackwardOutputs const gradients = make_backward_outputs(drawn);
    Session backward(drawn, in, more, gradients);
    expect_good(backward.build(Target::cuda(gpu.handle())), "its gradient");
    expect_good(execute_on_gpu(backward, gpu), "its run");
    for (Target const& target : {Target::cpu(), Target::reference()}) {
        std::string const where = std::string(" of the mask on ") + to_string(target.kind());
        ForwardOutputs const again = make_forward_outputs(replayed);
        BackwardOutputs const same = make_backward_outputs(replayed);
        Session forward_again(replayed, masked, again), backward_again(replayed, masked, more, same);
        expect_good(forward_again.run(target), "forward" + where);
        expect_good(backward_again.run(target), "backward" + where);
        expect_near(out.o, again.o, "O" + where);
        expect_near(gradients.d_q, same.d_q, "dQ" + where);
        expect_near(gradients.d_k, same.d_k, "dK" + where);
        expect_near(gradients.d_v, same.d_v, "dV" + where);
    }
}

void check_dropout_replay(GpuStream const& gpu) {
    AttentionCase half = feature_case();
    half.type = half.result_type = DataType_t::HALF;
    check_replay(half, "causal", gpu);
    check_replay(feature_case(), "BFLOAT16", gpu);
    half.alignment = DiagonalAlignment_t::BOTTOM_RIGHT, half.s_q = 120, half.left = 40;
    check_replay(half, "a window, bottom right", gpu);
}

// docs/guide.md says how far programs advance the offset: by 32 for each head.
void check_dropout_offsets(GpuStream const& gpu) {
    AttentionCase c = feature_case();
    c.alibi = false, c.right.reset();
    c.dropout = Dropout::Probability, c.dropout_probability = 0.5f, c.rng_seed = 7, c.rng_dump = true;
    auto const mask_at = [&](std::int64_t offset) {
        c.rng_offset = offset;
        Inputs const in = make_inputs(c);
        ForwardOutputs const out = make_forward_outputs(c);
        Session session(c, in, out);
        expect_good(session.build(Target::cuda(gpu.handle())), "dropout at offset " + std::to_string(offset));
        expect_good(execute_on_gpu(session, gpu), "its run");
        return out.rng_dump;
    };
    // The share of elements that agree where one mask's heads are so many further on.
    auto const agreement = [&](HostTensor const& a, HostTensor const& b, std::int64_t heads) {
        double same = 0.0, all = 0.0;
        for_each_index(a.dim, [&](Index4 const& at) {
            std::int64_t const head = at[0] * c.h_q + at[1] + heads;
            if (head >= c.b * c.h_q) return;
            same += a.get(at) == b.get({head / c.h_q, head % c.h_q, at[2], at[3]}) ? 1.0 : 0.0;
            all += 1.0;
        });
        return same / all;
    };
    HostTensor const first = mask_at(0);
    expect(agreement(mask_at(32), first, 1) == 1.0, "32 further on it is the next head's mask");
    HostTensor const next = mask_at(32 * c.b * c.h_q);
    for (std::int64_t heads = 0; heads < c.b * c.h_q; ++heads) {
        double const most = std::max(agreement(next, first, heads), agreement(first, next, heads));
        expect(std::abs(most - 0.5) < 0.02, "32 times all heads further on it is another: " + std::to_string(most));
    }
}

void check_indices(GpuStream const& gpu) {
    CheckedPlan with_lengths(case_with_lengths(), gpu, "lengths");
    with_lengths.in.len_kv.set({1, 0, 0, 0}, 201.0);
    expect_bad(execute_on_gpu(with_lengths.session, gpu), "'len_kv': found the length 201 for batch entry 1",
               "a length too large");
    check_no_look_under_capture(with_lengths.session, gpu);

    AttentionCase c = case_with_lengths();
    c.input_layout = c.output_layout = Layout::Ragged;
    CheckedPlan with_offsets(c, gpu, "offsets");
    HostTensor const& starts = *with_offsets.in.k.offsets;
    double const second = starts.get({1, 0, 0, 0});
    starts.set({1, 0, 0, 0}, starts.get({2, 0, 0, 0}) + 64.0);
    expect_bad(execute_on_gpu(with_offsets.session, gpu), "offset", "an offset past the next one");
    starts.set({1, 0, 0, 0}, -64.0);
    expect_bad(execute_on_gpu(with_offsets.session, gpu), "offset", "an offset below 0");
    starts.set({1, 0, 0, 0}, second);
    expect_good(execute_on_gpu(with_offsets.session, gpu), "offsets that are right again");

    c = case_with_lengths();
    c.paging.k_rows = c.paging.v_rows = 16;
    CheckedPlan with_pages(c, gpu, "page tables");
    with_pages.in.v.table->set({1, 0, 2, 0}, 1e6);
    expect_bad(execute_on_gpu(with_pages.session, gpu), "page", "a page that is not there");

    c = feature_case();
    c.type = c.result_type = DataType_t::FP8_E4M3, c.alibi = false, head_dims(128, 128)(c);
    CheckedPlan with_factors(c, gpu, "factors");
    if (!with_factors.has_plan) return;
    HostTensor const factor = with_factors.in.factors.all().front();
    double const right = factor.get({});
    factor.set({}, 0.0);
    expect_bad(execute_on_gpu(with_factors.session, gpu), "[run.r05] tensor", "a factor of 0 in the GPU's memory");
    factor.set({}, right);
    expect_good(execute_on_gpu(with_factors.session, gpu), "factors that are right again");
}

}  // namespace sdpa_test
