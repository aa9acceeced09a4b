#include "kernel_cases.h"

#include "api/graph/graph_impl.h"
#include "nodes/validation/validate.h"
#include "support/random.h"
#include "unit/kernels/host/host_additions.h"

#include <cstddef>
#include <iterator>
#include <memory>

namespace sdpa_test {

namespace fe = cudnn_frontend;
namespace kernels = cudnn_frontend::kernels;

namespace {

// Memory of that size, whose start is a multiple of what kernels need.
class Workspace {
   public:
    explicit Workspace(std::int64_t bytes) : memory_(static_cast<std::size_t>(bytes) + kAlignment, std::byte{0xff}) {}

    void* start() {
        void* place = memory_.data();
        std::size_t space = memory_.size();
        return std::align(kAlignment, memory_.size() - kAlignment, place, space);
    }

   private:
    static constexpr std::size_t kAlignment = 256;
    std::vector<std::byte> memory_;
};

}  // namespace

fe::Result<kernels::AttentionGraph> read_graph(Session const& session, kernels::DeviceFacts const& device) {
    auto const graph = fe::nodes::validate(fe::detail::Graph_access::snapshot(session.graph()).spec).graph;
    return kernels::read_attention(*graph, device);
}

fe::error_t run_by_kernel(Session const& session, AfterRun const& after_run, BeforeRun const& before_run) {
    auto const read = read_graph(session);
    if (read.is_bad()) return read.error();
    kernels::AttentionKernelProblem problem = read.value().problem;
    auto const pack = session.pack_by_uid();
    Workspace workspace(kernels::workspace_of(problem).bytes);
    std::vector<void*> pointers;
    for (kernels::KernelPlace const& place : read.value().places) {
        pointers.push_back(place.is_in_workspace ? workspace.start() : pack.at(place.uid));
    }
    if (before_run) before_run(problem, pointers);
    run_on_host(problem, kHostHopper.multiprocessors, pointers);
    if (after_run) after_run(problem, pointers);
    return {};
}

Rig rig_of_kernel() {
    Rig rig(Target::cpu());
    rig.rounds_factors = true;
    rig.execute = [](Session const& session) { return run_by_kernel(session); };
    return rig;
}

ShuffledRuns shuffled_runs(AttentionCase const& c) {
    constexpr unsigned kRuns = 2;
    struct AtOnceAgain {
        ~AtOnceAgain() { add_at_once(); }
    } const at_end;
    ShuffledRuns runs;
    Rig rig = rig_of_kernel();
    rig.execute = [&](Session const& session) {
        return run_by_kernel(session, [&](auto const& problem, kernels::Pointers pointers) {
            if (!problem.is_backward) return;
            kernels::AttentionWorkspace const workspace = kernels::workspace_of(problem);
            auto const* const start = static_cast<std::byte const*>(pointers[*problem.workspace_pointer]);
            runs.sums.emplace(start + workspace.sums, start + workspace.bytes);
        });
    };
    for (unsigned seed = 0; seed < kRuns; ++seed) {
        shuffle_additions(seed);
        runs.faults += check_case(c, rig).faults();
    }
    return runs;
}

// --- Cases

AttentionCase plain_case(DataType_t type, Columns const& columns) {
    AttentionCase c;
    c.type = c.result_type = type;
    c.d_qk = columns.d_qk;
    c.d_v = columns.d_v;
    c.scale = Scale::Number;
    c.scale_value = 0.2f;
    return c;
}

void add_bias_gradient(AttentionCase& c) {
    c.d_bias = true;
    c.d_bias_dim = Index4{c.b, c.h_q, c.s_q, c.s_kv};
}

namespace {

void add_band(Random& random, AttentionCase& c) {
    if (random.chance(0.3)) return;
    c.alignment = random.pick({DiagonalAlignment_t::TOP_LEFT, DiagonalAlignment_t::BOTTOM_RIGHT});
    c.right = static_cast<int>(random.pick({0, 0, 1, 40, 130}));
    if (random.flip()) c.left = static_cast<int>(random.pick({1, 2, 30, 129, 200}));
    if (random.chance(0.2)) c.right.reset();
}

void draw_lengths(Random& random, AttentionCase& c) {
    c.len_q.emplace();
    c.len_kv.emplace();
    for (std::int64_t b = 0; b < c.b; ++b) {
        c.len_q->push_back(random.between(0, c.s_q));
        c.len_kv->push_back(random.between(0, c.s_kv));
    }
}

void add_lengths(Random& random, AttentionCase& c) {
    if (!random.chance(0.6)) draw_lengths(random, c);
}

// The terms of the host's codes (host_attention.cpp): a bias and ALiBi, a bias of FLOAT, or a softcap.
void add_terms(Random& random, AttentionCase& c) {
    if (random.chance(0.6)) return;
    Index4 const dims{random.flip() ? c.b : 1, random.flip() ? c.h_q : 1, random.flip() ? c.s_q : 1, c.s_kv};
    if (c.d_qk > 64) {
        c.bias = dims;
    } else if (random.flip()) {
        c.bias = dims;
        c.bias_type = DataType_t::BFLOAT16;
        c.alibi = true;
        if (random.flip()) add_bias_gradient(c);
    } else {
        c.modifier = random.pick({oracle::Modify::Softcap, oracle::Modify::Documents});
        c.modifier_number = random.pick({0.7f, 10.0f});
        if (c.modifier == oracle::Modify::Documents && random.flip()) {
            c.bias = dims;
            c.bias_type = DataType_t::BFLOAT16;
            add_bias_gradient(c);
        }
    }
    if (c.bias && random.flip()) c.bias_infinities = Infinities::Some;
}

// Dropout for which the host has code: with 64 columns without terms, with others next to a bias.
void add_dropout(Random& random, AttentionCase& c) {
    if (random.chance(0.7)) return;
    c.bias.reset();
    c.alibi = c.d_bias = false;
    c.d_bias_dim.reset();
    c.modifier = oracle::Modify::Nothing;
    if (c.d_qk > 64) {
        c.bias = Index4{c.b, c.h_q, c.s_q, c.s_kv};
        add_bias_gradient(c);
    }
    c.bias_type = DataType_t::FLOAT;
    c.dropout = Dropout::Probability;
    c.dropout_probability = random.pick({0.1f, 0.5f, 0.9f});
    c.rng_seed = random.between(-1, 1) * 0x1'2345'6789'abcd + 7;
    c.rng_offset = random.between(0, 1) * 0x1'0000'0003;
    c.rng_type = DataType_t::INT64;
    if (random.flip()) c.rng_type = DataType_t::INT32, c.rng_seed = -5, c.rng_offset = 12;
    c.scalars_by_value = random.flip();
    c.rng_dump = true;
}

void add_sink(Random& random, AttentionCase& c) {
    if (random.chance(0.7)) return;
    c.sink = DataType_t::FLOAT;
    c.d_sink = random.chance(0.8);
    c.numbers_apart = !c.len_q && random.flip();
}

constexpr Columns kColumns[] = {{64, 64},   {8, 40},   {64, 48},   {128, 128}, {80, 128},
                                {192, 128}, {176, 72}, {256, 256}, {256, 96}};

}  // namespace

AttentionCase random_kernel_case(std::uint64_t seed) {
    Random random(seed);
    AttentionCase c = plain_case(random.pick({DataType_t::BFLOAT16, DataType_t::HALF}), random.pick(kColumns));
    c.seed = seed;
    c.b = random.between(1, 2);
    c.h_k = c.h_v = random.between(1, 2);
    c.h_q = c.h_k * random.between(1, 2);
    c.s_q = random.pick({1, 17, 64, 130, 200, 300});
    c.s_kv = random.pick({1, 40, 128, 200, 300, 400});
    c.input_layout = random.pick({Layout::Bhsd, Layout::Bshd, Layout::Sbhd, Layout::WideGaps});
    c.output_layout = random.pick({Layout::Bhsd, Layout::Bshd, Layout::Sbhd, Layout::WideGaps});
    c.generate_stats = random.chance(0.8);
    add_band(random, c);
    add_lengths(random, c);
    add_terms(random, c);
    add_sink(random, c);
    add_dropout(random, c);
    return c;
}

AttentionCase random_packed_case(std::uint64_t seed) {
    AttentionCase c = random_kernel_case(seed);
    Random random(seed + 1);
    c.b = 3;
    c.input_layout = random.pick({Layout::Ragged, Layout::RaggedGaps, Layout::RaggedPacked});
    c.output_layout = Layout::Ragged;
    if (random.flip()) c.stats_layout = Layout::Bhsd;
    draw_lengths(random, c);
    c.numbers_apart = false;
    c.sums_of_lengths = random.flip();
    c.offsets_in_rows = random.flip();
    c.length_type = c.offset_type = random.pick({DataType_t::INT32, DataType_t::INT64});
    if (c.bias) c.bias = Index4{1, 1, 1, c.s_kv};
    if (c.d_bias) add_bias_gradient(c);
    return c;
}

AttentionCase random_paged_case(std::uint64_t seed) {
    Random random(seed + 2);
    AttentionCase c = random.flip() ? random_packed_case(seed) : random_kernel_case(seed);
    c.dropout = Dropout::None;
    c.rng_dump = c.d_bias = c.d_sink = false;
    if (c.bias && !c.alibi) c.bias.reset();
    if (!c.len_q) draw_lengths(random, c);
    c.numbers_apart = false;
    auto const page_rows = [&] { return random.pick({8, 16, 64, 128, 512}); };
    if (random.chance(0.8)) c.paging.k_rows = page_rows();
    if (random.chance(0.8) || c.paging.k_rows == 0) c.paging.v_rows = page_rows();
    c.paging.wide_tables = random.flip();
    c.paging.wild_entries = random.flip();
    c.nan_in_padding = random.flip();
    return c;
}

}  // namespace sdpa_test
