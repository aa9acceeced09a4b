// The functions of neighborhood attention on both CPU targets, against the formula of test/support.
#include "reference/cases/neighborhood_case.h"
#include "support/catch.h"

#include <array>
#include <limits>
#include <map>

using namespace sdpa_test;
using cudnn_frontend::Target;
using neighborhood_formula::Axis;

namespace {

constexpr double kDouble = 0x1p-53;

// Checks every function that supports the case, on both targets.
void check(NeighborhoodCase const& test) {
    INFO(test.text());
    for (int i = 0; i < kNeighborhoodFunctions; ++i) {
        auto const function = static_cast<NeighborhoodFunction>(i);
        if (!takes(function, test)) continue;
        CAPTURE(i);
        CHECK(check_neighborhood(function, test, runner_on_host(Target::reference()), error_of_sums(test, kDouble)) ==
              "");
        CHECK(check_neighborhood(function, test, runner_on_host(Target::cpu()), error_on_cpu(test)) == "");
    }
}

NeighborhoodCase case_of(std::vector<Axis> const& axes) {
    NeighborhoodCase test;
    test.batches = 2;
    test.heads = 2;
    test.axes = axes;
    return test;
}

using cudnn_frontend::graph::Graph;
using Dims = std::vector<std::int64_t>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Graph graph_of_floats() {
    Graph graph;
    graph.set_io_data_type(DataType_t::FLOAT);
    return graph;
}

auto input(Graph& graph, std::int64_t uid, Dims const& dim) {
    Dims stride(dim.size(), 1);
    for (std::size_t i = dim.size() - 1; i > 0; --i) stride[i - 1] = stride[i] * dim[i];
    return graph.tensor(cudnn_frontend::graph::Tensor_attributes().set_uid(uid).set_dim(dim).set_stride(stride));
}

void run(Graph& graph, Target const& target, std::map<std::int64_t, void*> const& pack) {
    REQUIRE(graph.build(target).get_message() == "");
    std::vector<std::byte> workspace(static_cast<std::size_t>(graph.get_workspace_size()));
    REQUIRE(graph.execute(pack, workspace.data()).get_message() == "");
}

}  // namespace

TEST_CASE("neighborhood attention along a line, at all places that a window may have", "[neighborhood]") {
    for (std::int64_t const dilation : {1, 2, 3}) {
        for (std::int64_t const kernel : {1, 2, 3, 4, 5}) {
            for (bool const is_causal : {false, true}) {
                check(case_of({{17, kernel, dilation, is_causal}}));
                check(case_of({{kernel * dilation, kernel, dilation, is_causal}}));
            }
        }
    }
}

TEST_CASE("neighborhood attention in a picture and in a volume", "[neighborhood]") {
    check(case_of({{7, 3, 2}, {9, 5, 1}}));
    check(case_of({{6, 4, 1}, {9, 3, 3, true}}));
    check(case_of({{5, 5, 1, true}, {4, 1, 4, true}}));
    check(case_of({{4, 3, 1, true}, {5, 3, 1}, {7, 3, 2}}));
    check(case_of({{3, 2, 1}, {3, 3, 1}, {4, 2, 2}}));
}

TEST_CASE("neighborhood attention with a relative position bias and its gradient", "[neighborhood]") {
    for (auto const& axes :
         {std::vector<Axis>{{12, 5, 2}}, {{7, 3, 2}, {5, 5, 1}}, {{4, 3, 1}, {3, 3, 1}, {6, 3, 2}}}) {
        NeighborhoodCase test = case_of(axes);
        test.has_bias = true;
        test.scale = 0.7f;
        check(test);
    }
}

TEST_CASE("queries whose keys the bias masks all have no output and no gradient", "[neighborhood]") {
    NeighborhoodCase test = case_of({{7, 3, 2}, {5, 5, 1}});
    test.has_bias = test.masks_first_head = true;
    check(test);
}

TEST_CASE("a weight of 0 leaves out its value, also infinity and NaN", "[neighborhood]") {
    for (Target const& target : {Target::reference(), Target::cpu()}) {
        std::array attn{0.0f, 1.0f, 0.5f, 1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
        std::array v{kInfinity, 2.0f, 4.0f}, o{-1.0f, -1.0f, -1.0f};
        Graph graph = graph_of_floats();
        auto const result =
            graph.neighborhood_av(input(graph, 1, {1, 1, 3, 3}), input(graph, 2, {1, 1, 3, 1}),
                                  cudnn_frontend::graph::Neighborhood_av_attributes().set_kernel_size({3}));
        result->set_uid(3).set_output(true);
        run(graph, target, {{1, attn.data()}, {2, v.data()}, {3, o.data()}});
        CHECK(o == std::array{4.0f, kInfinity, 0.0f});
    }
}

TEST_CASE("a query whose scores are all -inf has no output", "[neighborhood]") {
    for (Target const& target : {Target::reference(), Target::cpu()}) {
        std::array q{0.0f, -kInfinity, 0.0f}, k{1.0f, 2.0f, 3.0f}, v{1.0f, 2.0f, 6.0f}, o{-1.0f, -1.0f, -1.0f},
            stats = o;
        Graph graph = graph_of_floats();
        Dims const tokens{1, 3, 1, 1};
        auto const results = graph.neighborhood_attention(
            input(graph, 1, tokens), input(graph, 2, tokens), input(graph, 3, tokens),
            cudnn_frontend::graph::Neighborhood_attributes().set_kernel_size({3}).set_generate_stats(true));
        results[0]->set_uid(4).set_output(true);
        results[1]->set_uid(5).set_output(true);
        run(graph, target, {{1, q.data()}, {2, k.data()}, {3, v.data()}, {4, o.data()}, {5, stats.data()}});
        CHECK(o[0] == Approx(3.0));
        CHECK(o[1] == 0.0f);
        CHECK(o[2] == Approx(3.0));
        CHECK(stats[1] == -kInfinity);
    }
}

TEST_CASE("neighborhood attention over tensors of other types and layouts", "[neighborhood]") {
    for (DataType_t const type : {DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16}) {
        for (auto const layout :
             {NeighborhoodLayout::Packed, NeighborhoodLayout::Spaced, NeighborhoodLayout::Scattered}) {
            NeighborhoodCase test = case_of({{6, 3, 1}, {8, 3, 2}});
            test.type = type;
            test.layout = layout;
            test.width = 8;
            test.has_bias = true;
            check(test);
        }
    }
}

TEST_CASE("a window as large as the space sees all of it", "[neighborhood]") {
    NeighborhoodCase test = case_of({{5, 5, 1}, {7, 7, 1}});
    test.has_bias = true;
    check(test);
}

TEST_CASE("neighborhood attention in random cases", "[neighborhood]") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) check(random_neighborhood_case(seed));
}
