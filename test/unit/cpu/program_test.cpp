#include "core/threads.h"
#include "support/small_graph.h"
#include "unit/cpu/rig.h"

#include <sched.h>

#include <numeric>
#include <thread>

using namespace cudnn_frontend;
using namespace cudnn_frontend::test;

namespace {

using Mode = PointwiseMode_t;

// x -> EXP -> NEG -> EXP -> ... -> y
Rig chain(int length, core::Dims dim, ir::ValueId& y) {
    Rig rig;
    auto previous = rig.in(dim, random_elements(*core::volume(dim), 7));
    for (int i = 1; i < length; ++i) {
        auto const next = rig.temp(dim);
        rig.builder.add(pointwise(i % 2 == 0 ? Mode::EXP : Mode::NEG, previous, next));
        previous = next;
    }
    y = rig.out(dim);
    rig.builder.add(pointwise(Mode::TANH_FWD, previous, y));
    return rig;
}

std::shared_ptr<cpu::CpuProgram const> planned(ir::Builder builder) {
    auto graph = std::move(builder).finish();
    REQUIRE(graph.error().get_message() == "");
    auto program = cpu::CpuProgram::plan(std::move(graph).value(), 1);
    REQUIRE(program.error().get_message() == "");
    return program.value();
}

std::string planning_error(ir::Builder builder) {
    auto graph = std::move(builder).finish();
    REQUIRE(graph.error().get_message() == "");
    error_object const error = cpu::CpuProgram::plan(std::move(graph).value(), 1).error();
    CHECK(error.get_code() == error_code_t::GRAPH_NOT_SUPPORTED);
    return error.get_message();
}

// A product with lengths of one batch entry each, 3x4 times 4x5.
struct Product {
    Rig rig;
    ir::ValueId first, c;

    Product(std::vector<double> const& m, std::vector<double> const& n, std::vector<double> const& k) {
        auto const a = rig.in({2, 1, 3, 4}, random_elements(24, 8)), b = rig.in({2, 1, 4, 5}, random_elements(40, 9));
        first = rig.out({2, 1, 3, 4});
        c = rig.out({2, 1, 3, 5});
        rig.builder.add(pointwise(Mode::NEG, a, first));
        rig.builder.add(op(ir::MatmulOp{.a = first,
                                        .b = b,
                                        .c = c,
                                        .m_override = rig.in_lengths(m),
                                        .n_override = rig.in_lengths(n),
                                        .k_override = rig.in_lengths(k)}));
    }
};

// Fused attention with lengths, over a query that an operation computed.
struct Fused {
    static constexpr std::int64_t heads = 2, queries = 5, keys = 6, width = 4;
    Rig rig;
    std::vector<double> q = random_elements(2 * heads * queries * width, 11);
    std::vector<double> k = random_elements(2 * keys * width, 12), v = random_elements(2 * keys * width, 13);
    std::vector<double> lengths_q, lengths_kv;
    ir::ValueId o, stats;

    Fused(std::vector<double> const& len_q, std::vector<double> const& len_kv, DataType_t type = DataType_t::DOUBLE)
        : lengths_q(len_q), lengths_kv(len_kv) {
        core::Dims const q_dim{2, heads, queries, width}, kv_dim{2, 1, keys, width};
        auto const halved = rig.temp(q_dim);
        rig.builder.add(pointwise(Mode::MUL, rig.in(q_dim, q), rig.constant(0.5f), halved));
        ir::SdpaForwardOp body;
        body.operands[Port::Q] = halved;
        body.operands[Port::K] = rig.in(kv_dim, k);
        body.operands[Port::V] = rig.in(kv_dim, v);
        body.options.padding = true;
        body.operands[Port::SeqLenQ] = rig.in_lengths(lengths_q);
        body.operands[Port::SeqLenKv] = rig.in_lengths(lengths_kv);
        body.operands[Port::O] = o = rig.out(q_dim, type);
        body.operands[Port::Stats] = stats = rig.out({2, heads, queries, 1});
        rig.builder.add(op(body));
    }

    // Row i of head h in batch entry b, and its log-sum-exp.
    std::pair<std::vector<double>, double> expected(std::int64_t b, std::int64_t h, std::int64_t i) const {
        std::vector<double> row(width, 0.0);
        double sum = 0.0;
        bool const is_padding = static_cast<double>(i) >= lengths_q[static_cast<std::size_t>(b)];
        for (std::int64_t j = 0; !is_padding && static_cast<double>(j) < lengths_kv[static_cast<std::size_t>(b)]; ++j) {
            auto const query = q.begin() + ((b * heads + h) * queries + i) * width;
            auto const key = k.begin() + (b * keys + j) * width, value = v.begin() + (b * keys + j) * width;
            double const weight = std::exp(0.5 * std::inner_product(query, query + width, key, 0.0));
            for (std::int64_t d = 0; d < width; ++d) row[static_cast<std::size_t>(d)] += weight * value[d];
            sum += weight;
        }
        for (double& x : row) x = sum == 0.0 ? 0.0 : x / sum;
        return {row, std::log(sum)};
    }
};

}  // namespace

TEST_CASE("workspace: values share memory where their lives do not overlap") {
    ir::ValueId y = ir::kNoValue;
    constexpr std::int64_t one_value = 10 * 64 * 8, alignment = 63;
    CHECK(planned(chain(2, {10, 64}, y).builder)->workspace_size() == one_value + alignment);
    CHECK(planned(chain(3, {10, 64}, y).builder)->workspace_size() == 2 * one_value + alignment);
    CHECK(planned(chain(9, {10, 64}, y).builder)->workspace_size() == 2 * one_value + alignment);
    CHECK(planned(chain(1, {10, 64}, y).builder)->workspace_size() == 0);
}

TEST_CASE("workspace: a value that is read late keeps its memory") {
    Rig rig;
    core::Dims const dim{3, 50};
    auto const elements = random_elements(150, 10);
    auto const x = rig.in(dim, elements), early = rig.temp(dim), y = rig.out(dim);
    rig.builder.add(pointwise(Mode::NEG, x, early));
    auto previous = early;
    for (int i = 0; i < 5; ++i) {
        auto const next = rig.temp(dim);
        rig.builder.add(pointwise(Mode::ABS, previous, next));
        previous = next;
    }
    rig.builder.add(
        pointwise(Mode::SUB, previous, rig.builder.transposed(rig.builder.transposed(early, 0, 1), 0, 1), y));
    REQUIRE(rig.run().get_message() == "");
    auto expected = elements;
    for (double& v : expected) v = std::abs(v) + v;
    check_close(rig.read(y), expected);
}

TEST_CASE("workspace: it may start anywhere, and nothing around it is touched") {
    ir::ValueId y = ir::kNoValue;
    Rig rig = chain(4, {7, 11}, y);
    REQUIRE(rig.run().get_message() == "");
    auto const program = planned(rig.builder);
    auto const size = static_cast<std::size_t>(program->workspace_size());
    auto const elements = random_elements(77, 7);
    for (std::size_t start = 1; start < 80; start += 13) {
        std::vector<std::byte> memory(size + 200, std::byte{0x5A});
        std::vector<double> x = elements, result(77);
        void* const pointers[] = {x.data(), result.data()};
        REQUIRE(program->run(pointers, memory.data() + start).is_good());
        CHECK(result == rig.read(y));
        auto const is_clean = [](std::byte b) { return b == std::byte{0x5A}; };
        CHECK(std::all_of(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(start), is_clean));
        CHECK(std::all_of(memory.begin() + static_cast<std::ptrdiff_t>(start + size), memory.end(), is_clean));
    }
}

TEST_CASE("a program runs in several threads at once") {
    ir::ValueId y = ir::kNoValue;
    Rig rig = chain(6, {40, 40}, y);
    REQUIRE(rig.run().get_message() == "");
    auto const program = planned(rig.builder);
    std::vector<double> x = random_elements(1600, 7),
                        results[2] = {std::vector<double>(1600), std::vector<double>(1600)};
    auto const work = [&](std::vector<double>& result) {
        std::vector<std::byte> workspace(static_cast<std::size_t>(program->workspace_size()));
        void* const pointers[] = {x.data(), result.data()};
        for (int i = 0; i < 20; ++i) (void)program->run(pointers, workspace.data()).is_good();
    };
    std::thread other(work, std::ref(results[0]));
    work(results[1]);
    other.join();
    CHECK(results[0] == rig.read(y));
    CHECK(results[1] == rig.read(y));
}

TEST_CASE("plan: a workspace that no host can address names the largest value") {
    Rig rig;
    std::int64_t const big = std::int64_t{1} << 24;
    auto const column = rig.builder.add(input("column", {big, 1}, 50)),
               row = rig.builder.add(input("row", {1, big}, 51));
    auto const small = rig.temp({big, 1}), y = rig.out({1, 1});
    auto const scores = rig.builder.add(temporary("scores", {big, big}));
    rig.builder.add(pointwise(Mode::NEG, column, small));
    rig.builder.add(pointwise(Mode::ADD, small, row, scores));
    rig.builder.add(op(ir::ReductionOp{.mode = ReductionMode_t::ADD, .x = scores, .y = y}));
    std::string const message = planning_error(rig.builder);
    CAPTURE(message);
    CHECK(message.find("more than 2^47 bytes of workspace") != std::string::npos);
    CHECK(message.find("the largest is 'scores', dims [16777216, 16777216]") != std::string::npos);
    CHECK(message.find("Target::cpu()") != std::string::npos);
}

TEST_CASE("plan: scratch that no host can address names the operation") {
    ir::Builder builder;
    std::int64_t const big = std::int64_t{1} << 24;
    ir::Value wide = input("wide", {big, big}, 1);
    wide.stride = {0, 0};
    auto const a = builder.add(input("a", {1, big}, 0)), b = builder.add(wide),
               c = builder.add(output("c", {1, big}, 2));
    builder.add(op(ir::MatmulOp{.a = a, .b = b, .c = c}, "product"));
    CHECK(planning_error(builder).find("Operation MATMUL 'product' needs more than 2^47 bytes") != std::string::npos);
}

TEST_CASE("plan: types without host elements are refused, in memory of the caller") {
    Rig rig;
    ir::Value odd = input("Q", {2, 3}, 50);
    odd.type = DataType_t::FAST_FLOAT_FOR_FP8;
    rig.builder.add(pointwise(Mode::NEG, rig.builder.add(odd), rig.out({2, 3})));
    CHECK(planning_error(rig.builder).find("Tensor 'Q' is of type FAST_FLOAT_FOR_FP8; the CPU targets support FLOAT") !=
          std::string::npos);
}

TEST_CASE("run: lengths out of range are an error, and nothing is written") {
    struct Case {
        std::vector<double> m, n, k;
        char const* message;
    };
    auto const one = GENERATE(
        Case{
            {3, 4}, {5, 5}, {4, 4}, "tensor 'in4': found the length 4 for batch entry 1; expected lengths from 0 to 3"},
        Case{{3, 3},
             {-1, 5},
             {4, 4},
             "tensor 'in5': found the length -1 for batch entry 0; expected lengths from 0 to 5"},
        Case{{3, 3},
             {5, 5},
             {4, 9},
             "tensor 'in6': found the length 9 for batch entry 1; expected lengths from 0 to 4"});
    Product product(one.m, one.n, one.k);
    error_object const error = product.rig.run();
    CHECK(error.get_code() == error_code_t::INVALID_VALUE);
    CAPTURE(error.get_message());
    CHECK(error.get_message().find(one.message) != std::string::npos);
    CHECK(product.rig.is_untouched(product.first));
    CHECK(product.rig.is_untouched(product.c));
}

TEST_CASE("run: lengths at both ends of their range are fine") {
    Product product({0, 3}, {0, 5}, {0, 4});
    CHECK(product.rig.run().get_message() == "");
    CHECK_FALSE(product.rig.is_untouched(product.c));
}

TEST_CASE("run: fused attention reads values that operations made") {
    Fused fused({5, 3}, {4, 6});
    REQUIRE(fused.rig.run().get_message() == "");
    auto const o = fused.rig.read(fused.o), stats = fused.rig.read(fused.stats);
    for (std::int64_t row = 0; row < 2 * Fused::heads * Fused::queries; ++row) {
        auto const [expected, log_sum] = fused.expected(row / (Fused::heads * Fused::queries),
                                                        row / Fused::queries % Fused::heads, row % Fused::queries);
        auto const begin = o.begin() + row * Fused::width;
        INFO("row " << row);
        check_close({begin, begin + Fused::width}, expected, 1e-5);
        check_close({stats[static_cast<std::size_t>(row)]}, {log_sum}, 1e-5);
    }
}

TEST_CASE("run: what fused attention wrote is read unrounded, and the caller gets it rounded") {
    Fused exact({5, 3}, {4, 6}), rounded({5, 3}, {4, 6}, DataType_t::BFLOAT16);
    auto const negative = rounded.rig.out({2, Fused::heads, Fused::queries, Fused::width});
    rounded.rig.builder.add(pointwise(Mode::NEG, rounded.o, negative));
    REQUIRE(exact.rig.run().get_message() == "");
    REQUIRE(rounded.rig.run().get_message() == "");
    auto o = exact.rig.read(exact.o);
    auto const read_back = rounded.rig.read(rounded.o);
    check_close(read_back, o, 0x1p-8);
    CHECK(read_back != o);
    for (double& x : o) x = -x;
    CHECK(rounded.rig.read(negative) == o);
}

TEST_CASE("run: lengths of fused attention are checked before anything is written") {
    Fused fused({5, 6}, {4, 6});
    error_object const error = fused.rig.run();
    CHECK(error.get_code() == error_code_t::INVALID_VALUE);
    CHECK(error.get_message().find("found the length 6 for batch entry 1; expected lengths from 0 to 5") !=
          std::string::npos);
    CHECK(fused.rig.is_untouched(fused.o));
    CHECK(fused.rig.is_untouched(fused.stats));
}

// Each thread has a part of the workspace. A plan for more threads is not one for fewer.
TEST_CASE("by default attention runs on as many threads as the calling thread may use CPUs") {
    auto const workspace_for = [](Target const& target) {
        ::test::SmallGraph small = ::test::small_graph();
        return small.graph.build(target).is_good() ? small.graph.get_workspace_size() : -1;
    };
    std::int64_t const of_all = workspace_for(Target::cpu());
    std::int64_t of_one = 0;
    std::thread([&] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
        sched_setaffinity(0, sizeof(one), &one);
        of_one = workspace_for(Target::cpu());
    }).join();
    CHECK(of_one == workspace_for(Target::cpu(1)));
    CHECK(of_one < workspace_for(Target::cpu(2)));
    CHECK(of_all == workspace_for(Target::cpu(core::usable_cpus())));
}
