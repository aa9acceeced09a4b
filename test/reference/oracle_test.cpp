// The oracle against results computed by hand and against finite differences of itself.
#include "reference/oracle/oracle.h"
#include "reference/checks/finite_difference.h"
#include "support/catch.h"
#include "support/random.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

oracle::Array random_array(sdpa_test::Random& random, std::array<std::int64_t, 4> const& dim) {
    oracle::Array result(dim[0], dim[1], dim[2], dim[3]);
    for (double& value : result.values) value = random.real(-1.0, 1.0);
    return result;
}

oracle::Problem small_problem(sdpa_test::Random& random) {
    oracle::Problem p;
    p.q = random_array(random, {2, 4, 5, 3});
    p.k = random_array(random, {2, 2, 6, 3});
    p.v = random_array(random, {2, 1, 6, 2});
    p.scale = 0.7;
    return p;
}

struct Option {
    std::string name;
    std::function<void(oracle::Problem&, sdpa_test::Random&)> apply;
};

std::vector<Option> const kOptions = {
    {"none", [](auto&, auto&) {}},
    {"full bias",
     [](auto& p, auto& random) {
         p.bias = random_array(random, {2, 4, 5, 6});
     }},
    {"bias over keys",
     [](auto& p, auto& random) {
         p.bias = random_array(random, {1, 1, 1, 6});
     }},
    {"bias over heads and queries",
     [](auto& p, auto& random) {
         p.bias = random_array(random, {1, 4, 5, 1});
     }},
    {"alibi", [](auto& p, auto&) { p.alibi = true; }},
    {"lengths",
     [](auto& p, auto&) {
         p.len_q = {5, 2}, p.len_kv = {3, 0};
     }},
    {"causal", [](auto& p, auto&) { p.right = 0; }},
    {"band at the bottom right", [](auto& p, auto&) { p.bottom_right = true, p.left = 2, p.right = 1; }},
    {"dropout",
     [](auto& p, auto& random) {
         p.dropout_mask = oracle::Array(2, 4, 5, 6);
         for (double& value : p.dropout_mask->values) value = random.chance(0.6) ? 1.0 : 0.0;
         p.dropout_scale = 1.0 / 0.6;
     }},
    {"sink",
     [](auto& p, auto& random) {
         p.sink = random_array(random, {1, 4, 1, 1});
     }},
    {"sink, dropout and rows without keys",
     [](auto& p, auto& random) {
         p.sink = random_array(random, {1, 4, 1, 1});
         p.len_q = {5, 2}, p.len_kv = {3, 0};
         p.dropout_mask = oracle::Array(2, 4, 5, 6);
         for (double& value : p.dropout_mask->values) value = random.chance(0.6) ? 1.0 : 0.0;
         p.dropout_scale = 1.0 / 0.6;
     }},
};

void check_close(std::string const& name, oracle::Array const& a, oracle::Array const& b) {
    REQUIRE(a.values.size() == b.values.size());
    double worst = 0.0;
    for (std::size_t n = 0; n < a.values.size(); ++n) worst = std::max(worst, std::abs(a.values[n] - b.values[n]));
    INFO(name);
    CHECK(worst < oracle::kDifferenceError);
}

}  // namespace

TEST_CASE("oracle: two keys worked out by hand") {
    oracle::Problem p;
    p.q = oracle::Array(1, 1, 1, 1, 2.0);
    p.k = oracle::Array(1, 1, 2, 1);
    p.k.values = {0.0, 0.5 * std::log(3.0)};  // scores 0 and ln 3: probabilities 1/4 and 3/4
    p.v = oracle::Array(1, 1, 2, 1);
    p.v.values = {8.0, 4.0};
    oracle::Forward const result = oracle::forward(p);
    CHECK(result.o.values[0] == Approx(5.0));
    CHECK(result.stats.values[0] == Approx(std::log(4.0)));

    CHECK(result.max.values[0] == Approx(std::log(3.0)));
    CHECK(result.sum_exp.values[0] == Approx(4.0 / 3.0));

    oracle::Backward const gradient = oracle::backward(p, result.o, result.stats, oracle::Array(1, 1, 1, 1, 1.0));
    CHECK(gradient.d_v.values[0] == Approx(0.25));
    CHECK(gradient.d_v.values[1] == Approx(0.75));
    CHECK(gradient.d_k.values[0] == Approx(2.0 * 0.25 * (8.0 - 5.0)));
    CHECK(gradient.d_k.values[1] == Approx(2.0 * 0.75 * (4.0 - 5.0)));
    CHECK(gradient.d_q.values[0] == Approx(0.75 * (4.0 - 5.0) * 0.5 * std::log(3.0)));
}

TEST_CASE("oracle: a sink worked out by hand") {
    oracle::Problem p;
    p.q = p.k = oracle::Array(1, 1, 1, 1, 0.0);
    p.v = oracle::Array(1, 1, 1, 1, 8.0);
    p.sink = oracle::Array(1, 1, 1, 1, std::log(3.0));  // of the key's score 0: probabilities 1/4, and 3/4 for the sink
    oracle::Forward const result = oracle::forward(p);
    CHECK(result.o.values[0] == Approx(2.0));
    CHECK(result.stats.values[0] == Approx(std::log(4.0)));
    CHECK(result.max.values[0] == Approx(std::log(3.0)));
    CHECK(result.sum_exp.values[0] == Approx(4.0 / 3.0));
    oracle::Backward const gradient = oracle::backward(p, result.o, result.stats, oracle::Array(1, 1, 1, 1, 1.0));
    CHECK(gradient.d_sink.values[0] == Approx(-0.75 * 2.0));
}

TEST_CASE("oracle: a row without keys has its sink alone") {
    sdpa_test::Random random(3);
    oracle::Problem p = small_problem(random);
    p.len_q = {5, 4}, p.len_kv = {0, 6};
    oracle::Forward const bare = oracle::forward(p);
    CHECK(bare.max.at(0, 1, 2, 0) == -kInfinity);
    CHECK(bare.sum_exp.at(0, 1, 2, 0) == 0.0);
    p.sink = oracle::Array(1, 4, 1, 1, 0.5);
    oracle::Forward const result = oracle::forward(p);
    CHECK(result.o.at(0, 1, 2, 1) == 0.0);
    CHECK(result.stats.at(0, 1, 2, 0) == 0.5);
    CHECK(result.max.at(0, 1, 2, 0) == 0.5);
    CHECK(result.sum_exp.at(0, 1, 2, 0) == 1.0);
}

TEST_CASE("oracle: the masks keep the keys that their definitions name") {
    oracle::Problem p;
    p.q = oracle::Array(1, 1, 3, 1);
    p.k = p.v = oracle::Array(1, 1, 5, 1);
    auto const picture = [&p] {
        std::string rows;
        for (std::int64_t i = 0; i < p.queries(); ++i) {
            for (std::int64_t j = 0; j < p.keys(); ++j) rows += p.keeps(0, i, j) ? 'x' : '.';
            rows += ' ';
        }
        return rows;
    };
    CHECK(picture() == "xxxxx xxxxx xxxxx ");
    p.right = 0;
    CHECK(picture() == "x.... xx... xxx.. ");
    p.left = 1;
    CHECK(picture() == "x.... .x... ..x.. ");
    p.bottom_right = true;
    CHECK(picture() == "..x.. ...x. ....x ");
    p.left = 2, p.right = 1;
    CHECK(picture() == ".xxx. ..xxx ...xx ");
    p.len_q = {2}, p.len_kv = {3};
    CHECK(picture() == "xxx.. .xx.. ..... ");
    p.left.reset(), p.right = 0;
    CHECK(picture() == "xx... xxx.. ..... ");
}

TEST_CASE("oracle: slopes of alibi") {
    CHECK(oracle::alibi_slope(0, 8) == 0.5);
    CHECK(oracle::alibi_slope(7, 8) == 0x1p-8);
    CHECK(oracle::alibi_slope(0, 1) == 0x1p-8);
    // Six heads: four of their own, then every other one of eight.
    CHECK(oracle::alibi_slope(3, 6) == 0x1p-8);
    CHECK(oracle::alibi_slope(4, 6) == 0.5);
    CHECK(oracle::alibi_slope(5, 6) == 0x1p-3);
}

TEST_CASE("oracle: a row without keys gives zeros and a log-sum-exp of minus infinity") {
    sdpa_test::Random random(3);
    oracle::Problem p = small_problem(random);
    p.len_q = {5, 4}, p.len_kv = {0, 6};
    oracle::Forward const result = oracle::forward(p);
    CHECK(result.stats.at(0, 1, 2, 0) == -kInfinity);
    CHECK(result.o.at(0, 1, 2, 1) == 0.0);
    CHECK(result.stats.at(1, 1, 4, 0) == -kInfinity);
    CHECK(std::isfinite(result.stats.at(1, 1, 3, 0)));
    oracle::Backward const gradient = oracle::backward(p, result.o, result.stats, result.o);
    CHECK(gradient.d_k.at(0, 0, 0, 0) == 0.0);
    CHECK(gradient.d_q.at(1, 0, 4, 0) == 0.0);
    CHECK(gradient.d_q.at(1, 0, 3, 0) != 0.0);
}

TEST_CASE("oracle: gradients agree with finite differences with every option") {
    for (Option const& option : kOptions) {
        sdpa_test::Random random(11);
        oracle::Problem p = small_problem(random);
        option.apply(p, random);
        oracle::Array const d_o = random_array(random, {2, 4, 5, 2});
        oracle::Forward const result = oracle::forward(p);
        oracle::Backward const analytic = oracle::backward(p, result.o, result.stats, d_o);
        oracle::Backward const numeric = oracle::central_differences(p, d_o);
        INFO(option.name);
        check_close("dQ", analytic.d_q, numeric.d_q);
        check_close("dK", analytic.d_k, numeric.d_k);
        check_close("dV", analytic.d_v, numeric.d_v);
        check_close("dBias", analytic.d_bias, numeric.d_bias);
        check_close("dSink", analytic.d_sink, numeric.d_sink);
    }
}
