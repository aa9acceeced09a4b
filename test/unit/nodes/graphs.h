// Small valid graphs for tests to break, and the expected findings.
#pragma once

#include "core/dims.h"
#include "nodes/schema/schema.h"
#include "nodes/validation/validate.h"
#include "support/catch.h"

#include <string>
#include <utility>

namespace test {

using namespace cudnn_frontend;
using namespace cudnn_frontend::nodes;
using core::Dims;

// A graph whose first node is the one that a test is about.
struct TestGraph : GraphSpec {
    TensorId add(std::string label, Dims dim, DataType_t type) {
        TensorSpec tensor;
        tensor.name = std::move(label);
        tensor.stride = core::packed_strides(dim);
        tensor.dim = std::move(dim);
        tensor.data_type = type;
        tensors.push_back(std::move(tensor));
        return static_cast<TensorId>(tensors.size()) - 1;
    }
    Node& add_node(NodeKind kind, std::string label) {
        nodes.push_back(make_node(kind));
        nodes.back().name = std::move(label);
        return nodes.back();
    }
    // Makes a tensor with the port's name and connects it to the first node.
    TensorSpec& connect(int port, Dims dim, DataType_t type) {
        slot(port) = add(port_name(nodes[0].kind(), port), std::move(dim), type);
        return at(port);
    }
    // An output without dims and type, which inference fills.
    TensorSpec& connect_output(int port) { return connect(port, {}, DataType_t::NOT_SET); }
    void disconnect(int port) { slot(port) = kNoTensor; }

    TensorId& slot(int port) { return nodes[0].ports[static_cast<std::size_t>(port)]; }
    TensorSpec& at(int port) { return tensors[static_cast<std::size_t>(slot(port))]; }
    void resize(int port, Dims dim) {
        at(port).stride = core::packed_strides(dim);
        at(port).dim = std::move(dim);
    }
    template <class F>
    F& fields() {
        return std::get<F>(nodes[0].fields);
    }
    AttentionFields& attention_options() {
        return nodes[0].kind() == NodeKind::SdpaForward ? static_cast<AttentionFields&>(fields<SdpaForwardFields>())
                                                        : fields<SdpaBackwardFields>();
    }
};

// B = 2, Hq = 4, Hk = 2, Hv = 4, Sq = 6, Skv = 8, Dqk = 16, Dv = 32, in HALF.
TestGraph attention_graph(NodeKind kind);
// The same in FP8_E4M3, with all factors in memory.
TestGraph fp8_graph(NodeKind kind);
// The same with block scales: results and the other dO in BFLOAT16.
TestGraph block_scaled_graph(NodeKind kind);
TestGraph pointwise_graph(PointwiseMode_t mode);  // {2, 3, 4} and {4}, FLOAT, a second operand where the mode has one
TestGraph matmul_graph();                         // {2, 4, 6, 16} * {2, 2, 16, 8}, FLOAT
TestGraph reduction_graph();                      // {2, 3, 4} to {2, 1, 4}, FLOAT
TestGraph slice_graph();                          // {4, 6, 8} from {1, 0, 2} to {3, 6, 8}, in steps of {1, 2, 3}
TestGraph reshape_graph();                        // {2, 3, 4} to {6, 4}
TestGraph transpose_graph();                      // {2, 3, 4} to {4, 2, 3}
// B = 2, H = 3, D = 8 over a space of {6, 9}, windows of {3, 5}, in HALF: any function of neighborhood attention, with
// its optional results.
TestGraph neighborhood_graph(NodeKind kind);
// out = neg(exp(in)), with a virtual tensor between.
TestGraph chain_graph();

struct Expected {
    error_code_t code;
    std::string node;
    std::string tensor;
    std::string found;
    std::string needed;
    std::string fix;
};

// The graph violates this rule once, and no other one.
void expect_finding(GraphSpec const& graph, std::string const& rule, Expected const& expected);
void expect_valid(GraphSpec const& graph);

// Breaks a forward and a backward graph in the same way, and expects the rule of that number from each.
template <class Break>
void expect_in_attention(std::string const& number, Break const& break_graph, Expected const& expected) {
    for (NodeKind const kind : {NodeKind::SdpaForward, NodeKind::SdpaBackward}) {
        TestGraph graph = attention_graph(kind);
        break_graph(graph);
        expect_finding(graph, (kind == NodeKind::SdpaForward ? "sdpa_fwd." : "sdpa_bwd.") + number, expected);
    }
}

}  // namespace test
