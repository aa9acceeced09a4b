// Plans as pictures.
#include "support/small_graph.h"

#include "support/catch.h"

using namespace cudnn_frontend;
using graph::PictureFormat;

namespace {

// A graph of one batch entry, 2 queries and 512 keys.
test::SmallGraph few_queries() {
    test::SmallGraph made;
    made.graph.set_io_data_type(DataType_t::FLOAT).set_rewrites({Rewrite_t::FEW_QUERIES});
    auto const tensor = [&](char const* name, std::int64_t heads, std::int64_t rows) {
        return made.graph.tensor(graph::Tensor_attributes()
                                     .set_name(name)
                                     .set_dim({1, heads, rows, 8})
                                     .set_stride({heads * rows * 8, rows * 8, 8, 1}));
    };
    made.q = tensor("Q", 4, 2);
    made.k = tensor("K", 2, 512);
    made.v = tensor("V", 2, 512);
    made.o = made.graph.sdpa(made.q, made.k, made.v, graph::SDPA_attributes().set_name("attention"))[0];
    made.o->set_output(true).set_name("O <of all heads>");
    return made;
}

std::string picture_of(graph::Graph graph, PictureFormat format) {
    REQUIRE(graph.build(Target::cpu(1)).get_message() == "");
    std::string text;
    REQUIRE(graph.draw_plan(text, format).get_message() == "");
    return text;
}

// A picture does not depend on the size of the workspace, which its title names.
std::string without_title(std::string const& dot) { return dot.substr(dot.find("  labelloc")); }

std::size_t count(std::string const& text, std::string const& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

}  // namespace

TEST_CASE("a plan of the graph as given is drawn as one box") {
    test::SmallGraph small = test::small_graph();
    std::string const dot = picture_of(small.graph, PictureFormat::DOT);
    CHECK(dot.starts_with("digraph plan {\n  label=\"cpu, workspace of "));
    CHECK(without_title(dot) == R"(  labelloc=t;
  node [fontname="Helvetica"];
  memory_0 [shape=ellipse, label="Q"];
  memory_1 [shape=ellipse, label="K"];
  memory_2 [shape=ellipse, label="V"];
  memory_3 [shape=ellipse, label="attention::O"];
  step_0 [shape=box, label="1. the graph as given"];
  memory_0 -> step_0 [label="Q: [2, 4, 6, 8] FLOAT"];
  memory_1 -> step_0 [label="K: [2, 2, 10, 8] FLOAT"];
  memory_2 -> step_0 [label="V: [2, 2, 10, 8] FLOAT"];
  step_0 -> memory_3 [label="O: [2, 4, 6, 8] FLOAT"];
}
)");
    CHECK(count(picture_of(small.graph, PictureFormat::SVG), "<rect") == 1);
}

TEST_CASE("a program is drawn as its steps, with the tensors and the scratch that they read and write") {
    std::string const dot = picture_of(few_queries().graph, PictureFormat::DOT);
    CHECK(dot.starts_with("digraph plan {\n  label=\"program few_queries(2): cpu, workspace of "));
    CHECK(without_title(dot) == R"(  labelloc=t;
  node [fontname="Helvetica"];
  memory_0 [shape=ellipse, label="Q"];
  memory_1 [shape=ellipse, label="K"];
  memory_2 [shape=ellipse, label="V"];
  memory_3 [shape=ellipse, label="O <of all heads>"];
  memory_4 [shape=ellipse, label="scratch 0, 512 bytes", style=dashed];
  memory_5 [shape=ellipse, label="scratch 1, 256 bytes", style=dashed];
  step_0 [shape=box, label="1. SDPA_FORWARD generate_stats=true"];
  memory_0 -> step_0 [label="Q: [2, 2, 4, 8] FLOAT strides [0, 32, 8, 1] at byte 0"];
  memory_1 -> step_0 [label="K: [2, 2, 256, 8] FLOAT strides [2048, 4096, 8, 1] at byte 0"];
  memory_2 -> step_0 [label="V: [2, 2, 256, 8] FLOAT strides [2048, 4096, 8, 1] at byte 0"];
  step_0 -> memory_4 [label="O: [2, 2, 4, 8] FLOAT at byte 0"];
  step_0 -> memory_5 [label="Stats: [2, 2, 4, 1] FLOAT at byte 0"];
  step_1 [shape=box, label="2. merge"];
  step_0 -> step_1 [style=dotted, label="then"];
  memory_4 -> step_1 [label="partial O: [2, 1, 2, 2, 2, 8] FLOAT at byte 0"];
  memory_5 -> step_1 [label="partial Stats: [2, 1, 2, 2, 2, 1] FLOAT at byte 0"];
  step_1 -> memory_3 [label="O: [1, 2, 2, 2, 8] FLOAT at byte 0"];
}
)");
}

TEST_CASE("SVG has a box for each step, and escapes names") {
    std::string const svg = picture_of(few_queries().graph, PictureFormat::SVG);
    CHECK(svg.starts_with("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 "));
    CHECK(count(svg, "<rect") == 2);
    CHECK(count(svg, "<path") == 1);
    CHECK(count(svg, "<text") == 11);
    CHECK(svg.find("writes O &lt;of all heads&gt;, O: [1, 2, 2, 2, 8] FLOAT at byte 0</text>") != std::string::npos);
}

TEST_CASE("steps that differ in their places alone are drawn once") {
    graph::Graph graph;
    graph.set_io_data_type(DataType_t::FLOAT).set_rewrites({Rewrite_t::SLICES});
    auto const tensor = [&](char const* name, std::int64_t columns) {
        return graph.tensor(graph::Tensor_attributes()
                                .set_name(name)
                                .set_dim({1, 2, 4, columns})
                                .set_stride({8 * columns, 4 * columns, columns, 1}));
    };
    auto const gradients = graph.sdpa_backward(tensor("Q", 8), tensor("K", 8), tensor("V", 8), tensor("O", 8),
                                               tensor("dO", 8), tensor("Stats", 1), graph::SDPA_backward_attributes());
    for (auto const& gradient : gradients) gradient->set_output(true);
    std::string const dot = picture_of(graph, PictureFormat::DOT);
    CHECK(count(dot, "shape=box") == 1);
    CHECK(dot.find("label=\"1. SDPA_BACKWARD (2 times, at other places)\"") != std::string::npos);
    CHECK(dot.find("label=\"program slices(2): ") != std::string::npos);
}

TEST_CASE("a graph without a plan has no picture") {
    test::SmallGraph small = test::small_graph();
    std::string text = "untouched";
    error_object const error = small.graph.draw_plan(text);
    CHECK(error.get_message().find("draw_plan") != std::string::npos);
    CHECK(error.get_message().find("build_plans") != std::string::npos);
    CHECK(text == "untouched");
}
