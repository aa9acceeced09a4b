#include "unit/rewrite/attention_graphs.h"

#include "group/threads.h"
#include "rewrite/program.h"

namespace test {

using namespace attention;
namespace group = cudnn_frontend::group;

static void connect_inputs(TestGraph& graph, Problem const& s) {
    graph.io_data_type = DataType_t::HALF;
    graph.connect(Q, {s.batches, s.heads, s.queries, s.columns}, DataType_t::HALF);
    graph.connect(K, {s.batches, s.key_heads, s.keys, s.columns}, DataType_t::HALF);
    graph.connect(V, {s.batches, s.key_heads, s.keys, s.columns}, DataType_t::HALF);
}

TestGraph forward_graph(Problem const& sizes) {
    TestGraph graph;
    graph.add_node(NodeKind::SdpaForward, "attention");
    connect_inputs(graph, sizes);
    graph.connect_output(O);
    return graph;
}

TestGraph backward_graph(Problem const& sizes) {
    TestGraph graph;
    graph.add_node(NodeKind::SdpaBackward, "attention");
    connect_inputs(graph, sizes);
    Dims const rows = {sizes.batches, sizes.heads, sizes.queries, 1};
    graph.connect(O, graph.at(Q).dim, DataType_t::HALF);
    graph.connect(DO, graph.at(Q).dim, DataType_t::HALF);
    graph.connect(Stats, rows, DataType_t::FLOAT);
    for (int const port : {DQ, DK, DV}) graph.connect_output(port);
    return graph;
}

group::Task task_of(int rank, group::Layout const& queries, group::Layout const& keys) {
    return {group::make_described(rank, queries.ranks()), queries, keys};
}

TestGraph part_of(Problem sizes, group::Task const& task, bool is_backward) {
    sizes.queries = task.queries.count_of(task.rank());
    sizes.keys = task.keys.count_of(task.rank());
    return is_backward ? backward_graph(sizes) : forward_graph(sizes);
}

TestGraph with_lengths(TestGraph graph) {
    graph.attention_options().padding_mask = true;
    Dims const dim = {graph.at(Q).dim.front(), 1, 1, 1};
    for (int const port : {SeqLenQ, SeqLenKv}) graph.connect(port, dim, DataType_t::INT32);
    return graph;
}

TestGraph line_graph(NodeKind kind, Line const& line) {
    TestGraph graph = neighborhood_graph(kind);
    Dims const tokens{line.batches, line.tokens, line.heads, line.columns};
    for (int const port : {neighborhood::Q, neighborhood::K, neighborhood::V}) graph.resize(port, tokens);
    if (kind == NodeKind::NeighborhoodBackward) {
        for (int const port : {neighborhood::O, neighborhood::DO}) graph.resize(port, tokens);
        graph.resize(neighborhood::Stats, {line.batches, line.tokens, line.heads});
    }
    auto& options = const_cast<NeighborhoodFields&>(*neighborhood_fields(graph.nodes[0]));
    options.kernel_size = {line.kernel};
    options.dilation = {line.dilation};
    options.is_causal = {line.is_causal};
    return graph;
}

std::string refusal(std::string const& rewrite, std::vector<std::string> const& conditions) {
    std::string text = "the rewrite " + rewrite + " does not apply:";
    for (std::string const& condition : conditions) {
        std::size_t const colon = condition.find(": ");
        text += "\n  [" + condition.substr(0, colon) + "]: expected " + condition.substr(colon + 2) + ".";
    }
    return text;
}

Rewritable::Rewritable(GraphSpec const& spec) {
    Validation validation = validate(spec);
    REQUIRE(validation.report.to_text() == "");
    graph_ = std::move(validation.graph);
    attention_ = rewrite::Attention::with_modifiers(*graph_);
    REQUIRE(attention_);
}

std::string Rewritable::text(Result<rewrite::Program> const& program) const {
    return program.is_good() ? rewrite::to_text(program.value(), graph_->spec()) : program.error().err_msg;
}

}  // namespace test
