// The form of attention's operations that passes give it for cuDNN.
#include "unit/cudnn/legal_forms.h"

#include "core/data_type.h"
#include "nodes/schema/schema.h"

#include "support/catch.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

using namespace test;
using Lines = std::vector<std::string>;

namespace {

// Forward that asks for these rows of its softmax.
AttentionGraph asking_for(std::initializer_list<int> ports) {
    auto graph = AttentionGraph::forward();
    for (int const port : ports) graph.connect(port, DataType_t::FLOAT, {2, 4, 6, 1});
    return graph;
}

std::string const kHead = "MATMUL ";
std::string const kTail = "REDUCE_MAX SUB EXP REDUCE_ADD LOG ADD DIV ";

}  // namespace

TEST_CASE("Forward has the logarithm that nobody reads, but beside a maximum or a sum", "[passes]") {
    CHECK(steps(legal(AttentionGraph::forward())) == Lines{
                                                         "scores = MATMUL(Q, K^T)",
                                                         "softmax_max = REDUCE_MAX(scores)",
                                                         "shifted_scores = SUB(scores, softmax_max)",
                                                         "exponentials = EXP(shifted_scores)",
                                                         "softmax_sum = REDUCE_ADD(exponentials)",
                                                         "softmax_log_sum = LOG(softmax_sum)",
                                                         "stats = ADD(softmax_log_sum, softmax_max)",
                                                         "probabilities:HALF = DIV(exponentials, softmax_sum)",
                                                         "O:HALF = MATMUL(probabilities, V)",
                                                     });
    std::string const with_stats = kinds(legal(AttentionGraph::forward().stats()));
    CHECK(with_stats == kHead + kTail + "MATMUL");
    CHECK(kinds(legal(asking_for({Port::Max, Port::SumExp}))).find("LOG") == std::string::npos);
    CHECK(kinds(legal(asking_for({Port::Max}))).find("LOG") == std::string::npos);
}

TEST_CASE("Beside a maximum alone the sum has memory too, and the other way round", "[passes]") {
    CHECK(names_of_scratch(legalized(asking_for({Port::SumExp}))) == "softmax_max ");
    CHECK(names_of_scratch(legalized(asking_for({Port::Max}))) == "softmax_sum ");
    CHECK(names_of_scratch(legalized(asking_for({Port::Max, Port::SumExp}))) == "");
    CHECK(names_of_scratch(legalized(AttentionGraph::forward())) == "");
}

// Engines that split the keys of one query count each part's columns from 0.
TEST_CASE("What ALiBi adds for one query is a table, in forward", "[passes]") {
    auto const with_alibi = [](AttentionGraph graph, std::int64_t queries) {
        resize(graph, {Port::Q, Port::O}, 2, queries);
        if (graph.node().kind() == nodes::NodeKind::SdpaBackward) {
            resize(graph, {Port::DO, Port::DQ, Port::Stats}, 2, queries);
        }
        graph.fields().alibi_mask = true;
        return legal(graph);
    };
    ir::OpGraph const one = with_alibi(AttentionGraph::forward(), 1);
    CHECK(kinds(one) == kHead + "ADD " + kTail + "MATMUL");
    ir::Value const& biases = find_value(one, "alibi_biases");
    CHECK(biases.dim == core::Dims{1, 4, 1, 5});
    CHECK(biases.table[4] == 4.0 * 0.25);         // the first of four slopes
    CHECK(biases.table[16] == 1.0 * 0.00390625);  // the last one
    CHECK(kinds(with_alibi(AttentionGraph::forward(), 2)).find("GEN_INDEX GEN_INDEX SUB MUL ADD") != std::string::npos);
    CHECK(kinds(with_alibi(AttentionGraph::backward(), 1)).find("GEN_INDEX GEN_INDEX SUB MUL ADD") !=
          std::string::npos);
}

TEST_CASE("The columns and heads that a modifier of one query counts are numbers in memory", "[passes]") {
    auto const counting = [](std::int64_t queries, std::int64_t axis) {
        auto graph = with_modifier({2, 4, queries, 5});
        resize(graph, {Port::Q, Port::O, Port::Score, Port::ScoreMod}, 2, queries);
        auto const other = static_cast<nodes::TensorId>(
            std::ranges::find(graph.spec.tensors, "other", &nodes::TensorSpec::name) - graph.spec.tensors.begin());
        graph.spec.tensors[static_cast<std::size_t>(other)].is_virtual = true;
        graph.spec.tensors[static_cast<std::size_t>(other)].data_type = DataType_t::INT32;
        nodes::Node index = nodes::make_node(nodes::NodeKind::Pointwise);
        auto& fields = std::get<nodes::PointwiseFields>(index.fields);
        fields.mode = PointwiseMode_t::GEN_INDEX, fields.axis = axis;
        index.ports[nodes::pointwise::In0] = graph.node().ports[Port::Score];
        index.ports[nodes::pointwise::Out0] = other;
        graph.spec.nodes.insert(graph.spec.nodes.begin(), std::move(index));
        return legal(graph);
    };
    ir::OpGraph const one = counting(1, 3);
    CHECK(kinds(one) == kHead + "GEN_INDEX ADD ADD " + kTail + "MATMUL");
    CHECK(bodies<ir::PointwiseOp>(one)[0].axis == 2);
    CHECK(find_value(one, "other::counted").table == std::vector<double>{0, 1, 2, 3, 4});
    CHECK(find_value(one, "other::counted").dim == core::Dims{1, 1, 1, 5});
    ir::OpGraph const heads = counting(1, 1);
    CHECK(kinds(heads) == kinds(one));
    CHECK(find_value(heads, "other::counted").dim == core::Dims{1, 4, 1, 5});
    auto const of_heads = find_value(heads, "other::counted").table;
    CHECK(of_heads[4] == 0.0);
    CHECK(of_heads[5] == 1.0);
    CHECK(of_heads[19] == 3.0);
    CHECK(kinds(counting(1, 0)) == kHead + "GEN_INDEX ADD " + kTail + "MATMUL");
    CHECK(kinds(counting(2, 1)) == kHead + "GEN_INDEX ADD " + kTail + "MATMUL");
    CHECK(kinds(counting(1, 2)) == kHead + "GEN_INDEX ADD " + kTail + "MATMUL");
    CHECK(kinds(counting(2, 3)) == kHead + "GEN_INDEX ADD " + kTail + "MATMUL");
}

TEST_CASE("The user's mask is applied after its scale, a drawn one before", "[passes]") {
    Lines const given = steps(legal(AttentionGraph::forward().dropout_mask()));
    REQUIRE(given.size() == 11);
    CHECK(given[8] == "kept_probabilities = MUL(probabilities, dropout_scale)");
    CHECK(given[9] == "dropped_probabilities:HALF = MUL(kept_probabilities, dropout_mask@2)");
    Lines const drawn = steps(legal(AttentionGraph::forward().dropout(0.25f)));
    REQUIRE(drawn.size() == 12);
    CHECK(drawn[9] == "kept_probabilities = MUL(probabilities, dropout_mask)");
    CHECK(drawn[10] == "dropped_probabilities:HALF = MUL(kept_probabilities, dropout_scale)");
}
