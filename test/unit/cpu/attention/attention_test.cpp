#include "support/catch.h"
#include "support/random.h"
#include "support/skip.h"

#include "reference/checks/tolerance.h"

#include "attention_data.h"
#include "kernel_sets.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

namespace {

using namespace attention_test;
namespace cpu = fe::cpu;
using fe::DataType_t;

// Rounding of the output's type, of probabilities to BFLOAT16, and of float sums inside.
double tolerance(DataType_t type) {
    if (type == DataType_t::BFLOAT16) return 2e-2;
    return type == DataType_t::HALF ? 2e-3 : 1e-4;
}

void check_close(char const* name, Tensor const& actual, oracle::Array const& expected) {
    INFO(name);
    oracle::Array const numbers = actual.numbers();
    REQUIRE(numbers.dim == expected.dim);
    double const allowed = tolerance(actual.view.type);
    std::size_t wrong = 0;
    for (std::size_t at = 0; at < numbers.values.size(); ++at) {
        double const found = numbers.values[at], wanted = expected.values[at];
        bool const close = found == wanted || std::abs(found - wanted) <= allowed * (1.0 + std::abs(wanted));
        if (!close && wrong++ == 0) {
            CAPTURE(at, found, wanted);
            CHECK(close);
        }
    }
    CHECK(wrong == 0);
}

// Runs in an unaligned workspace of exactly the required size, and checks that its surroundings are unchanged. It holds
// NaN of all types, so that a product with memory that was never written shows.
template <class Run>
void run_guarded(std::int64_t size, Run run) {
    constexpr std::size_t kGuard = 256;
    constexpr unsigned char kPattern = 0xFF;
    std::vector<unsigned char> memory(static_cast<std::size_t>(size) + 2 * kGuard + 4, kPattern);
    unsigned char* const workspace = memory.data() + kGuard + 4;
    REQUIRE(run(workspace).is_good());
    for (unsigned char const* at = memory.data(); at < workspace; ++at) REQUIRE(*at == kPattern);
    for (unsigned char const* at = workspace + size; at < memory.data() + memory.size(); ++at) REQUIRE(*at == kPattern);
}

constexpr int kAllThreads = std::numeric_limits<int>::max();

// At most `used` of the threads run, for all of which there is a workspace.
void run_forward(AttentionCase const& test, Data const& data, int threads, int used = kAllThreads) {
    auto const tensors = data.forward(test);
    run_guarded(cpu::forward_workspace(tensors, {}, threads), [&](void* workspace) {
        return cpu::attention_forward({tensors, options_of(test), {}, used}, threads, workspace);
    });
}

void run_backward(AttentionCase const& test, Data const& data, int threads, int used = kAllThreads) {
    auto const tensors = data.backward(test);
    run_guarded(cpu::backward_workspace(tensors, {}, threads), [&](void* workspace) {
        return cpu::attention_backward({tensors, options_of(test), {}, used}, threads, workspace);
    });
}

void check_forward(AttentionCase const& test, Data const& data) {
    run_forward(test, data, 1);
    oracle::Problem const problem = to_problem(test, data);
    oracle::Forward const expected = oracle::forward(problem);
    check_close("O", data.o, expected.o);
    check_close("stats", data.stats, expected.stats);
    if (test.dropout == Dropout::Probability) check_close("rng dump", data.rng_dump, *problem.dropout_mask);
}

// Uses O and stats of check_forward, which must run first.
void check_backward(AttentionCase const& test, Data const& data) {
    run_backward(test, data, 1);
    oracle::Backward const expected =
        oracle::backward(to_problem(test, data), data.o.numbers(), data.stats.numbers(), data.d_o.numbers());
    check_close("dQ", data.d_q, expected.d_q);
    check_close("dK", data.d_k, expected.d_k);
    check_close("dV", data.d_v, expected.d_v);
    if (test.bias) check_close("dBias", data.d_bias, expected.d_bias);
}

void check_thread_count(AttentionCase const& test, Data const& one, int threads, int used = kAllThreads) {
    CAPTURE(threads, used);
    Data const many = make_data(test);
    run_forward(test, many, threads, used);
    run_backward(test, many, threads, used);
    CHECK(many.o.memory == one.o.memory);
    CHECK(many.stats.memory == one.stats.memory);
    CHECK(many.rng_dump.memory == one.rng_dump.memory);
    CHECK(many.d_q.memory == one.d_q.memory);
    CHECK(many.d_k.memory == one.d_k.memory);
    CHECK(many.d_v.memory == one.d_v.memory);
    CHECK(many.d_bias.memory == one.d_bias.memory);
}

// B, heads of Q, K and V, queries, keys, head dims.
void set_sizes(AttentionCase& test, std::array<std::int64_t, 8> const& sizes) {
    std::tie(test.b, test.h_q, test.h_k, test.h_v, test.s_q, test.s_kv, test.d_qk, test.d_v) = std::tuple_cat(sizes);
}

AttentionCase plain_case() {
    AttentionCase test;
    set_sizes(test, {2, 4, 2, 2, 65, 130, 40, 24});
    test.scale = Scale::Number, test.scale_value = 0.3f;
    return test;
}

std::vector<double> forward_numbers(AttentionCase const& test) {
    Data const data = make_data(test);
    run_forward(test, data, 2);
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < test.s_q; ++i) {
        for (std::int64_t d = 0; d < test.d_v; ++d) numbers.push_back(data.o.at(1, 3, i, d));
    }
    return numbers;
}

// Sizes of which none is a multiple of what tiles hold, with all other options.
AttentionCase odd_case(unsigned seed) {
    AttentionCase test = random_case(seed);
    sdpa_test::Random random(seed);
    std::vector<std::int64_t> const lengths{1, 2, 15, 31, 33, 97, 129, 191, 257};
    std::vector<std::int64_t> const widths{2, 3, 17, 31, 33, 65, 80, 96, 130};
    test.type = DataType_t::BFLOAT16;
    test.s_q = random.pick(lengths), test.s_kv = random.pick(lengths);
    test.d_qk = random.pick(widths), test.d_v = random.pick(widths);
    auto const shorten = [](std::optional<std::vector<std::int64_t>>& lengths_of, std::int64_t most) {
        for (std::int64_t& length : *lengths_of) length = std::min(length, most);
    };
    if (test.len_q) shorten(test.len_q, test.s_q), shorten(test.len_kv, test.s_kv);
    if (test.bias && (*test.bias)[2] != 1) (*test.bias)[2] = test.s_q;
    if (test.bias && (*test.bias)[3] != 1) (*test.bias)[3] = test.s_kv;
    return test;
}

void check_within(char const* name, Tensor const& actual, oracle::Array const& expected, oracle::Array const& allowed) {
    INFO(name);
    oracle::Array const numbers = actual.numbers();
    REQUIRE(numbers.dim == expected.dim);
    for (std::size_t at = 0; at < numbers.values.size(); ++at) {
        double const found = numbers.values[at], wanted = expected.values[at], most = allowed.values[at];
        if (found == wanted || std::abs(found - wanted) <= most) continue;
        CAPTURE(at, found, wanted, most);
        REQUIRE(std::abs(found - wanted) <= most);
    }
}

// Compares with the error that rounding to pairs of BFLOAT16 and sums of floats may cause.
void check_pairs(AttentionCase const& test, Data const& data) {
    constexpr double kFactor = 0x1p-8;
    oracle::Precision const precision{.unit = oracle::Precision::kSingle,
                                      .io = DataType_t::BFLOAT16,
                                      .bias = DataType_t::BFLOAT16,
                                      .factor_unit = kFactor,
                                      .gradient_unit = kFactor};
    oracle::Problem const problem = to_problem(test, data);
    run_forward(test, data, 1);
    oracle::Forward const forward = oracle::forward(problem);
    oracle::Forward const forward_errors = oracle::allowed_error(problem, forward, precision);
    check_within("O", data.o, forward.o, forward_errors.o);
    check_within("stats", data.stats, forward.stats, forward_errors.stats);
    run_backward(test, data, 1);
    oracle::Array const o = data.o.numbers(), stats = data.stats.numbers(), d_o = data.d_o.numbers();
    oracle::Backward const backward = oracle::backward(problem, o, stats, d_o);
    oracle::Backward const errors = oracle::allowed_error(problem, o, stats, d_o, backward, precision);
    check_within("dQ", data.d_q, backward.d_q, errors.d_q);
    check_within("dK", data.d_k, backward.d_k, errors.d_k);
    check_within("dV", data.d_v, backward.d_v, errors.d_v);
    if (test.bias) check_within("dBias", data.d_bias, backward.d_bias, errors.d_bias);
}

}  // namespace

TEST_CASE("fused attention equals plain loops, for any number of threads and instruction set") {
    auto const seed = static_cast<unsigned>(GENERATE(range(1, 61)));
    AttentionCase const test = random_case(seed);
    CAPTURE(seed, test.b, test.h_q, test.h_k, test.h_v, test.s_q, test.s_kv, test.d_qk, test.d_v,
            static_cast<int>(test.type));
    for (cpu::Kernels const* const kernels : kernel_sets()) {
        CAPTURE(kernels->name);
        Forced const forced(kernels);
        Data const data = make_data(test);
        check_forward(test, data);
        check_backward(test, data);
        for (int const threads : {2, 3, 16}) check_thread_count(test, data, threads);
    }
}

TEST_CASE("fused attention wakes threads only for as many products as make up for it") {
    auto const threads_for = [](std::int64_t queries, std::int64_t keys) {
        cpu::AttentionTensors tensors;
        tensors[cpu::Port::Q].dim = {2, 4, queries, 64};
        tensors[cpu::Port::K].dim = tensors[cpu::Port::V].dim = {2, 2, keys, 64};
        return cpu::useful_threads(tensors);
    };
    CHECK(threads_for(1, 256) == 1);
    CHECK(threads_for(1, 1024) == 4);
    CHECK(threads_for(32, 32) == 1);
    CHECK(threads_for(64, 128) == 9);
    CHECK(threads_for(std::int64_t{1} << 40, std::int64_t{1} << 40) == std::numeric_limits<int>::max());
}

TEST_CASE("fused attention needs no more workspace where fewer threads run than it is for") {
    auto const [queries, keys] = GENERATE(std::pair{16, 1024}, std::pair{1, 4096}, std::pair{100, 256});
    AttentionCase test = plain_case();
    set_sizes(test, {1, 1, 1, 1, queries, keys, 16, 16});
    CAPTURE(queries, keys);
    Data const data = make_data(test);
    run_forward(test, data, 8);
    run_backward(test, data, 8);
    check_thread_count(test, data, 8, 1);
}

TEST_CASE("fused attention multiplies pairs of BFLOAT16 numbers for any sizes") {
    auto const seed = static_cast<unsigned>(GENERATE(range(1, 81)));
    AttentionCase const test = odd_case(seed);
    CAPTURE(seed, test.b, test.h_q, test.h_k, test.h_v, test.s_q, test.s_kv, test.d_qk, test.d_v);
    auto const sets = kernel_sets_with_pairs();
    if (sets.empty()) return sdpa_test::skip("the processor lacks AVX-512 with BFLOAT16");
    for (cpu::Kernels const* const kernels : sets) {
        CAPTURE(kernels->name);
        Forced const forced(kernels);
        Data const data = make_data(test);
        check_pairs(test, data);
        check_thread_count(test, data, 3);
    }
}

TEST_CASE("fused attention keeps NaN and infinity where they are visible, with every instruction set") {
    AttentionCase test;
    set_sizes(test, {1, 2, 1, 1, 150, 150, 40, 24});
    test.type = DataType_t::BFLOAT16, test.right = 0;
    auto const run = [&](cpu::Kernels const* kernels) {
        Forced const forced(kernels);
        Data data = make_data(test);
        double const nan = std::nan(""), infinity = HUGE_VAL;
        data.v.set(0, 0, 40, 3, infinity), data.v.set(0, 0, 141, 4, nan);
        data.q.set(0, 1, 20, 6, nan);
        run_forward(test, data, 1);
        data.d_o.set(0, 0, 33, 7, infinity), data.d_o.set(0, 1, 144, 8, nan);
        run_backward(test, data, 1);
        return data;
    };
    auto const kind = [](double number) { return std::isnan(number) ? 2 : std::isinf(number) ? 1 : 0; };
    auto const sets = kernel_sets();
    Data const expected = run(sets.back());
    REQUIRE(kind(expected.o.at(0, 0, 39, 3)) == 0);
    REQUIRE(kind(expected.o.at(0, 0, 40, 3)) == 1);
    REQUIRE(kind(expected.d_v.at(0, 0, 34, 7)) == 0);
    for (cpu::Kernels const* const kernels : sets) {
        CAPTURE(kernels->name);
        Data const data = run(kernels);
        auto const check = [&](char const* name, Tensor const& found, Tensor const& wanted) {
            INFO(name);
            oracle::Array const a = found.numbers(), b = wanted.numbers();
            for (std::size_t at = 0; at < a.values.size(); ++at) {
                CAPTURE(at, a.values[at], b.values[at]);
                REQUIRE(kind(a.values[at]) == kind(b.values[at]));
                if (kind(a.values[at]) == 0)
                    REQUIRE(std::abs(a.values[at] - b.values[at]) <= 5e-2 * (1.0 + std::abs(b.values[at])));
            }
        };
        check("O", data.o, expected.o);
        check("stats", data.stats, expected.stats);
        check("dQ", data.d_q, expected.d_q);
        check("dK", data.d_k, expected.d_k);
        check("dV", data.d_v, expected.d_v);
    }
}

TEST_CASE("fused attention spans several blocks of queries and keys") {
    AttentionCase test;
    set_sizes(test, {1, 2, 1, 1, 600, 530, 16, 8});
    test.scale = Scale::Number, test.scale_value = 0.25f;
    test.bias = {1, 2, 600, 530};
    auto const check = [&] {
        Data const data = make_data(test);
        check_forward(test, data);
        check_backward(test, data);
        check_thread_count(test, data, 3);
    };
    SECTION("every score") { check(); }
    SECTION("a window along the bottom right diagonal") {
        test.alignment = fe::DiagonalAlignment_t::BOTTOM_RIGHT;
        test.right = 3;
        test.left = 150;
        check();
    }
}

TEST_CASE("fused attention of few queries reads keys as they lie, in parts") {
    auto const seed = static_cast<unsigned>(GENERATE(range(1, 41)));
    AttentionCase test = random_case(seed);
    test.s_q = 1 + seed % 4;
    test.s_kv = seed % 3 == 0 ? 1100 : 513;
    test.d_qk = seed % 2 == 0 ? 80 : test.d_qk;
    test.dropout = seed % 8 == 0 ? test.dropout : Dropout::None;
    if (test.bias) test.bias = sdpa_test::Index4{1, test.h_q, test.s_q, test.s_kv};
    for (std::size_t b = 0; test.len_q && b < test.len_q->size(); ++b) {
        (*test.len_q)[b] = std::min((*test.len_q)[b], test.s_q);
        (*test.len_kv)[b] = test.s_kv - static_cast<std::int64_t>(b) * 500;
    }
    if (test.left) test.left = *test.left + 300;
    test.alignment = seed % 2 == 0 ? fe::DiagonalAlignment_t::BOTTOM_RIGHT : fe::DiagonalAlignment_t::TOP_LEFT;
    CAPTURE(seed, test.b, test.h_q, test.h_k, test.h_v, test.s_q, test.d_qk, test.d_v, static_cast<int>(test.type));
    for (cpu::Kernels const* const kernels : kernel_sets()) {
        CAPTURE(kernels->name);
        Forced const forced(kernels);
        Data const data = make_data(test);
        check_forward(test, data);
        std::vector<unsigned char> const o = data.o.memory, stats = data.stats.memory;
        run_forward(test, data, 5);
        CHECK(data.o.memory == o);
        CHECK(data.stats.memory == stats);
    }
}

TEST_CASE("fused attention of few queries keeps NaN and infinity where they are visible") {
    AttentionCase test;
    set_sizes(test, {1, 4, 1, 1, 2, 600, 16, 16});
    test.right = 550;
    for (cpu::Kernels const* const kernels : kernel_sets()) {
        CAPTURE(kernels->name);
        Forced const forced(kernels);
        Data data = make_data(test);
        double const infinity = HUGE_VAL;
        for (std::int64_t column = 0; column < 16; ++column) {
            data.q.set(0, 1, 1, column, 100.0);
            data.k.set(0, 0, 7, column, -100.0);
        }
        data.v.set(0, 0, 7, 3, infinity);        // a weight of head 1 is 0 there
        data.v.set(0, 0, 551, 4, std::nan(""));  // visible to query 1 alone
        data.q.set(0, 2, 0, 5, std::nan(""));
        run_forward(test, data, 1);
        CHECK(data.o.at(0, 0, 0, 3) == infinity);
        CHECK(std::isfinite(data.o.at(0, 1, 1, 3)));
        CHECK(std::isfinite(data.o.at(0, 0, 0, 4)));
        CHECK(std::isnan(data.o.at(0, 0, 1, 4)));
        CHECK(std::isnan(data.o.at(0, 2, 0, 0)));
        CHECK(std::isnan(data.stats.at(0, 2, 0, 0)));
        CHECK(std::isfinite(data.stats.at(0, 2, 1, 0)));
    }
}

TEST_CASE("fused attention of pairs spans all that it keeps of keys, and several parts of a block of queries") {
    auto const sets = kernel_sets_with_pairs();
    if (sets.empty()) return sdpa_test::skip("the processor lacks AVX-512 with BFLOAT16");
    AttentionCase test;
    set_sizes(test, {1, 1, 1, 1, 1060, 600, 250, 200});
    test.type = DataType_t::BFLOAT16;
    test.scale = Scale::Number, test.scale_value = 0.06f;
    test.alignment = fe::DiagonalAlignment_t::BOTTOM_RIGHT, test.right = 90;
    bool const has_bias = GENERATE(false, true);  // without one, masks alone change scores
    if (has_bias) test.bias = {1, 1, 1, 600};
    CAPTURE(has_bias);
    for (cpu::Kernels const* const kernels : sets) {
        CAPTURE(kernels->name);
        Forced const forced(kernels);
        Data const data = make_data(test);
        check_forward(test, data);
        check_backward(test, data);
        check_thread_count(test, data, 3);
    }
}

TEST_CASE("fused attention changes with every option") {
    std::vector<double> const plain = forward_numbers(plain_case());
    auto const check_changed = [&](char const* option, auto change) {
        AttentionCase test = plain_case();
        change(test);
        INFO(option);
        CHECK(forward_numbers(test) != plain);
    };
    check_changed("scale", [](AttentionCase& test) { test.scale_value = 0.31f; });
    check_changed("scale tensor", [](AttentionCase& test) { test.scale = Scale::Device; });
    check_changed("bias", [](AttentionCase& test) { test.bias = {1, 1, 1, 130}; });
    check_changed("alibi", [](AttentionCase& test) { test.alibi = true; });
    check_changed("right bound", [](AttentionCase& test) { test.right = 0; });
    check_changed("left bound", [](AttentionCase& test) { test.left = 20; });
    check_changed("generated dropout", [](AttentionCase& test) {
        test.dropout = Dropout::Probability;
        test.dropout_probability = 0.1f;
    });
    check_changed("dropout mask", [](AttentionCase& test) { test.dropout = Dropout::Mask; });
    check_changed("padding", [](AttentionCase& test) {
        test.len_q = {65, 65};
        test.len_kv = {130, 129};
    });
}

TEST_CASE("fused attention moves the band with the alignment") {
    AttentionCase test = plain_case();
    test.right = 0;
    std::vector<double> const top_left = forward_numbers(test);
    test.alignment = fe::DiagonalAlignment_t::BOTTOM_RIGHT;
    CHECK(forward_numbers(test) != top_left);
}

TEST_CASE("fused attention gives zeros to what sees nothing and to what lies past the lengths") {
    AttentionCase test = plain_case();
    test.len_q = {50, 65};
    test.len_kv = {20, 0};
    test.alignment = fe::DiagonalAlignment_t::BOTTOM_RIGHT;
    test.right = 0;
    Data const data = make_data(test);
    run_forward(test, data, 2);
    run_backward(test, data, 2);
    // Keys are visible to the last 20 of the 50 queries over 20 keys.
    for (std::int64_t const i : {0, 29, 50, 64}) {
        CHECK(data.o.at(0, 1, i, 3) == 0.0);
        CHECK(data.stats.at(0, 1, i, 0) == -std::numeric_limits<double>::infinity());
        CHECK(data.d_q.at(0, 1, i, 3) == 0.0);
    }
    CHECK(std::isfinite(data.stats.at(0, 1, 30, 0)));
    CHECK(data.o.at(0, 1, 30, 3) != 0.0);
    CHECK(data.o.at(1, 0, 5, 5) == 0.0);
    CHECK(data.d_k.at(0, 0, 19, 3) != 0.0);
    for (std::int64_t const j : {20, 63, 129}) {
        CHECK(data.d_k.at(0, 0, j, 3) == 0.0);
        CHECK(data.d_v.at(0, 0, j, 3) == 0.0);
    }
    CHECK(data.d_v.at(1, 1, 0, 0) == 0.0);
}

TEST_CASE("fused backward computes only what is connected") {
    AttentionCase test = plain_case();
    Data const whole = make_data(test), part = make_data(test);
    run_forward(test, whole, 1);
    run_backward(test, whole, 1);
    run_forward(test, part, 1);
    auto tensors = part.backward(test);
    tensors[Port::DQ] = tensors[Port::DV] = DataView{};
    run_guarded(cpu::backward_workspace(tensors, {}, 2), [&](void* workspace) {
        return cpu::attention_backward({tensors, options_of(test), {}}, 2, workspace);
    });
    CHECK(part.d_k.memory == whole.d_k.memory);
    CHECK(part.d_q.memory == make_data(test).d_q.memory);
}

TEST_CASE("fused attention needs memory that grows with the length, not with its square") {
    AttentionCase test;
    auto const bytes = [&](std::int64_t length) {
        DataView view;
        view.data = &test;
        view.dim = {1, 8, length, 64};
        cpu::AttentionTensors forward, backward;
        for (Port const port : {Port::Q, Port::K, Port::V, Port::O}) forward[port] = view;
        for (Port const port : {Port::Q, Port::K, Port::V, Port::DQ, Port::DK, Port::DV}) backward[port] = view;
        return std::pair{cpu::forward_workspace(forward, {}, 2), cpu::backward_workspace(backward, {}, 2)};
    };
    CHECK(bytes(16384).first == bytes(1024).first);
    CHECK(bytes(16384).second < 16 * bytes(1024).second);
}
