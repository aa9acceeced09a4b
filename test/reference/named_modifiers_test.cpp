// The score modifiers of support/modifiers on the CPU: fused against the reference, and gradients against differences
// of the output.
#include "support/catch.h"
#include "support/modifiers/modifier_problem.h"
#include "support/random.h"

#include <set>
#include <string>

using namespace sdpa_test;
using cudnn_frontend::Target;
using Uid = ModifierProblem::Uid;

namespace {

void run_reference(cudnn_frontend::graph::Graph graph, ModifierProblem const& problem) {
    REQUIRE(run_on(Target::reference())(graph, problem).get_message() == "");
}

double product(HostTensor const& a, HostTensor const& b) {
    double sum = 0.0;
    for_each_index(a.dim, [&](Index4 const& at) { sum += a.get(at) * b.get(at); });
    return sum;
}

// The derivative of the product of O and dO as Q, K and V move in a direction, from two runs of forward.
double difference_along(NamedModifier const& modifier, ModifierProblem const& direction) {
    constexpr double kStep = 1e-3;
    double outputs[2] = {};
    for (int const side : {0, 1}) {
        ModifierProblem moved(&modifier, DataType_t::FLOAT);
        for (Uid const uid : {Uid::Q, Uid::K, Uid::V}) {
            HostTensor const from = ModifierProblem(nullptr, DataType_t::FLOAT).tensor(uid);
            double const step = side == 0 ? -kStep : kStep;
            moved.tensor(uid).fill(
                [&](Index4 const& at) { return from.get(at) + step * direction.tensor(uid).get(at); });
        }
        run_reference(moved.forward(), moved);
        outputs[side] = product(moved.tensor(Uid::O), moved.tensor(Uid::DO));
    }
    return (outputs[1] - outputs[0]) / (2.0 * kStep);
}

}  // namespace

TEST_CASE("named modifiers: there are 30 or more, with names of their own") {
    std::set<std::string> names;
    for (NamedModifier const& modifier : named_modifiers()) names.insert(modifier.name);
    CHECK(names.size() >= 30);
    CHECK(names.size() == named_modifiers().size());
}

TEST_CASE("named modifiers: fused attention computes what the reference does, forward and backward") {
    for (NamedModifier const& modifier : named_modifiers()) {
        INFO(modifier.name);
        auto const [forward, backward] =
            compare_with_reference(modifier, DataType_t::FLOAT, {}, run_on(Target::cpu(1)));
        CHECK(forward.failure == "");
        CHECK(forward.error < 1e-5);
        CHECK(backward.failure == "");
        CHECK(backward.error < 2e-5);
    }
}

TEST_CASE("named modifiers: each changes the output") {
    ModifierProblem plain(nullptr, DataType_t::FLOAT);
    run_reference(plain.forward(), plain);
    for (NamedModifier const& modifier : named_modifiers()) {
        INFO(modifier.name);
        ModifierProblem modified(&modifier, DataType_t::FLOAT);
        run_reference(modified.forward(), modified);
        CHECK(error_of(modified.tensor(Uid::O), plain.tensor(Uid::O)) > 0.01);
    }
}

TEST_CASE("named modifiers: gradients are the derivatives of the output") {
    ModifierProblem direction(nullptr, DataType_t::FLOAT);
    Random random(5);
    for (Uid const uid : {Uid::Q, Uid::K, Uid::V})
        direction.tensor(uid).fill([&](Index4 const&) { return random.real(-1.0, 1.0); });
    for (NamedModifier const& modifier : named_modifiers()) {
        INFO(modifier.name);
        ModifierProblem problem(&modifier, DataType_t::FLOAT);
        run_reference(problem.forward(), problem);
        run_reference(problem.backward(), problem);
        double along = 0.0;
        for (auto const& [of, gradient] : {std::pair{Uid::Q, Uid::DQ}, {Uid::K, Uid::DK}, {Uid::V, Uid::DV}})
            along += product(direction.tensor(of), problem.tensor(gradient));
        CHECK(difference_along(modifier, direction) == Approx(along).epsilon(0.01).margin(0.05));
    }
}
