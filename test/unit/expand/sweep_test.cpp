// Random combinations of options: every expansion verifies, and both forms ask for the same pointers.
#include "attention_graphs.h"
#include "support/catch.h"

#include <random>

using namespace test;

namespace {

class Coin {
   public:
    explicit Coin(unsigned seed) : generator_(seed) {}
    bool flip() { return generator_() % 2 == 0; }
    std::int64_t below(unsigned limit) { return static_cast<std::int64_t>(generator_() % limit); }

   private:
    std::mt19937 generator_;
};

void add_dropout(AttentionGraph& graph, Coin& coin) {
    switch (coin.below(4)) {
        case 0: graph.dropout(0.0f); break;
        case 1: graph.dropout_mask(); break;
        case 2:
            graph.dropout(0.25f);
            if (coin.flip()) graph.dump();
            break;
        default: break;
    }
}

void add_band(AttentionGraph& graph, Coin& coin) {
    std::optional<std::int64_t> left, right;
    if (coin.flip()) left = 1 + coin.below(4);
    if (coin.flip()) right = coin.below(3);
    graph.band(coin.flip() ? DiagonalAlignment_t::TOP_LEFT : DiagonalAlignment_t::BOTTOM_RIGHT, left, right);
}

AttentionGraph random_graph(unsigned seed) {
    Coin coin(seed);
    bool const is_backward = coin.flip();
    AttentionGraph graph = is_backward ? AttentionGraph::backward() : AttentionGraph::forward();
    graph.heads(std::int64_t{1} << coin.below(3), std::int64_t{1} << coin.below(3));
    if (!is_backward && coin.flip()) graph.stats();
    if (coin.flip()) graph.scale(0.5f);
    if (coin.flip()) graph.bias({1 + coin.below(2), coin.flip() ? 1 : 4, 6, 5});
    if (is_backward && graph.node().ports[Port::Bias] != nodes::kNoTensor && coin.flip()) graph.bias_gradient();
    if (coin.flip()) graph.padding();
    graph.fields().alibi_mask = coin.flip();
    add_band(graph, coin);
    add_dropout(graph, coin);
    if (is_backward && coin.flip()) graph.deterministic();
    if (!is_backward && graph.fields().padding_mask && coin.flip()) graph.pages();
    return graph;
}

std::vector<std::int64_t> bound_uids(ir::OpGraph const& graph) {
    std::vector<std::int64_t> uids;
    for (ir::Binding const& binding : graph.bindings()) uids.push_back(binding.uid);
    return uids;
}

}  // namespace

TEST_CASE("Every combination of options verifies, and both forms bind the same tensors", "[expand]") {
    for (unsigned seed = 0; seed < 400; ++seed) {
        CAPTURE(seed);
        AttentionGraph const graph = random_graph(seed);
        ir::OpGraph const many = composite(graph);
        ir::OpGraph const one = fused(graph);
        CHECK(ir::verify(many).is_good());
        CHECK(ir::verify(one).is_good());
        REQUIRE(bound_uids(many) == bound_uids(one));
        REQUIRE(ir::to_text(many) == ir::to_text(composite(graph)));
    }
}
