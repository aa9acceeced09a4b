// Infinity and NaN in a bias. The CPU targets run the same cases, so that all give what the specification says.
#include "kernel_cases.h"
#include "support/catch.h"

#include <algorithm>
#include <cmath>
#include <string>

using namespace sdpa_test;
namespace fe = cudnn_frontend;
namespace kernels = cudnn_frontend::kernels;

namespace {

// Several tiles of queries and of keys. With 64 columns the copy engine moves the bias and its gradient. With more,
// threads read the bias, whose gradient is a sum over queries.
AttentionCase case_with(Infinities infinities, Columns const& columns) {
    AttentionCase c = plain_case(DataType_t::BFLOAT16, columns);
    c.h_q = 2;
    c.s_q = 150;
    c.s_kv = 264;
    c.alibi = columns.d_qk <= 64;
    c.bias_type = c.alibi ? DataType_t::BFLOAT16 : DataType_t::FLOAT;
    c.bias = Index4{c.b, c.h_q, c.s_q, c.s_kv};
    c.bias_infinities = infinities;
    add_bias_gradient(c);
    if (!c.alibi) c.d_bias_dim = Index4{1, c.h_q, 1, c.s_kv};
    return c;
}

std::string faults_on_all_targets(AttentionCase const& c) {
    std::string faults = check_case(c, rig_of_kernel()).faults();
    for (Target const& target : {Target::cpu(), Target::reference()}) faults += check_case(c, target);
    return faults;
}

constexpr Columns kClasses[] = {{64, 64}, {128, 128}, {192, 128}, {256, 256}};

}  // namespace

TEST_CASE("rows of a bias that are minus infinity leave queries without keys, unless there is a sink") {
    for (Columns const& columns : kClasses) {
        for (Infinities const infinities : {Infinities::Rows, Infinities::Tiles}) {
            AttentionCase c = case_with(infinities, columns);
            INFO(describe(c));
            CHECK(faults_on_all_targets(c) == "");
            c.right = 0;
            c.left = 100;
            CHECK(faults_on_all_targets(c) == "");
            c.sink = DataType_t::FLOAT;
            c.d_sink = true;
            CHECK(faults_on_all_targets(c) == "");
        }
    }
}

TEST_CASE("NaN or infinity in a row of a bias makes the results of that query NaN, and no others") {
    for (Columns const& columns : kClasses) {
        for (Infinities const infinities : {Infinities::Nan, Infinities::Positive}) {
            AttentionCase c = case_with(infinities, columns);
            INFO(describe(c));
            CHECK(faults_on_all_targets(c) == "");
        }
    }
}

TEST_CASE("NaN in a row of a causal mask reaches no other row of O, dQ and dV") {
    for (Columns const& columns : kClasses) {
        AttentionCase c = case_with(Infinities::Nan, columns);
        c.right = 0;
        INFO(describe(c));
        Outcome const outcome = check_case(c, rig_of_kernel());
        CHECK(outcome.forward.faults == "");
        for (char const* const gradient : {"dQ", "dV"})
            CHECK(outcome.backward.faults.find(gradient) == std::string::npos);
    }
}

TEST_CASE("numbers of a bias whose product with log2(e) FLOAT cannot hold count as infinite") {
    AttentionCase c = case_with(Infinities::None, {128, 128});
    int others = 0;
    Rig rig = rig_of_kernel();
    rig.execute = [&](Session const& session) {
        return run_by_kernel(session, [&](auto const& problem, kernels::Pointers pointers) {
            if (problem.is_backward) return;
            auto const* const stats =
                static_cast<float const*>(pointers[problem.operand(fe::attention::Stats).pointer]);
            others += static_cast<int>(
                std::count_if(stats, stats + problem.queries(), [](float number) { return !std::isinf(number); }));
        });
    };
    for (double const least : {-2.3e38, -2.4e38}) {
        c.bias_shift = least;
        others = 0;
        check_case(c, rig);
        CHECK(others == (least < -2.35e38 ? 0 : c.s_q));
    }
}

TEST_CASE("NaN in a bias behind the sequences reaches no result") {
    for (Columns const& columns : kClasses) {
        AttentionCase c = case_with(Infinities::None, columns);
        c.len_q = {130};
        c.len_kv = {70};
        c.nan_in_padding = true;
        INFO(describe(c));
        CHECK(faults_on_all_targets(c) == "");
    }
}
