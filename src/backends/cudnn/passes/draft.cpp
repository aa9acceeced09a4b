#include "cudnn/passes/draft.h"

#include "ir/builder.h"
#include "ir/ports.h"

#include <algorithm>
#include <utility>

namespace cudnn_frontend::cudnn::passes {

using ir::kNoValue;
using ir::ValueId;

ValueId GraphDraft::storage_of(ValueId id) const {
    while (value(id).view_of != kNoValue) id = value(id).view_of;
    return id;
}

ValueId GraphDraft::add(ir::Value value) {
    if (value.stride.empty()) value.stride = core::packed_strides(value.dim);
    values_.push_back(std::move(value));
    return value_count() - 1;
}

ValueId GraphDraft::add_number(std::string name, float number) {
    return add({.name = std::move(name),
                .type = DataType_t::FLOAT,
                .dim = {1, 1, 1, 1},
                .role = ir::Role::Constant,
                .constant = detail::make_scalar(number)});
}

ValueId GraphDraft::add_table(std::string name, core::Dims dim, std::vector<double> numbers, DataType_t type) {
    return add({.name = std::move(name),
                .type = type,
                .dim = std::move(dim),
                .role = ir::Role::Constant,
                .table = std::move(numbers)});
}

static bool writes(ir::Op const& op, ValueId id) {
    if (auto const* const step = std::get_if<ir::PointwiseOp>(&op.body)) return step->out == id;
    return std::ranges::any_of(outputs_of(op), [&](ir::NamedValue const& out) { return out.value == id; });
}

std::size_t GraphDraft::writer_of(ValueId id) const {
    auto const writer = std::ranges::find_if(ops, [&](ir::Op const& op) { return writes(op, id); });
    return id == kNoValue || writer == ops.end() ? kNowhere : static_cast<std::size_t>(writer - ops.begin());
}

ir::PointwiseOp const* GraphDraft::step(ValueId id, PointwiseMode_t mode) const {
    auto const* const op = written_by<ir::PointwiseOp>(id);
    return op != nullptr && op->mode == mode ? op : nullptr;
}

void GraphDraft::insert(std::size_t at, ir::Op op) {
    ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(at), std::move(op));
}

void GraphDraft::erase(std::size_t at) { ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(at)); }

namespace {

// Calls visit with each id by which the value refers to another.
template <class Value, class Visit>
void for_each_reference(Value& value, Visit const& visit) {
    for (auto* const id : {&value.view_of, &value.steps_of, &value.ragged.offset, &value.ragged.length}) visit(*id);
}

struct VisitInputs {
    std::function<void(ValueId&)> const& visit;

    void operator()(ir::PointwiseOp& body) const {
        for (ValueId& id : body.in) visit(id);
    }
    template <class Body>
    void operator()(Body& body) const {
        for (auto const& port : ir::Ports<Body>::inputs) visit(body.*port.value);
    }
    template <ir::Attention Body>
    void operator()(Body& body) const {
        ir::for_each_operand(body, ir::attention::reads, [&](auto const&, ValueId& id) { visit(id); });
    }
    void operator()(ir::NeighborhoodOp& body) const {
        ir::for_each_operand(body, neighborhood::is_read, [&](auto const&, ValueId& id) { visit(id); });
    }
};

struct VisitOutputs {
    std::function<void(ValueId&)> const& visit;

    void operator()(ir::PointwiseOp& body) const { visit(body.out); }
    template <class Body>
    void operator()(Body& body) const {
        for (auto const& port : ir::Ports<Body>::outputs) visit(body.*port.value);
    }
    template <ir::Attention Body>
    void operator()(Body& body) const {
        ir::for_each_operand(body, ir::attention::makes, [&](auto const&, ValueId& id) { visit(id); });
    }
    void operator()(ir::NeighborhoodOp& body) const {
        ir::for_each_operand(body, neighborhood::is_made, [&](auto const&, ValueId& id) { visit(id); });
    }
};

}  // namespace

void for_each_input(ir::Op& op, std::function<void(ValueId&)> const& visit) { std::visit(VisitInputs{visit}, op.body); }

void replace_input(ir::Op& op, ValueId from, ValueId to) {
    for_each_input(op, [&](ValueId& id) {
        if (id == from) id = to;
    });
}

static void for_each_value(SinkGradient& gradient, std::function<void(ValueId&)> const& visit) {
    for (ValueId* const id :
         {&gradient.o, &gradient.d_o, &gradient.stats, &gradient.sink, &gradient.gradient, &gradient.lengths}) {
        visit(*id);
    }
    for (ValueId& id : gradient.steps) visit(id);
}

// The caller's memory stays bound, whether or not operations read it. Later values may refer to earlier ones alone.
std::vector<bool> GraphDraft::used_values() const {
    std::vector<bool> used(values_.size(), false);
    auto const use = [&](ValueId id) {
        if (id != kNoValue) used[static_cast<std::size_t>(id)] = true;
    };
    for (ir::Op const& op : ops) {
        for (ir::NamedValue const& in : inputs_of(op)) use(in.value);
        for (ir::NamedValue const& out : outputs_of(op)) use(out.value);
    }
    for (auto const& [id, place] : scratch) use(place.packed_like);
    for (auto const& [id, table] : offsets) use(table);
    for (std::size_t i = values_.size(); i-- > 0;) {
        ir::Role const role = values_[i].role;
        bool const is_caller = role != ir::Role::Virtual && role != ir::Role::Constant;
        if (is_caller && values_[i].view_of == kNoValue) used[i] = true;
        if (used[i]) for_each_reference(values_[i], use);
    }
    return used;
}

Result<LegalGraph> GraphDraft::finish() && {
    std::vector<bool> const used = used_values();
    std::vector<ValueId> ids(values_.size(), kNoValue);
    std::function<void(ValueId&)> const renumber = [&](ValueId& id) {
        if (id != kNoValue) id = ids[static_cast<std::size_t>(id)];
    };
    ir::Builder builder;
    for (std::size_t i = 0; i < values_.size(); ++i) {
        if (!used[i]) continue;
        for_each_reference(values_[i], renumber);
        ids[i] = builder.add(std::move(values_[i]));
    }
    for (ir::Op& op : ops) {
        std::visit(VisitInputs{renumber}, op.body);
        std::visit(VisitOutputs{renumber}, op.body);
        builder.add(std::move(op));
    }
    LegalGraph legal;
    for (auto const& [id, bytes] : alignments) {
        if (used[static_cast<std::size_t>(id)]) legal.alignments.emplace(ids[static_cast<std::size_t>(id)], bytes);
    }
    for (auto [id, place] : scratch) {
        renumber(place.packed_like);
        legal.scratch.emplace(ids[static_cast<std::size_t>(id)], place);
    }
    for (auto const& [read, written] : implied) {
        legal.implied.emplace(ids[static_cast<std::size_t>(read)], ids[static_cast<std::size_t>(written)]);
    }
    for (auto const& [id, table] : offsets) {
        legal.offsets.emplace(ids[static_cast<std::size_t>(id)], ids[static_cast<std::size_t>(table)]);
    }
    legal.sink_gradient = std::move(sink_gradient);
    if (legal.sink_gradient) for_each_value(*legal.sink_gradient, renumber);
    SDPA_GRAPH_TRY(std::move(builder).finish().move_to(legal.graph));
    return legal;
}

std::string name_beside(std::string const& name, std::string const& step) {
    std::size_t const end = name.rfind("::");
    return end == std::string::npos ? step : name.substr(0, end + 2) + step;
}

ir::Op pointwise(GraphDraft const& draft, PointwiseMode_t mode, std::initializer_list<ValueId> in, ValueId out,
                 DataType_t compute_type) {
    ir::PointwiseOp op;
    op.mode = mode;
    std::ranges::copy(in, op.in);
    op.out = out;
    return {draft.value(out).name, compute_type, op};
}

}  // namespace cudnn_frontend::cudnn::passes
