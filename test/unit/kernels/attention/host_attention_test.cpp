// The results of the kernels of attention, on the host, since the machines that test every change have no GPU.
#include "attention/philox.h"
#include "kernel_cases.h"
#include "kernels/attention/attention_launch.h"
#include "support/catch.h"
#include "unit/kernels/host/host_async.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace sdpa_test;
namespace fe = cudnn_frontend;
namespace kernels = cudnn_frontend::kernels;

namespace {

// The dumped mask of dropout, where the graph has its tensor.
struct Dump {
    float const* start;
    kernels::PlacedOperand tensor;
};

Dump dump_of(Session const& session) {
    auto const graph = read_graph(session);
    kernels::PlacedOperand const& tensor = graph.value().problem.operand(fe::attention::RngDump);
    void* const start = session.pack_by_uid().at(graph.value().places[tensor.pointer].uid);
    return {static_cast<float const*>(start), tensor};
}

// The number of scores on which they do not agree.
int different_from(fe::attention::PhiloxMask const& expected, Dump const& dump) {
    int count = 0;
    auto const& dims = dump.tensor.dims;
    for_each_index({dims[0], dims[1], dims[2], dims[3]}, [&](Index4 const& at) {
        std::int64_t place = 0;
        for (std::size_t dim = 0; dim < 4; ++dim) place += at[dim] * dump.tensor.strides[dim];
        bool const keeps = expected.keeps((at[0] * dims[1] + at[1]) * dims[2] + at[2], at[3]);
        count += dump.start[place] == (keeps ? 1.0f : 0.0f) ? 0 : 1;
    });
    return count;
}

// The faults of forward and of backward.
std::string faults_of(AttentionCase const& c) {
    if (c.deterministic) {
        ShuffledRuns const runs = shuffled_runs(c);
        return runs.faults + (runs.sums.size() > 1 ? "gradients depend on the order of additions\n" : "");
    }
    return check_case(c, rig_of_kernel()).faults();
}

// --- Blocks that a modifier hides

// A block's sign, score by score.
char sign_of(int const* of_tile, std::int64_t tile_rows, int const* of_block, std::int64_t block_rows) {
    auto const [least, most] = std::minmax_element(of_tile, of_tile + tile_rows);
    auto const [least_of_block, most_of_block] = std::minmax_element(of_block, of_block + block_rows);
    if (*most < *least_of_block || *most_of_block < *least) return '.';
    return *least == *most && *least_of_block == *most_of_block ? '#' : '+';
}

// The blocks that the kernel should find for one batch of documents, as text_of_blocks() writes them.
std::string expected_blocks(kernels::AttentionKernelProblem const& problem, kernels::Pointers pointers) {
    kernels::HiddenBlocks const blocks = kernels::hidden_blocks(problem);
    auto const* const of_queries = static_cast<int const*>(pointers[problem.score_tensors[0].pointer]);
    auto const* const of_keys = static_cast<int const*>(pointers[problem.score_tensors[1].pointer]);
    int const* const own = problem.is_backward ? of_keys : of_queries;
    int const* const others = problem.is_backward ? of_queries : of_keys;
    std::int64_t const rows = problem.is_backward ? problem.keys() : problem.queries();
    std::int64_t const other_rows = problem.is_backward ? problem.queries() : problem.keys();
    std::string expected;
    for (std::int64_t tile = 0; tile < blocks.tiles; ++tile) {
        std::int64_t const first = tile * blocks.tile_rows;
        for (std::int64_t row = 0; row < other_rows; row += blocks.block_rows) {
            expected += sign_of(own + first, std::min<std::int64_t>(blocks.tile_rows, rows - first), others + row,
                                std::min<std::int64_t>(blocks.block_rows, other_rows - row));
        }
        expected += "\n";
    }
    return expected;
}

// --- The code of modifiers

std::string score_code_file(std::string const& name) {
    std::ifstream file(SDPA_TEST_SCORE_CODES + ("/" + name));
    return {std::istreambuf_iterator<char>(file), {}};
}

// Calls visit(problem) for forward and backward with the modifier.
template <class Visit>
void for_each_pass(oracle::Modify modifier, Visit const& visit) {
    AttentionCase c = plain_case(DataType_t::BFLOAT16, {64, 64});
    c.s_q = c.s_kv = 20;
    c.modifier = modifier;
    Rig rig = rig_of_kernel();
    rig.execute = [&](Session const& session) {
        auto const graph = read_graph(session);
        if (graph.is_bad()) return graph.error();
        visit(graph.value().problem);
        return session.execute();
    };
    CHECK(check_case(c, rig).faults() == "");
}

struct ScoreCodes {
    std::string text, text_of_bounds, text_of_short_score;
};

// The codes of gradients, for a modifier whose gradients are computed, too.
ScoreCodes score_codes_of(oracle::Modify modifier) {
    ScoreCodes codes;
    for_each_pass(modifier, [&](kernels::AttentionKernelProblem const& problem) {
        kernels::ModifierCode const& made = problem.modifier;
        if (problem.is_backward) codes = {made.text, made.text_of_bounds, made.text_of_short_score};
    });
    return codes;
}

std::vector<kernels::CodeName> codes_of(kernels::AttentionKernelProblem const& problem) {
    kernels::CodeName const own = problem.is_backward ? code_of(problem, kernels::AttentionWork::Gradients)
                                                      : code_of(problem, kernels::AttentionWork::Forward);
    return {code_of(problem, kernels::AttentionWork::BlockBits), own};
}

// The faults of both passes, and of the dumped masks: their elements that are not those of the CPU targets' generator.
std::string faults_of_dropout(AttentionCase const& c) {
    fe::attention::PhiloxMask const expected(c.rng_seed, c.rng_offset, 1.0 - static_cast<double>(c.dropout_probability),
                                             c.s_kv);
    Rig rig = rig_of_kernel();
    std::string faults;
    rig.execute = [&](Session const& session) {
        auto const failure = run_by_kernel(session);
        int const count = failure.is_good() ? different_from(expected, dump_of(session)) : 0;
        if (count > 0) faults += std::to_string(count) + " elements of the mask are wrong\n";
        return failure;
    };
    return faults + check_case(c, rig).faults();
}

// --- Bias

// A bias and its gradient have a number for each score.
AttentionCase case_with_bias(std::int64_t queries, std::int64_t keys) {
    AttentionCase c = plain_case(DataType_t::BFLOAT16, {64, 64});
    c.h_q = 2;
    c.s_q = queries;
    c.s_kv = keys;
    c.alibi = true;
    c.bias = Index4{c.b, c.h_q, c.s_q, c.s_kv};
    c.bias_type = DataType_t::BFLOAT16;
    add_bias_gradient(c);
    return c;
}

// Whether the copy engine can move the bias, and the faults of both passes with the bias at so many elements from a
// multiple of 16 bytes.
std::pair<bool, std::string> run_with_bias(AttentionCase const& c, std::int64_t shift) {
    bool is_moved = false;
    std::vector<std::uint16_t> copy;
    Rig rig = rig_of_kernel();
    rig.execute = [&](Session const& session) {
        return run_by_kernel(session, {}, [&](auto const& problem, std::vector<void*>& pointers) {
            is_moved = kernels::moves_in_boxes(problem, fe::attention::Bias);
            void*& bias = pointers[problem.operand(fe::attention::Bias).pointer];
            auto const* const elements = static_cast<std::uint16_t const*>(bias);
            std::int64_t const count = c.b * c.h_q * c.s_q * c.s_kv;
            constexpr std::int64_t kAligned = 8;
            copy.assign(static_cast<std::size_t>(count + 2 * kAligned), 0);
            auto const address = reinterpret_cast<std::uintptr_t>(copy.data()) / 2;
            std::int64_t const first = (kAligned - static_cast<std::int64_t>(address % kAligned)) % kAligned + shift;
            std::copy(elements, elements + count, copy.begin() + first);
            bias = copy.data() + first;
        });
    };
    return {is_moved, check_case(c, rig).faults()};
}

// --- Waits that are left out

// The fault in the case's results, or of its run, without a wait or fence; empty where nothing is wrong.
std::string fault_without(std::string const& wait, AttentionCase const& c) {
    leave_out_wait(wait);
    std::string fault;
    try {
        fault = faults_of(c);
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

// Blocks with several tiles, whose keys need all buffers again and again; wide rows without lengths and with them,
// where some tiles have no queries; packed sequences; a bias with a gradient, which the copy engine moves; and
// deterministic gradients.
std::vector<AttentionCase> cases_with_many_tiles() {
    std::vector<AttentionCase> cases;
    for (Columns const& columns : {Columns{64, 64}, {256, 256}, {256, 256}, {128, 128}, {192, 128}}) {
        AttentionCase c = plain_case(DataType_t::BFLOAT16, columns);
        c.h_q = 2;
        c.s_q = 300;
        c.s_kv = 540;
        cases.push_back(c);
    }
    cases[0].sink = DataType_t::FLOAT;
    cases[0].d_sink = true;
    cases[2].b = 2;
    cases[2].len_q = {300, 90};
    cases[2].len_kv = {540, 540};
    AttentionCase& packed = cases[3];
    packed.b = 2;
    packed.s_q = 700;
    packed.len_q = {700, 90};
    packed.len_kv = {540, 300};
    packed.input_layout = packed.output_layout = Layout::Ragged;
    cases.push_back(packed);
    cases.back().input_layout = cases.back().output_layout = Layout::Bhsd;
    cases.push_back(case_with_bias(300, 536));
    cases.push_back(cases[0]);
    cases.back().deterministic = true;
    return cases;
}

std::vector<ReachedWaits> wait_cases() {
    std::vector<ReachedWaits> cases;
    for (AttentionCase const& c : cases_with_many_tiles()) {
        forget_waits();
        REQUIRE(faults_of(c) == "");
        cases.push_back({c, waits_reached()});
    }
    return cases;
}

}  // namespace

TEST_CASE("attention by warpgroups and its gradients are what the formula says") {
    constexpr std::uint64_t kCases = 80;
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
        AttentionCase const c = random_kernel_case(seed);
        INFO("case " << seed << ": " << describe(c));
        CHECK(faults_of(c) == "");
    }
}

TEST_CASE("gradients of 192 columns, and those of 256 by warpgroups that split columns, with each option of scores") {
    for (Columns const& columns : {Columns{192, 128}, Columns{256, 256}}) {
        AttentionCase c = plain_case(DataType_t::BFLOAT16, columns);
        INFO(columns.d_qk << " columns");
        c.h_q = 2;
        c.s_q = 200;
        c.s_kv = 300;
        c.right = 0;
        CHECK(faults_of(c) == "");
        c.modifier = oracle::Modify::Softcap;
        c.modifier_number = 0.7f;
        CHECK(faults_of(c) == "");
        c.modifier = oracle::Modify::Nothing;
        c.bias = Index4{1, 2, 1, 300};
        CHECK(faults_of(c) == "");
        c.d_bias = true;
        CHECK(faults_of(c) == "");
        c.bias = Index4{1, 2, 200, 300};
        c.dropout = Dropout::Probability;
        c.dropout_probability = 0.3f;
        c.rng_dump = true;
        CHECK(faults_of(c) == "");
    }
}

TEST_CASE("keys and values in pages") {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        AttentionCase const c = random_paged_case(seed);
        INFO(describe(c));
        CHECK(faults_of(c) == "");
    }
}

// The engine's reading of the case's forward, which does not run.
static fe::Result<kernels::AttentionGraph> read_forward(AttentionCase const& c) {
    std::optional<fe::Result<kernels::AttentionGraph>> read;
    Rig rig = rig_of_kernel();
    rig.execute = [&](Session const& session) -> fe::error_t {
        if (!read) read = read_graph(session);
        return {fe::error_code_t::GRAPH_NOT_SUPPORTED, "planned alone"};
    };
    check_case(c, rig);
    REQUIRE(read);
    return *std::move(read);
}

TEST_CASE("kernels.c19: page tables are not packed, and tensors next to packed queries and pages are") {
    auto const refusal = [](AttentionCase const& c) { return read_forward(c).error().get_message(); };
    AttentionCase c = plain_case(DataType_t::BFLOAT16, {64, 64});
    c.b = 2;
    c.s_q = 5;
    c.s_kv = 40;
    c.len_q = c.len_kv = {3, 5};
    c.paging = {.k_rows = 16, .v_rows = 16, .packed_tables = true};
    CHECK(refusal(c).find("[kernels.c19]") != std::string::npos);
    CHECK(refusal(c).find("found a packed page table") != std::string::npos);
    c.paging = {.k_rows = 16};
    CHECK(refusal(c) == "");
    c.input_layout = c.output_layout = Layout::Ragged;
    CHECK(refusal(c) == "");
    c.keys_layout = Layout::Bhsd;
    CHECK(refusal(c).find("found padded sequences next to packed ones") != std::string::npos);
}

// Few queries of many heads, with as many sequences as let so many heads share a tile.
static void check_shared_tiles(AttentionCase c, int heads, std::int64_t queries) {
    constexpr std::int64_t kLeastTiles = 132, kKeyHeads = 2;
    c.h_k = c.h_v = kKeyHeads;
    c.h_q = kKeyHeads * heads;
    c.b = kLeastTiles / kKeyHeads;
    c.s_q = queries;
    c.s_kv = 100;
    for (auto* const lengths : {&c.len_q, &c.len_kv}) {
        lengths->emplace();
        std::int64_t const most = lengths == &c.len_q ? c.s_q : c.s_kv;
        for (std::int64_t b = 0; b < c.b; ++b) (*lengths)->push_back((7 * b + most) % (most + 1));
    }
    Rig rig = rig_of_kernel();
    rig.execute = [&](Session const& session) {
        return run_by_kernel(session, [&](auto const& problem, kernels::Pointers) {
            if (!problem.is_backward) CHECK(kernels::heads_of_tile(problem) == heads);
        });
    };
    INFO(describe(c));
    CHECK(check_case(c, rig).faults() == "");
}

TEST_CASE("heads that share keys share tiles of few queries") {
    AttentionCase c = plain_case(DataType_t::BFLOAT16, {128, 128});
    c.alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    c.right = 0;
    c.left = 40;
    c.sink = DataType_t::FLOAT;
    check_shared_tiles(c, 8, 3);
    AttentionCase packed = plain_case(DataType_t::HALF, {64, 64});
    packed.input_layout = packed.output_layout = Layout::Ragged;
    packed.paging = {.k_rows = 16, .v_rows = 64};
    check_shared_tiles(packed, 2, 50);
    AttentionCase dropped = plain_case(DataType_t::BFLOAT16, {64, 64});
    dropped.dropout = Dropout::Probability;
    dropped.dropout_probability = 0.3f;
    dropped.rng_dump = true;
    check_shared_tiles(dropped, 4, 30);
}

TEST_CASE("tiles are shared by heads where there are few queries and many heads") {
    auto const heads_of = [](AttentionCase const& c) {
        return kernels::heads_of_tile(read_forward(c).value().problem);
    };
    AttentionCase c = plain_case(DataType_t::BFLOAT16, {128, 128});
    c.has_data = false;
    c.b = 66;
    c.h_k = c.h_v = 2;
    c.h_q = 16;
    c.s_q = 16;
    c.s_kv = 10;
    CHECK(heads_of(c) == 8);
    for (std::int64_t const queries : {17, 33, 65}) {
        c.s_q = queries;
        CHECK(heads_of(c) == (queries < 33 ? 4 : queries < 65 ? 2 : 1));
    }
    c.s_q = 1;
    c.b = 65;  // not a tile for each multiprocessor
    CHECK(heads_of(c) == 4);
    c.b = 66;
    c.h_q = 12;  // 6 heads share keys
    CHECK(heads_of(c) == 2);
    c.h_q = 16;
    c.bias = Index4{1, 16, 1, 10};
    CHECK(heads_of(c) == 1);
    c.bias.reset();
    c.d_qk = c.d_v = 64;  // by three warpgroups
    CHECK(heads_of(c) == 1);
}

// All, some or none of the blocks of a warp have scores of at most half of the cap alone.
TEST_CASE("capped scores have a short form in blocks where they are near 0") {
    for (Columns const& columns : {Columns{64, 64}, Columns{192, 128}, Columns{256, 256}}) {
        for (float const cap : {50.0f, 9.0f, 0.5f}) {
            AttentionCase c = plain_case(DataType_t::BFLOAT16, columns);
            INFO(columns.d_qk << " columns, cap " << cap);
            c.h_q = 2;
            c.s_q = 200;
            c.s_kv = 300;
            c.right = 0;
            c.modifier = oracle::Modify::Softcap;
            c.modifier_number = cap;
            CHECK(faults_of(c) == "");
        }
    }
}

TEST_CASE("dropout by warpgroups drops what the CPU targets drop") {
    AttentionCase c = plain_case(DataType_t::BFLOAT16, {64, 64});
    c.b = 2;
    c.h_q = c.h_k = c.h_v = 3;
    c.s_q = 70;
    c.s_kv = 131;
    c.dropout = Dropout::Probability;
    c.rng_dump = true;
    for (float const probability : {1e-20f, 0.25f, 0.999f}) {
        for (bool const is_wide : {false, true}) {
            c.dropout_probability = probability;
            c.rng_type = is_wide ? DataType_t::INT64 : DataType_t::INT32;
            c.rng_seed = is_wide ? -0x7'0000'0003 : -3;
            c.rng_offset = is_wide ? 0x5'0000'0000 : 32;
            c.scalars_by_value = is_wide;
            INFO(describe(c));
            CHECK(faults_of_dropout(c) == "");
        }
    }
}

TEST_CASE("the copy engine moves a bias whose rows and address are multiples of 16 bytes, and threads read others") {
    for (std::int64_t const shift : {0, 1, 2}) {
        auto const [is_moved, faults] = run_with_bias(case_with_bias(150, 200), shift);
        CHECK(is_moved);  // if its address allows it
        CHECK(faults == "");
    }
    auto const [is_moved, faults] = run_with_bias(case_with_bias(150, 199), 0);
    CHECK_FALSE(is_moved);
    CHECK(faults == "");
}

TEST_CASE("attention by warpgroups attends to packed sequences") {
    constexpr std::uint64_t kCases = 24;
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
        AttentionCase const c = random_packed_case(seed);
        INFO("case " << seed << ": " << describe(c));
        CHECK(check_case(c, rig_of_kernel()).faults() == "");
    }
}

TEST_CASE("blocks that documents hide are left out, and in blocks of one document the modifier is") {
    struct Sizes {
        std::int64_t columns, queries, keys;
    };
    // More blocks than a word has bits, and tiles of 64 keys for gradients.
    auto const [columns, queries, keys] = GENERATE(Sizes{64, 1300, 4500}, Sizes{256, 400, 1300});
    AttentionCase c = plain_case(DataType_t::BFLOAT16, {columns, columns});
    c.seed = 1;  // documents that follow each other
    c.b = 1;
    c.s_q = queries;
    c.s_kv = keys;
    c.modifier = oracle::Modify::Documents;
    Rig rig = rig_of_kernel();
    rig.execute = [](Session const& session) {
        return run_by_kernel(session, [](auto const& problem, kernels::Pointers pointers) {
            std::string const expected = expected_blocks(problem, pointers);
            CHECK(text_of_blocks(problem, pointers) == expected);
            for (char const sign : {'.', '#', '+'}) CHECK(std::ranges::count(expected, sign) > 0);
        });
    };
    CHECK(check_case(c, rig).faults() == "");
}

TEST_CASE("modifiers become the CUDA C++ with which the host's kernels are compiled") {
    auto const [softcap, softcap_bounds, short_softcap] = score_codes_of(oracle::Modify::Softcap);
    CHECK(softcap == score_code_file("softcap_code.inc"));
    CHECK(softcap_bounds.empty());
    CHECK(short_softcap == score_code_file("softcap_short_score.inc"));
    auto const [documents, document_bounds, short_documents] = score_codes_of(oracle::Modify::Documents);
    CHECK(short_documents.empty());
    CHECK(documents == score_code_file("documents_code.inc"));
    CHECK(document_bounds == score_code_file("documents_bounds.inc"));
}

TEST_CASE("NVRTC compiles the kernels of a modifier that hides blocks") {
    if (kernels::check_compiler().is_bad()) return;
    for (oracle::Modify const modifier : {oracle::Modify::Documents, oracle::Modify::CappedDocuments,
                                          oracle::Modify::Prefix, oracle::Modify::Dilated}) {
        std::set<std::string> compiled;
        for_each_pass(modifier, [&](kernels::AttentionKernelProblem const& problem) {
            REQUIRE(problem.hides_blocks());
            for (kernels::CodeName const& code : codes_of(problem)) {
                CHECK(kernels::find_code(code).error().get_message() == "");
                compiled.insert(code.source);
            }
        });
        CHECK(compiled == std::set<std::string>{"attention_block_bits", "attention_forward", "attention_gradients"});
    }
}

TEST_CASE("results of attention are wrong if any wait or fence of the kernel is left out") {
    std::vector<ReachedWaits> const cases = wait_cases();
    std::set<std::string> waits;
    for (ReachedWaits const& made : cases) waits.insert(made.waits.begin(), made.waits.end());
    CHECK(waits.size() == 72);  // all in the source, so that a new one needs a case that reaches it
    for (std::string const& wait : waits) {
        bool const is_needed = std::ranges::any_of(cases, [&](ReachedWaits const& made) {
            bool const is_reached = std::ranges::find(made.waits, wait) != made.waits.end();
            return is_reached && !fault_without(wait, made.made).empty();
        });
        INFO("without " << wait << " all results are right");
        CHECK(is_needed);
    }
}
