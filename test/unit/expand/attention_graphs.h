// Attention graphs for the tests of the expansion, and their op graphs in a form that is easy to compare.
#pragma once

#include "expand/expand.h"

#include <string>
#include <vector>

namespace test {

using namespace cudnn_frontend;
using nodes::attention::Port;

// One attention node whose ports carry tensors named after the port.
class AttentionGraph {
   public:
    static AttentionGraph forward();   // b=2, 4 heads, 6 queries, 5 keys, 8 and 16 elements, half precision
    static AttentionGraph backward();  // the same
    AttentionGraph& fp8();             // in FP8_E4M3, dO in FP8_E5M2, with all factors and amaxes
    AttentionGraph& block_scaled();    // in FP8_E4M3, results in half precision, with all scales and amaxes

    nodes::GraphSpec spec;
    nodes::Node& node() { return spec.nodes.back(); }
    nodes::AttentionFields& fields();
    nodes::TensorSpec& tensor(int port) { return *spec.tensor(node(), port); }

    nodes::TensorId add_tensor(std::string name, DataType_t type, core::Dims dim);
    AttentionGraph& connect(int port, DataType_t type, core::Dims dim);

    AttentionGraph& heads(std::int64_t of_keys, std::int64_t of_values);
    AttentionGraph& scale(float value);
    AttentionGraph& stats();  // forward's second output
    AttentionGraph& bias(core::Dims dim);
    AttentionGraph& bias_gradient();  // of the dims of the bias
    AttentionGraph& padding();
    AttentionGraph& pages(std::int64_t rows_of_k = 2, std::int64_t rows_of_v = 4);  // 7 of K, 4 of V
    AttentionGraph& band(DiagonalAlignment_t alignment, std::optional<std::int64_t> left,
                         std::optional<std::int64_t> right);
    AttentionGraph& dropout(float probability);
    AttentionGraph& dropout_mask();
    AttentionGraph& dump();
    AttentionGraph& deterministic();
    AttentionGraph& implementation(AttentionImplementation_t choice);
    AttentionGraph& unfuse_multiplication();

   private:
    explicit AttentionGraph(nodes::NodeKind kind);
    std::int64_t queries() { return tensor(Port::Q).dim[2]; }
    std::int64_t keys() { return tensor(Port::K).dim[2]; }
    bool is_backward() { return node().kind() == nodes::NodeKind::SdpaBackward; }
};

// Gives these tensors that size along the axis; they lie packed.
void resize(AttentionGraph& graph, std::initializer_list<int> ports, std::size_t axis, std::int64_t size);

// Gives these tensors rows that hold all heads, and an offset for each width of rows.
void pack_rows(AttentionGraph& graph, std::initializer_list<int> ports);

// Forward whose scores have a tensor of that operand's dims added.
AttentionGraph with_modifier(core::Dims const& operand);

// Backward whose scores have a tensor of that operand's dims added, and whose gradient goes through that operation with
// the scores.
AttentionGraph with_modifier(PointwiseMode_t gradient, core::Dims const& operand);

// Backward of packed sequences, at most 8 rows of 4 heads of queries and 7 of 2 heads of keys; heads of 16 elements.
AttentionGraph packed_backward();

nodes::ValidatedGraph validated(nodes::GraphSpec const& spec);  // fails the test where rules are violated
ir::OpGraph composite(AttentionGraph const& graph);
ir::OpGraph fused(AttentionGraph const& graph);

// "ADD REDUCE_MAX ...", in order.
std::string kinds(ir::OpGraph const& graph);

// Each operation as "result:TYPE = KIND(operands)", names without the node's. FLOAT results show no type.
std::vector<std::string> steps(ir::OpGraph const& graph);

ir::Value const& find_value(ir::OpGraph const& graph, std::string const& name);
template <class Body>
std::vector<Body> bodies(ir::OpGraph const& graph) {
    std::vector<Body> found;
    for (ir::Op const& op : graph.ops()) {
        if (auto const* const body = std::get_if<Body>(&op.body)) found.push_back(*body);
    }
    return found;
}

}  // namespace test
