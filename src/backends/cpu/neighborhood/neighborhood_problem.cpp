#include "cpu/neighborhood/neighborhood_attention.h"

#include <algorithm>

namespace cudnn_frontend::cpu {
namespace {

using neighborhood::Function;
using neighborhood::Port;

bool is_bias(Port port) { return port == Port::RelPosBias || port == Port::DRelPosBias; }

// The places of batch, heads and the first axis of space among the tensor's dims.
struct Order {
    std::size_t batch, heads, space;
};

Order order_of(Function function, Port port, std::size_t axes) {
    if (is_bias(port)) return {0, 0, 1};
    if (neighborhood::has_heads_last(function)) return {0, axes + 1, 1};
    return {0, 1, 2};
}

TokenView view_of(Tensor const& tensor, Function function, Port port, std::size_t axes) {
    Order const order = order_of(function, port, axes);
    TokenView view{tensor.data, tensor.type};
    if (!is_bias(port)) view.batch = tensor.stride[order.batch];
    view.head = tensor.stride[order.heads];
    std::copy_n(tensor.stride.begin() + static_cast<std::ptrdiff_t>(order.space), axes, view.axes.end() - axes);
    bool const has_rows = !is_bias(port) && port != Port::Stats;
    view.last = has_rows ? tensor.stride[tensor.rank - 1] : 1;
    return view;
}

template <class TensorOf>
NeighborhoodProblem make_problem(ir::OpGraph const& graph, ir::NeighborhoodOp const& op, TensorOf const& tensor_of) {
    auto const sizes =
        neighborhood::sizes_of(op.function, graph.value(op.operands[neighborhood::leading_port(op.function)]).dim);
    NeighborhoodProblem problem;
    problem.function = op.function;
    std::ranges::copy(neighborhood::axes_of(op.options, sizes.space),
                      problem.axes.end() - static_cast<std::ptrdiff_t>(sizes.space.size()));
    problem.batches = sizes.batches;
    problem.heads = sizes.heads;
    problem.width = sizes.width;
    problem.scale = static_cast<float>(op.scale);
    for (neighborhood::OperandUses const& row : neighborhood::kOperands) {
        ir::ValueId const id = op.operands[row.port];
        if (id != ir::kNoValue) problem[row.port] = view_of(tensor_of(id), op.function, row.port, sizes.space.size());
    }
    return problem;
}

}  // namespace

NeighborhoodProblem problem_of(ir::OpGraph const& graph, ir::NeighborhoodOp const& op, Memory const& memory) {
    return make_problem(graph, op, [&](ir::ValueId id) { return memory.tensor(id); });
}

NeighborhoodProblem problem_of(ir::OpGraph const& graph, ir::NeighborhoodOp const& op) {
    return make_problem(graph, op, [&](ir::ValueId id) {
        static char present = 0;
        return make_tensor(graph.value(id), graph.value(id).type, &present);
    });
}

}  // namespace cudnn_frontend::cpu
