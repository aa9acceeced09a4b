#include "ir/op_graph.h"

#include "core/heap_bytes.h"
#include "core/names.h"
#include "ir/ports.h"

#include <algorithm>
#include <span>

namespace cudnn_frontend::ir {
namespace {

template <class Body>
std::vector<NamedValue> connected(Body const& body, std::span<Port<Body> const> ports) {
    std::vector<NamedValue> operands;
    for (Port<Body> const& port : ports) {
        if (body.*port.value != kNoValue) operands.push_back({port.label, body.*port.value});
    }
    return operands;
}

// The connected operands of an operation that has a table of them.
template <class Op, class IsUsedSo>
std::vector<NamedValue> connected_in_table(Op const& op, IsUsedSo is_used_so) {
    std::vector<NamedValue> operands;
    for_each_operand(op, is_used_so, [&](auto const& row, ValueId id) {
        if (id != kNoValue) operands.push_back({row.label, id});
    });
    return operands;
}

struct InputNames {
    template <class Body>
    std::vector<NamedValue> operator()(Body const& body) const {
        return connected<Body>(body, Ports<Body>::inputs);
    }
    template <Attention Body>
    std::vector<NamedValue> operator()(Body const& body) const {
        std::vector<NamedValue> operands = connected_in_table(body, attention::reads);
        for (ValueId const id : values_of(body.region)) operands.push_back({"region", id});
        return operands;
    }
    std::vector<NamedValue> operator()(NeighborhoodOp const& body) const {
        return connected_in_table(body, neighborhood::is_read);
    }
    std::vector<NamedValue> operator()(PointwiseOp const& body) const {
        std::vector<NamedValue> operands;
        for (std::size_t i = 0; i < std::size(body.in); ++i) {
            if (body.in[i] != kNoValue) operands.push_back({kPointwiseLabels[i], body.in[i]});
        }
        return operands;
    }
};

struct Outputs {
    template <class Body>
    std::vector<NamedValue> operator()(Body const& body) const {
        return connected<Body>(body, Ports<Body>::outputs);
    }
    template <Attention Body>
    std::vector<NamedValue> operator()(Body const& body) const {
        return connected_in_table(body, attention::makes);
    }
    std::vector<NamedValue> operator()(NeighborhoodOp const& body) const {
        return connected_in_table(body, neighborhood::is_made);
    }
    std::vector<NamedValue> operator()(PointwiseOp const& body) const {
        if (body.out == kNoValue) return {};
        return {{"out", body.out}};
    }
};

constexpr char const* kReductionNames[] = {"REDUCE",       "REDUCE_ADD",         "REDUCE_MUL", "REDUCE_MIN",
                                           "REDUCE_MAX",   "REDUCE_AMAX",        "REDUCE_AVG", "REDUCE_NORM1",
                                           "REDUCE_NORM2", "REDUCE_MUL_NO_ZEROS"};

constexpr char const* kNeighborhoodNames[] = {"NEIGHBORHOOD_FORWARD", "NEIGHBORHOOD_BACKWARD",
                                              "NEIGHBORHOOD_QK",      "NEIGHBORHOOD_QK_BACKWARD",
                                              "NEIGHBORHOOD_AV",      "NEIGHBORHOOD_AV_BACKWARD"};
static_assert(std::size(kNeighborhoodNames) == neighborhood::kFunctions);

struct KindName {
    char const* operator()(MatmulOp const&) const { return "MATMUL"; }
    char const* operator()(PointwiseOp const& op) const {
        return op.mode == PointwiseMode_t::NOT_SET ? "POINTWISE" : core::name_of(op.mode);
    }
    char const* operator()(ReductionOp const& op) const {
        auto const mode = static_cast<std::size_t>(op.mode);
        return kReductionNames[mode < std::size(kReductionNames) ? mode : 0];
    }
    char const* operator()(RngOp const&) const { return "RNG"; }
    char const* operator()(ReshapeOp const&) const { return "RESHAPE"; }
    char const* operator()(SdpaForwardOp const&) const { return "SDPA_FORWARD"; }
    char const* operator()(SdpaBackwardOp const&) const { return "SDPA_BACKWARD"; }
    char const* operator()(PagedLoadOp const&) const { return "PAGED_LOAD"; }
    char const* operator()(BlockMaskOp const&) const { return "BLOCK_MASK"; }
    char const* operator()(BlockDequantizeOp const&) const { return "BLOCK_DEQUANTIZE"; }
    char const* operator()(BlockQuantizeOp const&) const { return "BLOCK_QUANTIZE"; }
    char const* operator()(SliceOp const&) const { return "SLICE"; }
    char const* operator()(TransposeOp const&) const { return "TRANSPOSE"; }
    char const* operator()(WindowProductOp const& op) const {
        switch (op.part) {
            case WindowPart::Slots: return "WINDOW_SLOTS";
            case WindowPart::Queries: return "WINDOW_QUERIES";
            case WindowPart::Keys: return "WINDOW_KEYS";
        }
        return "WINDOW_PRODUCT";
    }
    char const* operator()(WindowBiasOp const&) const { return "WINDOW_BIAS"; }
    char const* operator()(WindowBiasSumOp const&) const { return "WINDOW_BIAS_SUM"; }
    char const* operator()(NeighborhoodOp const& op) const {
        return kNeighborhoodNames[static_cast<std::size_t>(op.function)];
    }
};

}  // namespace

std::vector<NamedValue> inputs_of(Op const& op) { return std::visit(InputNames{}, op.body); }
std::vector<NamedValue> outputs_of(Op const& op) { return std::visit(Outputs{}, op.body); }
char const* kind_name(Op const& op) { return std::visit(KindName{}, op.body); }

std::vector<ValueId> values_of(ScoreRegion const& region) {
    std::vector<ValueId> values;
    auto const add = [&](RegionOperand const& operand) {
        bool const is_new = std::ranges::find(values, operand.index) == values.end();
        if (operand.from == RegionOperand::From::Value && is_new) values.push_back(operand.index);
    };
    for (RegionStep const& step : region.steps) std::ranges::for_each(step.in, add);
    add(region.score);
    add(region.gradient);
    return values;
}

std::int64_t key_count(OpGraph const& graph, SdpaForwardOp const& op) {
    return op.keys ? *op.keys : graph.value(op.operands[attention::K]).dim[2];
}
std::int64_t key_count(OpGraph const& graph, SdpaBackwardOp const& op) {
    return graph.value(op.operands[attention::K]).dim[2];
}
std::int64_t key_count(OpGraph const& graph, PagedLoadOp const& op) { return graph.value(op.y).dim[2]; }

ValueId OpGraph::storage_of(ValueId id) const {
    while (value(id).view_of != kNoValue) id = value(id).view_of;
    return id;
}

// Names each field, so that one that is added here or to the next cannot be forgotten.
bool same_work(Value const& a, Value const& b) {
    auto const& [name, type, dim, stride, role, uid, constant, table, ragged, steps, view, reordering, is_factor] = a;
    return type == b.type && dim == b.dim && stride == b.stride && role == b.role && uid == b.uid &&
           constant == b.constant && table == b.table && ragged == b.ragged && steps == b.steps_of &&
           view == b.view_of && reordering == b.reordering && is_factor == b.is_factor;
}

bool same_work(Op const& a, Op const& b) {
    auto const& [name, compute_type, body] = a;
    return compute_type == b.compute_type && body == b.body;
}

// Bindings follow from the values.
bool same_work(OpGraph const& a, OpGraph const& b) {
    auto const are_same = [](auto const& x, auto const& y) { return same_work(x, y); };
    return std::ranges::equal(a.ops(), b.ops(), are_same) && std::ranges::equal(a.values(), b.values(), are_same);
}

// Lists of the bodies, such as the steps of regions, are few and short.
std::size_t heap_bytes(OpGraph const& graph) {
    using core::heap_bytes;
    std::size_t bytes = heap_bytes(graph.values()) + heap_bytes(graph.ops()) + heap_bytes(graph.bindings());
    for (Value const& value : graph.values()) {
        bytes += heap_bytes(value.name) + heap_bytes(value.dim) + heap_bytes(value.stride) + heap_bytes(value.table);
    }
    for (Op const& op : graph.ops()) bytes += heap_bytes(op.name);
    return bytes;
}

}  // namespace cudnn_frontend::ir
