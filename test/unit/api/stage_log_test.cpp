// The log of the stages.
#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/runtime.h>

#include "support/catch.h"
#include "support/listener.h"
#include "support/small_graph.h"

#include <sstream>
#include <string>

using namespace cudnn_frontend;
using sdpa_test::Listener;

namespace {

bool has_line(std::string const& text, std::string const& begin, std::string const& end) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        bool const begins = line.rfind("[cudnn_frontend] " + begin, 0) == 0;
        if (begins && line.size() >= end.size() && line.substr(line.size() - end.size()) == end) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("each stage of a build is a line of the log, while it is on") {
    runtime::forget_graphs();
    auto small = test::small_graph();
    small.graph.set_name("small");
    std::string text;
    {
        Listener const listener;
        REQUIRE(small.graph.build(Target::cpu()).is_good());
        text = listener.text();
    }
    CHECK(has_line(text, "build_operation_graph of graph 'small', ", " us: OK"));
    CHECK(has_line(text, "create_execution_plans of graph 'small', ", " us: OK, candidates: 1"));
    CHECK(has_line(text, "check_support of graph 'small', ", " us: OK"));
    CHECK(has_line(text, "build_plans of graph 'small', ", " bytes"));
    REQUIRE(small.graph.validate().is_good());
    CHECK(text.find("validate of") == text.npos);
}

TEST_CASE("the log says of a graph that was built before that it is known") {
    runtime::forget_graphs();
    Listener const listener;
    for (char const* const end : {" us: OK", " us: OK, known"}) {
        auto small = test::small_graph();
        small.graph.set_name("again");
        std::size_t const begin = listener.text().size();
        REQUIRE(small.graph.validate().is_good());
        REQUIRE(small.graph.build_operation_graph(Target::cpu()).is_good());
        std::string const text = listener.text().substr(begin);
        CHECK(has_line(text, "validate of graph 'again', ", end));
        CHECK(has_line(text, "build_operation_graph of graph 'again', ", end));
        CHECK(text.find("advice for graph 'again': [advice.a01]") != text.npos);
    }
}

TEST_CASE("the log has the error of a stage") {
    graph::Graph graph;
    Listener const listener;
    CHECK(graph.build_operation_graph(Target::cpu()).is_bad());
    CHECK(listener.text().find("us: ATTRIBUTE_NOT_SET: the graph has no node") != std::string::npos);
}

TEST_CASE("the log says once of a build that dropout's mask and scale were exchanged") {
    runtime::forget_graphs();
    auto small = test::small_graph();
    auto const mask = small.graph.tensor(test::packed_tensor("mask", 4, 6, 10).set_data_type(DataType_t::HALF));
    auto const scale = small.graph.tensor(
        graph::Tensor_attributes().set_dim({1, 1, 1, 1}).set_stride({1, 1, 1, 1}).set_data_type(DataType_t::FLOAT));
    auto const options = test::SDPA_attributes().set_name("dropped").set_dropout(scale, mask);
    small.graph.sdpa(small.q, small.k, small.v, options)[0]->set_output(true);
    Listener const listener;
    REQUIRE(small.graph.validate().get_message() == "");
    REQUIRE(small.graph.build(Target::cpu()).get_message() == "");
    std::string const text = listener.text();
    std::string const remark = ", node 'dropped' has dropout's mask and scale swapped, which is accepted";
    CHECK(has_line(text, "build_operation_graph of graph '', ", " us: OK" + remark));
    CHECK(text.find(remark) == text.rfind(remark));
}
