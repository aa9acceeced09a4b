// Score modifiers as programs for the existing frontend give them to attributes.
#include <cudnn_frontend.h>

#include "expect.h"

#include <functional>

namespace fe = cudnn_frontend;
using fe::graph::Graph;
using fe::graph::SDPA_attributes;
using fe::graph::SDPA_backward_attributes;
using fe::graph::Tensor_attributes;
using Tensor = std::shared_ptr<Tensor_attributes>;

namespace {

Tensor times(std::shared_ptr<Graph> graph, Tensor scores, Tensor factor, int* calls) {
    ++*calls;
    return graph->pointwise(scores, factor, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::MUL));
}

struct Doubles {
    Tensor operator()(std::shared_ptr<Graph> graph, Tensor scores) const { return plus(graph, scores); }
    Tensor plus(std::shared_ptr<Graph> const& graph, Tensor const& scores) const {
        return graph->pointwise(scores, scores, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::ADD));
    }
};

// Score modifiers: results of std::bind, lambdas, functions in a std::function and objects.
void check_score_modifiers() {
    using namespace std::placeholders;
    Graph graph;
    graph.set_io_data_type(fe::DataType_t::HALF).set_intermediate_data_type(fe::DataType_t::FLOAT);
    graph.set_compute_data_type(fe::DataType_t::FLOAT);
    auto const input = [&](char const* name, std::vector<std::int64_t> const& dim, std::int64_t row) {
        return graph.tensor(Tensor_attributes().set_name(name).set_dim(dim).set_stride({row * dim[2], row, row, 1}));
    };
    auto const q = input("Q", {2, 1, 8, 16}, 16), k = input("K", {2, 1, 8, 16}, 16), v = input("V", {2, 1, 8, 16}, 16);
    auto const factor = graph.tensor(0.5f);
    int calls = 0;
    Doubles const doubles;
    auto const bound = std::bind(times, _1, _2, factor, &calls);
    std::function<Tensor(std::shared_ptr<Graph>, Tensor)> const held = bound;
    auto const lambda = [&](std::shared_ptr<Graph> g, Tensor scores) { return times(g, scores, factor, &calls); };
    auto const attend = [&](SDPA_attributes const& options) {
        auto const o = graph.sdpa(q, k, v, SDPA_attributes(options).set_generate_stats(false))[0];
        o->set_output(true);
    };
    attend(SDPA_attributes().set_score_mod(bound));
    attend(SDPA_attributes().set_score_mod(held));
    attend(SDPA_attributes().set_score_mod(lambda));
    attend(SDPA_attributes().set_score_mod(std::bind(&Doubles::plus, &doubles, _1, _2)));
    attend(SDPA_attributes().set_score_mod(doubles));
    attend(SDPA_attributes().set_score_mod([&](std::shared_ptr<Graph>&& g, Tensor&& scores) {
        return times(std::move(g), std::move(scores), factor, &calls);
    }));
    EXPECT(calls == 4);
    EXPECT(graph.validate().get_message() == "");
    auto const gradients = graph.sdpa_backward(
        q, k, v, q, q, input("stats", {2, 1, 8, 1}, 1),
        SDPA_backward_attributes().set_score_mod(bound).set_score_mod_bprop(std::bind(times, _1, _2, factor, &calls)));
    for (auto const& gradient : gradients) gradient->set_output(true);
    EXPECT(calls == 6);
}

}  // namespace

int main() {
    check_score_modifiers();
    return failures == 0 ? 0 : 1;
}
