// The results of the kernels of attention, on the host, since the machines that test every change have no GPU.
#include "host_attention.h"
#include "api/graph/graph_impl.h"
#include "kernels/attention/attention_graph.h"
#include "nodes/validation/validate.h"
#include "reference/check_case.h"
#include "support/catch.h"
#include "support/random.h"
#include "unit/kernels/host/host_async.h"

#include <algorithm>
#include <set>
#include <stdexcept>

using namespace sdpa_test;
namespace fe = cudnn_frontend;
namespace kernels = cudnn_frontend::kernels;

namespace {

constexpr kernels::DeviceFacts kHopper{90, 2};  // few multiprocessors, so that a block has several tiles

// Runs the session's graph by the kernel; a backward one by the CPU target.
fe::error_t run_by_kernel(Session const& session, kernels::DeviceFacts const& device) {
    auto const graph = fe::nodes::validate(fe::detail::Graph_access::snapshot(session.graph()).spec).graph;
    if (!kernels::is_attention_forward(*graph)) return session.execute();
    auto const read = kernels::read_attention(*graph, device);
    if (read.is_bad()) return read.error();
    auto const pack = session.pack_by_uid();
    std::vector<void*> pointers;
    for (kernels::KernelPlace const& place : read.value().places) pointers.push_back(pack.at(place.uid));
    run_on_host(read.value().problem, device.multiprocessors, pointers);
    return {};
}

Rig rig_of_kernel(kernels::DeviceFacts const& device = kHopper) {
    Rig rig(Target::cpu());
    rig.rounds_factors = true;
    rig.execute = [device](Session const& session) { return run_by_kernel(session, device); };
    return rig;
}

// --- Cases

struct Columns {
    std::int64_t d_qk, d_v;
};

AttentionCase plain_case(DataType_t type, Columns const& columns) {
    AttentionCase c;
    c.type = c.result_type = type;
    c.d_qk = columns.d_qk;
    c.d_v = columns.d_v;
    c.scale = Scale::Number;
    c.scale_value = 0.2f;
    return c;
}

void add_band(Random& random, AttentionCase& c) {
    if (random.chance(0.3)) return;
    c.alignment = random.pick({DiagonalAlignment_t::TOP_LEFT, DiagonalAlignment_t::BOTTOM_RIGHT});
    c.right = static_cast<int>(random.pick({0, 0, 1, 40, 130}));
    if (random.flip()) c.left = static_cast<int>(random.pick({1, 2, 30, 129, 200}));
    if (random.chance(0.2)) c.right.reset();
}

void add_lengths(Random& random, AttentionCase& c) {
    if (random.chance(0.6)) return;
    c.len_q.emplace();
    c.len_kv.emplace();
    for (std::int64_t b = 0; b < c.b; ++b) {
        c.len_q->push_back(random.between(0, c.s_q));
        c.len_kv->push_back(random.between(0, c.s_kv));
    }
}

AttentionCase random_kernel_case(std::uint64_t seed) {
    Random random(seed);
    AttentionCase c = plain_case(
        random.pick({DataType_t::BFLOAT16, DataType_t::HALF}),
        random.pick(
            {Columns{64, 64}, {8, 40}, {64, 48}, {128, 128}, {80, 128}, {192, 128}, {176, 72}, {256, 256}, {256, 96}}));
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
    return c;
}

// --- Waits that are left out

// The fault in the case's results, or of its run, without a wait or fence; empty where nothing is wrong.
std::string fault_without(std::string const& wait, AttentionCase const& c) {
    leave_out_wait(wait);
    std::string fault;
    try {
        fault = check_case(c, rig_of_kernel()).faults();
    } catch (std::logic_error const& error) {
        fault = error.what();
    }
    leave_out_wait("");
    return fault;
}

struct ReachedWaits {
    AttentionCase made;
    std::vector<std::string> waits;
};

// Blocks with several tiles, whose keys need all buffers again and again. Some tiles of wide rows have no queries.
std::vector<ReachedWaits> wait_cases() {
    std::vector<ReachedWaits> cases;
    for (Columns const& columns : {Columns{64, 64}, {256, 256}, {128, 128}}) {
        AttentionCase c = plain_case(DataType_t::BFLOAT16, columns);
        c.h_q = 2;
        c.s_q = 300;
        c.s_kv = 540;
        if (columns.d_qk == 256) {
            c.b = 2;
            c.len_q = {300, 90};
            c.len_kv = {540, 540};
        }
        forget_waits();
        REQUIRE(check_case(c, rig_of_kernel()).faults() == "");
        cases.push_back({c, waits_reached()});
    }
    return cases;
}

}  // namespace

TEST_CASE("attention by warpgroups computes what the formula says") {
    constexpr std::uint64_t kCases = 60;
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
        AttentionCase const c = random_kernel_case(seed);
        INFO("case " << seed << ": " << describe(c));
        CHECK(check_case(c, rig_of_kernel()).faults() == "");
    }
}

TEST_CASE("results of attention are wrong if any wait or fence of the kernel is left out") {
    std::vector<ReachedWaits> const cases = wait_cases();
    std::set<std::string> waits;
    for (ReachedWaits const& made : cases) waits.insert(made.waits.begin(), made.waits.end());
    CHECK(waits.size() == 22);  // all in the source, so that a new one needs a case that reaches it
    for (std::string const& wait : waits) {
        bool const is_needed = std::ranges::any_of(cases, [&](ReachedWaits const& made) {
            bool const is_reached = std::ranges::find(made.waits, wait) != made.waits.end();
            return is_reached && !fault_without(wait, made.made).empty();
        });
        INFO("without " << wait << " all results are right");
        CHECK(is_needed);
    }
}
