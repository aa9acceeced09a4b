#include <cudnn_frontend/graph.h>

#include "support/catch.h"
#include "support/small_graph.h"

#include <sstream>

using namespace cudnn_frontend;
using test::small_graph;
using test::SmallGraph;

TEST_CASE("a node's outputs are virtual, named after the node, and stats come only when asked for") {
    graph::Graph g;
    auto const q = g.tensor(test::packed_tensor("Q", 4, 6, 8));
    auto const [o, none] = g.sdpa(q, q, q, graph::SDPA_attributes().set_name("a"));
    CHECK(none == nullptr);
    CHECK(o->get_name() == "a::O");
    CHECK(o->get_is_virtual());
    auto const [o2, stats] = g.sdpa(q, q, q, graph::SDPA_attributes().set_generate_stats(true));
    REQUIRE(stats != nullptr);
    CHECK(stats->get_name() == "::Stats");
}

TEST_CASE("validation fills what was left empty and changes nothing that was set") {
    SmallGraph small = small_graph(graph::SDPA_attributes().set_generate_stats(true));
    small.q->set_uid(1).set_data_type(DataType_t::FLOAT);
    auto const stride = small.k->get_stride();
    REQUIRE(small.graph.validate().is_good());
    CHECK(small.q->get_uid() == 1);
    CHECK(small.k->get_uid() == 2);
    CHECK(small.v->get_uid() == 3);
    CHECK(small.o->get_uid() == 4);
    CHECK(small.k->get_stride() == stride);
    CHECK(small.k->get_data_type() == DataType_t::FLOAT);
    CHECK(small.o->get_dim() == std::vector<std::int64_t>{2, 4, 6, 8});
    CHECK(small.o->get_stride() == std::vector<std::int64_t>{192, 48, 8, 1});
    CHECK(small.stats->get_dim() == std::vector<std::int64_t>{2, 4, 6, 1});
    CHECK(small.stats->get_data_type() == DataType_t::FLOAT);
}

TEST_CASE("validating again gives the same, also after a change to what was inferred from") {
    SmallGraph small = small_graph();
    REQUIRE(small.graph.validate().is_good());
    std::string const first = small.graph.print();
    REQUIRE(small.graph.validate().is_good());
    CHECK(small.graph.print() == first);
    small.o->set_uid(2);  // used as K's automatic uid until now
    small.graph.set_io_data_type(DataType_t::HALF);
    small.q->set_dim({2, 4, 7, 8}).set_stride({224, 56, 8, 1});
    REQUIRE(small.graph.validate().is_good());
    CHECK(small.o->get_uid() == 2);
    CHECK(small.k->get_uid() == 4);
    CHECK(small.v->get_uid() == 3);
    CHECK(small.o->get_dim() == std::vector<std::int64_t>{2, 4, 7, 8});
    CHECK(small.k->get_data_type() == DataType_t::HALF);
}

TEST_CASE("a failed validation can be repeated with the same text and fills nothing") {
    SmallGraph small = small_graph();
    small.q->set_stride({192, 48, 8, 2});
    auto const first = small.graph.validate();
    auto const second = small.graph.validate();
    CHECK(first.is_bad());
    CHECK(first.err_msg == second.err_msg);
    CHECK(small.o->get_dim().empty());
    CHECK(small.graph.check().to_error().err_msg == first.err_msg);
}

TEST_CASE("uid 0 is a uid like any other") {
    SmallGraph small = small_graph();
    small.q->set_uid(0);
    REQUIRE(small.graph.validate().is_good());
    CHECK(small.q->get_uid() == 0);
    CHECK(small.k->get_uid() == 1);
    graph::Tensor_attributes found;
    REQUIRE(small.graph.query_tensor_attributes_of_uid(0, found).is_good());
    CHECK(found.get_name() == "Q");
    auto const missing = small.graph.query_tensor_attributes_of_uid(99, found);
    CHECK(missing.code == error_code_t::INVALID_VALUE);
    CHECK(missing.err_msg.find("99") != std::string::npos);
}

TEST_CASE("a tensor that no node uses gets no uid") {
    SmallGraph small = small_graph();
    auto const unused = small.graph.tensor(test::packed_tensor("unused", 1, 1, 1));
    REQUIRE(small.graph.validate().is_good());
    CHECK(unused->has_uid() == 0);
}

TEST_CASE("a tensor made outside of the graph takes part like a registered one") {
    SmallGraph small = small_graph();
    auto const bias = std::make_shared<graph::Tensor_attributes>(test::packed_tensor("bias", 4, 6, 10));
    bias->set_uid(5);
    auto const [o, stats] = small.graph.sdpa(small.q, small.k, small.v, graph::SDPA_attributes().set_bias(bias));
    o->set_output(true);
    REQUIRE(small.graph.validate().is_good());
    CHECK(o->get_uid() != 5);
    CHECK(bias->get_data_type() == DataType_t::FLOAT);
}

TEST_CASE("tensor_like copies all but uid and name") {
    graph::Graph g;
    auto const tensor = g.tensor(test::packed_tensor("t", 2, 3, 4).set_uid(7).set_data_type(DataType_t::HALF));
    auto const copy = g.tensor_like(tensor, "copy");
    CHECK(copy->get_name() == "copy");
    CHECK(copy->has_uid() == 0);
    CHECK(copy->get_dim() == tensor->get_dim());
    CHECK(copy->get_data_type() == DataType_t::HALF);
    CHECK(g.tensor_like(nullptr)->get_dim().empty());
}

TEST_CASE("a copy of a validated tensor has all that is visible, and belongs to no graph") {
    SmallGraph small = small_graph(graph::SDPA_attributes().set_generate_stats(true));
    REQUIRE(small.graph.validate().is_good());
    graph::Graph second;
    second.set_io_data_type(DataType_t::HALF).set_compute_data_type(DataType_t::FLOAT);
    auto const like = second.tensor_like(small.o, "like O");
    auto const copy = second.tensor(*small.o);
    auto const loose = std::make_shared<graph::Tensor_attributes>(*small.o);
    graph::Tensor_attributes found;
    REQUIRE(small.graph.query_tensor_attributes_of_uid(small.o->get_uid(), found).is_good());
    auto const queried = second.tensor(found);
    for (auto const& tensor : {like, copy, loose, queried}) {
        auto const result = second.pointwise(tensor, graph::Pointwise_attributes().set_mode(PointwiseMode_t::EXP));
        result->set_output(true);
    }
    auto const status = second.validate();
    INFO(status.err_msg);
    REQUIRE(status.is_good());
    CHECK(like->get_dim() == small.o->get_dim());
    CHECK(copy->get_data_type() == DataType_t::FLOAT);
    CHECK(copy->get_uid() != like->get_uid());
    CHECK(small.o->get_uid() == found.get_uid());
}

TEST_CASE("an automatic uid stays when the graph grows") {
    SmallGraph small = small_graph();
    auto const spare = small.graph.tensor(test::packed_tensor("spare", 4, 6, 8));
    auto const late = small.graph.tensor(test::packed_tensor("late", 2, 10, 8));
    auto const [first, none] = small.graph.sdpa(small.q, late, small.v, graph::SDPA_attributes());
    first->set_output(true);
    REQUIRE(small.graph.validate().is_good());
    auto const uid = late->get_uid();
    auto const [second, nothing] = small.graph.sdpa(spare, late, small.v, graph::SDPA_attributes());
    second->set_output(true);
    REQUIRE(small.graph.validate().is_good());
    CHECK(late->get_uid() == uid);
    CHECK(spare->has_uid() == 1);
}

TEST_CASE("graphs move and copy; a moved-from graph is an empty one") {
    SmallGraph small = small_graph();
    graph::Graph copy = small.graph;
    graph::Graph moved = std::move(small.graph);
    CHECK(moved.print() == copy.print());
    CHECK(small.graph.validate().is_good());
    CHECK(small.graph.get_workspace_size() == 0);
    small.graph.set_name("again");
    CHECK(small.graph.print().find("again") != std::string::npos);
    CHECK(moved.validate().is_good());
}

TEST_CASE("the same tensor as Q, K and V is fine") {
    graph::Graph g;
    g.set_io_data_type(DataType_t::HALF).set_intermediate_data_type(DataType_t::FLOAT);
    g.set_compute_data_type(DataType_t::FLOAT);
    auto const x = g.tensor(test::packed_tensor("X", 4, 6, 8));
    auto const [o, stats] = g.sdpa(x, x, x, graph::SDPA_attributes());
    o->set_output(true);
    CHECK(g.validate().is_good());
    CHECK(x->get_dim() == std::vector<std::int64_t>{2, 4, 6, 8});
}

TEST_CASE("a graph prints its tensors and nodes with what is set") {
    SmallGraph const small =
        small_graph(graph::SDPA_attributes().set_name("a").set_causal_mask(true).set_attn_scale(0.1f));
    std::ostringstream stream;
    stream << small.graph;
    CHECK(stream.str() ==
          "graph io_data_type=FLOAT intermediate_data_type=FLOAT compute_data_type=FLOAT\n"
          "tensor %0 Q uid=1 data_type=FLOAT dim=[2, 4, 6, 8] stride=[192, 48, 8, 1]\n"
          "tensor %1 K uid=2 data_type=FLOAT dim=[2, 2, 10, 8] stride=[160, 80, 8, 1]\n"
          "tensor %2 V uid=3 data_type=FLOAT dim=[2, 2, 10, 8] stride=[160, 80, 8, 1]\n"
          "tensor %3 a::O uid=4 data_type=FLOAT dim=[2, 4, 6, 8] stride=[192, 48, 8, 1]\n"
          "node SDPA_FORWARD 'a' (Q: %0 Q, K: %1 K, V: %2 V) -> (O: %3 a::O) attn_scale=0.1 right_bound=0\n");
}
