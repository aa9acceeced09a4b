#include "rewrite/group/score_nodes.h"

#include "attention/masks.h"
#include "core/dims.h"
#include "rewrite/view_moves.h"

#include <cudnn_frontend/scalar.h>

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;
using nodes::TensorId;
using enum PointwiseMode_t;

constexpr std::size_t kHeads = 1, kRows = 2, kColumns = 3;
constexpr std::array kReadPorts = {nodes::pointwise::In0, nodes::pointwise::In1, nodes::pointwise::In2};

class ScoreNodes {
   public:
    ScoreNodes(Attention const& attention, ScorePart const& part, AttentionDraft& draft)
        : a_(attention), part_(part), draft_(draft), copies_(attention.graph().tensors.size(), nodes::kNoTensor) {}

    void add_modifiers() {
        for (nodes::Node const& node : a_.node().modifier) add_copy(node);
        for (Port const port : {Port::Score, Port::ScoreMod, Port::DScore, Port::DScoreMod}) {
            TensorId const id = a_.node().ports.at(static_cast<std::size_t>(port));
            if (id == nodes::kNoTensor) continue;
            draft_.connect(port, copy_of(id));
            if (port == Port::Score) scores_ = copy_of(id);
            if (port == Port::ScoreMod) modified_ = copy_of(id);
        }
    }

    // s[h, i, j] += slope[h] (j - i)
    void add_alibi() {
        if (scores_ == nodes::kNoTensor) {
            scores_ = modified_ = virtual_tensor("score", DataType_t::FLOAT);
            draft_.connect(Port::Score, scores_);
        }
        TensorId const row = index(kRows, "alibi_row"), column = index(kColumns, "alibi_column");
        TensorId const here = make(SUB, {column, row}, DataType_t::INT32, "alibi_distance_here");
        TensorId distance = plus(here, first(kColumns) - first(kRows), DataType_t::INT32, "alibi_distance");
        distance = combined(ADD, distance, before(kColumns), DataType_t::INT32, "alibi_distance_from_keys");
        distance = combined(SUB, distance, before(kRows), DataType_t::INT32, "alibi_distance_to_queries");
        TensorId const bias = make(MUL, {distance, slope()}, DataType_t::FLOAT, "alibi_bias");
        draft_.connect(Port::ScoreMod, make(ADD, {modified_, bias}, DataType_t::FLOAT, "alibi_scores"));
    }

   private:
    // --- The user's nodes

    // A node with which indices are those of the whole attention.
    void add_copy(nodes::Node node) {
        std::vector<TensorId> const shifts = shifts_of(node);
        DataType_t const type = a_.graph().tensor(node, nodes::pointwise::Out0)->data_type;
        for (TensorId& id : node.ports) {
            if (id != nodes::kNoTensor) id = copy_of(id);
        }
        TensorId result = node.ports[nodes::pointwise::Out0];
        for (TensorId const shift : shifts) {
            TensorId const here = virtual_tensor(node.name + "_here", type);
            add({.mode = ADD}, {here, shift}, node.compute_data_type, node.name + "_in_whole", result);
            result = here;
        }
        node.ports[nodes::pointwise::Out0] = result;
        draft_.add_node(std::move(node));
    }

    // The terms by which an index is less than that in the whole attention. Nothing is counted along a dim of size 1
    // that is none of the scores.
    std::vector<TensorId> shifts_of(nodes::Node const& node) {
        auto const& fields = std::get<nodes::PointwiseFields>(node.fields);
        if (fields.mode != GEN_INDEX) return {};
        core::Dims const& dim = a_.graph().tensor(node, nodes::pointwise::In0)->dim;
        auto const axis = static_cast<std::size_t>(fields.axis.value_or(0));
        bool const is_of_scores = dim == core::Dims{a_.batches, a_.query_heads, a_.queries, a_.keys};
        if (!is_of_scores && dim[axis] == 1) return {};
        std::vector<TensorId> shifts;
        if (first(axis) != 0) shifts.push_back(integer(first(axis)));
        if (before(axis) != nodes::kNoTensor) shifts.push_back(before(axis));
        return shifts;
    }

    TensorId copy_of(TensorId id) {
        TensorId& copy = copies_[static_cast<std::size_t>(id)];
        if (copy == nodes::kNoTensor) copy = draft_.add_tensor(part_of_tensor(id), place_of(id));
        return copy;
    }

    bool has_memory(nodes::TensorSpec const& tensor) const { return !tensor.is_virtual && !tensor.value; }

    std::optional<Place> place_of(TensorId id) const {
        bool const is_in_memory = has_memory(a_.graph().tensors[static_cast<std::size_t>(id)]);
        return is_in_memory ? std::optional(part_of_view(a_.whole(id)).place) : std::nullopt;
    }

    // Validation gives virtual tensors the dims that are made of others'.
    nodes::TensorSpec part_of_tensor(TensorId id) const {
        nodes::TensorSpec tensor = a_.graph().tensors[static_cast<std::size_t>(id)];
        if (tensor.is_virtual) tensor.dim = tensor.stride = {};
        if (!has_memory(tensor)) return tensor;
        View const part = part_of_view(a_.whole(id));
        tensor.dim = part.dim;
        tensor.stride = part.stride;
        tensor.alignment = part.alignment;
        return tensor;
    }

    View part_of_view(View view) const {
        if (view.dim.size() <= kColumns) return view;
        std::int64_t const heads = view.dim[kHeads] / part_.heads.count;
        if (view.dim[kHeads] > 1) view = rewrite::part_of(view, kHeads, part_.heads.index * heads, heads);
        bool const has_rows = view.dim[kRows] > 1 && part_.rows > 0;
        return has_rows ? rewrite::part_of(view, kRows, part_.first_row, part_.rows) : view;
    }

    // --- Positions and slopes

    std::int64_t heads() const { return a_.query_heads / part_.heads.count; }
    std::int64_t first_head() const { return part_.heads.index * heads(); }
    // The index in the whole attention of the first one of the part.
    std::int64_t first(std::size_t axis) const {
        std::array<std::int64_t, 4> const firsts{0, first_head(), part_.first_query, part_.first_key};
        return firsts.at(axis);
    }

    // The tensor of how much each batch entry has before the part, which counts in addition to first().
    TensorId before(std::size_t axis) {
        std::optional<View> const none;
        std::optional<View> const& view = axis == kRows      ? part_.queries_before
                                          : axis == kColumns ? part_.keys_before
                                                             : none;
        if (!view) return nodes::kNoTensor;
        TensorId& tensor = axis == kRows ? queries_before_ : keys_before_;
        if (tensor == nodes::kNoTensor) {
            nodes::TensorSpec made;
            made.name = axis == kRows ? "queries_before" : "keys_before";
            made.data_type = view->type;
            made.dim = view->dim;
            made.stride = view->stride;
            tensor = draft_.add_tensor(std::move(made), view->place);
        }
        return tensor;
    }

    // exp(x) of a head, where x falls evenly over the heads up to a power of two, and from there on: see alibi_slope().
    // It is computed for each score, since a program has no memory with numbers of its own.
    TensorId slope() {
        std::int64_t const head = first_head(), all = a_.query_heads;
        if (heads() == 1) return number(static_cast<float>(attention::alibi_slope(head, all)));
        auto const base = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(all)));
        auto const step = -8.0f / static_cast<float>(base);
        auto const exponent = [&](float start, char const* name) {
            return make(ADD, {steps_of(step), number(start)}, DataType_t::FLOAT, name);
        };
        float const even = step * static_cast<float>(head + 1);
        float const odd = step * (static_cast<float>(head - base) + 0.5f);
        TensorId chosen = exponent(head < base ? even : odd, "alibi_exponent");
        if (head < base && head + heads() > base) {
            TensorId const is_even = make(CMP_LT, {index(kHeads, "alibi_head"), integer(base - head)},
                                          DataType_t::INT32, "alibi_is_even", DataType_t::BOOLEAN);
            chosen = make(BINARY_SELECT, {chosen, exponent(odd, "alibi_odd_exponent"), is_even}, DataType_t::FLOAT,
                          "alibi_chosen_exponent");
        }
        TensorId const natural =
            make(MUL, {chosen, number(std::numbers::ln2_v<float>)}, DataType_t::FLOAT, "alibi_power");
        return make(EXP, {natural}, DataType_t::FLOAT, "alibi_slope");
    }
    TensorId steps_of(float step) {
        return make(MUL, {index(kHeads, "alibi_head"), number(step)}, DataType_t::FLOAT, "alibi_steps");
    }

    // --- Tensors and nodes of our own

    TensorId virtual_tensor(std::string name, DataType_t type) {
        nodes::TensorSpec tensor;
        tensor.name = std::move(name);
        tensor.data_type = type;
        tensor.is_virtual = true;
        return draft_.add_tensor(std::move(tensor));
    }

    template <class T>
    TensorId constant(T value) {
        nodes::TensorSpec tensor;
        tensor.name = "number";
        tensor.value = detail::make_scalar(value);
        tensor.data_type = tensor.value->type;
        tensor.dim = tensor.stride = {1, 1, 1, 1};
        tensor.is_by_value = true;
        return draft_.add_tensor(std::move(tensor));
    }
    TensorId number(float value) { return constant(value); }
    TensorId integer(std::int64_t value) { return constant(static_cast<std::int32_t>(value)); }

    TensorId index(std::size_t axis, char const* name) {
        nodes::PointwiseFields fields{.mode = GEN_INDEX};
        fields.axis = static_cast<std::int64_t>(axis);
        TensorId const result = virtual_tensor(name, DataType_t::INT32);
        add(fields, {scores_}, DataType_t::INT32, name, result);
        return result;
    }

    TensorId plus(TensorId here, std::int64_t shift, DataType_t type, char const* name) {
        return shift == 0 ? here : make(ADD, {here, integer(shift)}, type, name);
    }
    // The first operand where there is no second one.
    TensorId combined(PointwiseMode_t mode, TensorId first, TensorId second, DataType_t type, char const* name) {
        return second == nodes::kNoTensor ? first : make(mode, {first, second}, type, name);
    }

    TensorId make(PointwiseMode_t mode, std::initializer_list<TensorId> operands, DataType_t compute, char const* name,
                  DataType_t type = DataType_t::NOT_SET) {
        TensorId const result = virtual_tensor(name, type == DataType_t::NOT_SET ? compute : type);
        add({.mode = mode}, operands, compute, name, result);
        return result;
    }

    void add(nodes::PointwiseFields const& fields, std::initializer_list<TensorId> operands, DataType_t compute,
             std::string const& name, TensorId result) {
        nodes::Node node = nodes::make_node(nodes::NodeKind::Pointwise);
        node.name = name;
        node.compute_data_type = compute;
        node.fields = fields;
        std::ranges::copy(operands, node.ports.begin());
        node.ports[nodes::pointwise::Out0] = result;
        draft_.add_node(std::move(node));
    }

    Attention const& a_;
    ScorePart const& part_;
    AttentionDraft& draft_;
    std::vector<TensorId> copies_;  // in the draft, by the tensor of the user's graph
    TensorId scores_ = nodes::kNoTensor, modified_ = nodes::kNoTensor;
    TensorId queries_before_ = nodes::kNoTensor, keys_before_ = nodes::kNoTensor;
};

}  // namespace

bool draws_dropout(Attention const& attention) { return attention.fields().dropout_probability.value_or(0.0f) > 0.0f; }

bool has_counting_modifier(Attention const& attention) {
    return std::ranges::any_of(attention.node().modifier, [](nodes::Node const& node) {
        return std::get<nodes::PointwiseFields>(node.fields).mode == GEN_INDEX;
    });
}

std::vector<nodes::TensorSpec const*> tensors_of_modifiers(Attention const& attention) {
    nodes::GraphSpec const& graph = attention.graph();
    std::vector<nodes::TensorSpec const*> tensors;
    for (nodes::Node const& node : attention.node().modifier) {
        for (int const port : kReadPorts) {
            nodes::TensorSpec const* const tensor = graph.tensor(node, port);
            if (tensor != nullptr && !tensor->is_virtual) tensors.push_back(tensor);
        }
    }
    return tensors;
}

std::vector<nodes::TensorSpec const*> tensors_of_rows(Attention const& attention) {
    std::vector<nodes::TensorSpec const*> tensors = tensors_of_modifiers(attention);
    if (attention.has(Port::Bias)) tensors.push_back(attention.tensor(Port::Bias));
    std::erase_if(tensors, [](nodes::TensorSpec const* tensor) {
        return tensor->dim.size() <= kRows || tensor->dim[kRows] == 1;
    });
    return tensors;
}

void add_score_nodes(Attention const& attention, ScorePart const& part, AttentionDraft& draft) {
    ScoreNodes nodes(attention, part, draft);
    nodes.add_modifiers();
    if (!attention.fields().alibi_mask) return;
    nodes.add_alibi();
    draft.fields().alibi_mask = false;
    if (attention.is_backward()) return;
    auto& implementation = draft.fields_of<nodes::SdpaForwardFields>().implementation;
    if (implementation == AttentionImplementation_t::UNIFIED) implementation = AttentionImplementation_t::AUTO;
}

}  // namespace cudnn_frontend::rewrite
