// Graphs with score modifiers on the CPU targets: attention in a modifier, scores that other nodes read, long
// modifiers.
#include <cudnn_frontend/graph.h>

#include "support/catch.h"
#include "support/small_graph.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

using namespace cudnn_frontend;

namespace {

using graph::Pointwise_attributes;
using graph::SDPA_attributes;
using test::Tensor_ptr;

Tensor_ptr sum(graph::Graph& graph, Tensor_ptr const& a, Tensor_ptr const& b) {
    return graph.pointwise(a, b, Pointwise_attributes().set_mode(PointwiseMode_t::ADD));
}

// Q, K and V of an outer and an inner attention, and Kt, a view of the outer keys: by uid, on the same memory.
struct TwoAttentions {
    graph::Graph graph;
    Tensor_ptr q, k, k_transposed, v, inner_q, inner_k, inner_v;

    TwoAttentions() {
        graph.set_io_data_type(DataType_t::FLOAT)
            .set_intermediate_data_type(DataType_t::FLOAT)
            .set_compute_data_type(DataType_t::FLOAT);
        auto const add = [&](std::int64_t uid, std::int64_t rows, std::int64_t columns) {
            return graph.tensor(test::packed_tensor("", 4, rows, columns).set_uid(uid));
        };
        q = add(1, 6, 8), k = add(2, 10, 8), v = add(3, 10, 8);
        inner_q = add(4, 6, 8), inner_k = add(5, 10, 8), inner_v = add(6, 10, 10);
        k_transposed = graph.tensor(test::packed_tensor("", 4, 8, 10).set_stride({320, 80, 1, 8}).set_uid(7));
    }

    std::vector<float> run(Tensor_ptr const& o, Target const& target) {
        o->set_output(true).set_uid(8);
        auto error = graph.build(target);
        INFO(error.err_msg);
        REQUIRE(error.is_good());
        std::vector<float> memory(8 * 1000), result(480);
        for (std::size_t i = 0; i < memory.size(); ++i) {
            memory[i] = static_cast<float>((i * 7919) % 1013) / 1013.0f - 0.5f;
        }
        std::vector<float> of_first(480);
        std::unordered_map<std::int64_t, void*> pack = {{7, &memory[2000]}, {8, result.data()}, {9, of_first.data()}};
        for (std::int64_t uid = 1; uid <= 6; ++uid) pack[uid] = &memory[static_cast<std::size_t>(uid) * 1000];
        auto workspace = test::workspace_of(graph);
        error = graph.execute(pack, workspace.data());
        INFO(error.err_msg);
        REQUIRE(error.is_good());
        return result;
    }
};

void check_same(std::vector<float> const& a, std::vector<float> const& b) {
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) < 1e-6f);
    CHECK(*std::max_element(a.begin(), a.end()) > 0.01f);
}

}  // namespace

TEST_CASE("a modifier may hold attention with a modifier of its own") {
    for (Target const& target : {Target::cpu(), Target::reference()}) {
        TwoAttentions nested, unrolled;
        auto const twice = [](std::shared_ptr<graph::Graph> const& graph, Tensor_ptr const& scores) {
            return sum(*graph, scores, scores);
        };
        auto const outer_modifier = [&](std::shared_ptr<graph::Graph> const& outer, Tensor_ptr const& scores) {
            auto const options = SDPA_attributes().set_name("inner").set_score_mod(twice);
            return sum(*outer, scores, outer->sdpa(nested.inner_q, nested.inner_k, nested.inner_v, options)[0]);
        };
        auto const options = SDPA_attributes().set_name("outer").set_score_mod(outer_modifier);
        Tensor_ptr const o = nested.graph.sdpa(nested.q, nested.k, nested.v, options)[0];

        Tensor_ptr const inner = unrolled.graph.sdpa(unrolled.inner_q, unrolled.inner_k, unrolled.inner_v,
                                                     SDPA_attributes().set_name("inner").set_attn_scale(2.0f))[0];
        Tensor_ptr const same = unrolled.graph.sdpa(unrolled.q, unrolled.k, unrolled.v,
                                                    SDPA_attributes().set_name("outer").set_bias(inner))[0];
        check_same(nested.run(o, target), unrolled.run(same, target));
    }
}

TEST_CASE("other attention may read what a modifier computes, and runs after it") {
    for (Target const& target : {Target::cpu(), Target::reference()}) {
        TwoAttentions modified, unrolled;
        Tensor_ptr shown;
        auto const modifier = [&](std::shared_ptr<graph::Graph> const& graph, Tensor_ptr const& scores) {
            shown = scores;
            return sum(*graph, scores, scores);
        };
        Tensor_ptr const first = modified.graph.sdpa(modified.q, modified.k, modified.v,
                                                     SDPA_attributes().set_name("first").set_score_mod(modifier))[0];
        first->set_output(true).set_uid(9);
        Tensor_ptr const o = modified.graph.sdpa(modified.inner_q, modified.inner_k, modified.inner_v,
                                                 SDPA_attributes().set_name("second").set_bias(shown))[0];

        Tensor_ptr const scores =
            unrolled.graph.matmul(unrolled.q, unrolled.k_transposed, graph::Matmul_attributes().set_name("scores"));
        unrolled.graph.sdpa(unrolled.q, unrolled.k, unrolled.v, SDPA_attributes().set_name("first"))[0]
            ->set_output(true)
            .set_uid(9);
        Tensor_ptr const same = unrolled.graph.sdpa(unrolled.inner_q, unrolled.inner_k, unrolled.inner_v,
                                                    SDPA_attributes().set_name("second").set_bias(scores))[0];
        check_same(modified.run(o, target), unrolled.run(same, target));
    }
}

TEST_CASE("a graph with a long score modifier is built and printed in time") {
    test::SmallGraph small = test::small_graph();
    auto const modifier = [](std::shared_ptr<graph::Graph> const& graph, test::Tensor_ptr const& scores) {
        test::Tensor_ptr result = scores;
        auto const add = graph::Pointwise_attributes().set_mode(PointwiseMode_t::ADD);
        for (int i = 0; i < 40'000; ++i) result = graph->pointwise(result, scores, add);
        return result;
    };
    auto const options = test::SDPA_attributes().set_generate_stats(false).set_score_mod(modifier);
    small.graph.sdpa(small.q, small.k, small.v, options)[0]->set_output(true);
    std::clock_t const begin = std::clock();  // of this process's own time
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    std::string text;
    REQUIRE(small.graph.print_operations(text).is_good());
    // Quadratic work would take more than twice as long.
    CHECK(static_cast<double>(std::clock() - begin) < 10.0 * CLOCKS_PER_SEC);
}

TEST_CASE("a modifier is written within its attention, in text and JSON, and in front of it in version 1") {
    TwoAttentions two;
    auto const modifier = [](std::shared_ptr<graph::Graph> const& graph, Tensor_ptr const& scores) {
        return graph->pointwise(scores, scores,
                                Pointwise_attributes().set_name("twice").set_mode(PointwiseMode_t::ADD));
    };
    auto const options = SDPA_attributes().set_name("attention").set_score_mod(modifier);
    two.graph.sdpa(two.q, two.k, two.v, options)[0]->set_output(true).set_uid(8);
    std::string const text = two.graph.print();
    CAPTURE(text);
    CHECK(text.find("\nnode SDPA_FORWARD 'attention'") < text.find("\n  modifier POINTWISE 'twice'"));

    std::string json, flat;
    REQUIRE(two.graph.serialize(json).is_good());
    REQUIRE(two.graph.serialize_as_version(1, flat).is_good());
    CHECK(json.find("\"attention\"") < json.find("\"twice\""));
    CHECK(flat.find("\"attention\"") > flat.find("\"twice\""));
    for (std::string const& document : {json, flat}) {
        graph::Graph read;
        std::string again;
        REQUIRE(read.deserialize(document).is_good());
        REQUIRE(read.serialize(again).is_good());
        CHECK(again == json);
        CHECK(read.build(Target::cpu()).get_message() == "");
    }
    CHECK(two.graph.serialize_as_version(3, flat).get_message() == "version 3 of the JSON format; expected 1 or 2");
}
