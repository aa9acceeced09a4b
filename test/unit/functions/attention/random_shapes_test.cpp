// Random shapes, forward and backward, by eight threads: each class of shapes is planned once, memory stays as it is
// once the classes are there, and every result is right.
#include "attention/shape_classes.h"
#include "support/catch.h"
#include "support/random.h"
#include "support/shape_stream.h"
#include "unit/functions/attention/viewed_tensor.h"

#include <sdpa_graph/attention.h>

#include <cmath>
#include <set>

namespace {

namespace attention = sdpa_graph::attention;
using sdpa_test::Dims;
using sdpa_test::HalfTensor;

constexpr std::int64_t kHeads = 2, kColumns = 16;

struct Shape {
    std::int64_t batch, tokens;

    explicit Shape(int number) {
        sdpa_test::Random random(static_cast<std::uint64_t>(number));
        batch = random.between(1, 6), tokens = random.between(17, 300);
    }
    // Slots and longest length; there are as many keys as queries.
    std::pair<std::int64_t, std::int64_t> size_class() const {
        std::int64_t const bound = cudnn_frontend::attention::bound_of_queries(tokens);
        return {cudnn_frontend::attention::slots_of_class(batch, bound), bound};
    }
};

// With values that are all one number the output is this number, and the gradients of q and k are 0. With a gradient of
// ones that of v sums up the probabilities: one for each query and column. Empty where all of that holds.
std::string fault_of(int number) {
    Shape const shape(number);
    Dims const dim = {shape.batch, kHeads, shape.tokens, kColumns};
    sdpa_test::Random random(static_cast<std::uint64_t>(number) + 1'000'000);
    auto const any = [&] { return random.real(-1.0, 1.0); };
    double const value = static_cast<double>(number % 7 + 1);
    HalfTensor q(dim, any), k(dim, any), v(dim, [&] { return value; }), grad_o(dim, [] { return 1.0; });
    HalfTensor o(dim), dq(dim), dk(dim), dv(dim);
    sdpa_test::ViewedTensor<float> stats({shape.batch, kHeads, shape.tokens, 1}, cudnn_frontend::DataType_t::FLOAT);
    sdpa_graph::Place place;
    place.target = cudnn_frontend::Target::cpu(1);
    place.shape_policy = sdpa_graph::Shape_policy::CLASSES;
    attention::Options options;
    options.right_bound = 0;
    attention::Inputs const inputs{q.view, k.view, v.view, {}, {}, {}, {}, {}, {}, {}, {}};
    attention::Forward_results results{o.view, stats.view};
    if (auto const error = attention::forward(inputs, options, true, place, results); error.is_bad())
        return error.get_message();
    attention::Backward_results gradients{dq.view, dk.view, dv.view, {}, {}};
    auto const error = attention::backward(grad_o.view, inputs, o.view, stats.view, options, place, gradients);
    if (error.is_bad()) return error.get_message();
    if (o.farthest_from(value) > 0.01) return "o is wrong";
    if (std::max(dq.farthest_from(0.0), dk.farthest_from(0.0)) > 0.05) return "dq or dk is wrong";
    double const sum = static_cast<double>(dv.elements.size());
    return std::abs(dv.sum() - sum) <= 1e-3 * sum ? "" : "dv is wrong";
}

}  // namespace

TEST_CASE("attention: random shapes by eight threads need a plan for each class and no more memory after it") {
    auto const before = sdpa_graph::plan_counts();
    std::atomic<int> faults{0};
    sdpa_test::StreamFigures const figures =
        sdpa_test::run_stream([&](int number) { faults += fault_of(number).empty() ? 0 : 1; });
    std::set<std::pair<std::int64_t, std::int64_t>> classes;
    for (int number = 0; number < figures.shapes; ++number) classes.insert(Shape(number).size_class());
    auto const after = sdpa_graph::plan_counts();
    std::int64_t const built = after.built - before.built;
    figures.print("attention on the CPU", std::ssize(classes), built);
    CHECK(faults == 0);
    CHECK(built == 2 * std::ssize(classes));  // forward and backward
    CHECK(after.found - before.found == 2 * figures.shapes - built);
    CHECK(figures.is_memory_flat(4 * 1024));
}
