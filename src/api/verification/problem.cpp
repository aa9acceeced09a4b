#include "api/verification/problem.h"

#include "api/backends.h"
#include "api/graph/pack_source.h"
#include "core/data_type.h"
#include "nodes/attention/attention_node.h"
#include "nodes/validation/validate.h"
#include "plan/planner.h"

namespace cudnn_frontend::verification {
namespace {

using nodes::Node;

std::int64_t span_of_rows(Elements const& tensor, std::int64_t rows) {
    if (rows == 0) return 0;
    std::int64_t last = 0;
    for (std::size_t axis = 1; axis < tensor.dim.size(); ++axis)
        last += ((axis == 2 ? rows : tensor.dim[axis]) - 1) * tensor.stride[axis];
    return last + 1;
}

// Rows that a run has to write or read; of page tables, as many as hold the keys.
Dims rows_of(Problem const& problem, AttentionUse const& use) {
    attention::Operand const& row = *use.operand;
    bool const is_table = attention::is_page_table(row);
    bool const has_queries = row.shape.sizes[2] == attention::Size::Sq;
    if (!is_table && !has_queries && !attention::has_key_rows(row)) return {};
    Dims const queries = lengths_of(problem, *use.node, attention::kQueryLengths);
    Dims const keys = lengths_of(problem, *use.node, attention::kKeyLengths);
    if (queries.empty() || keys.empty()) return {};
    Dims rows = has_queries ? queries : keys;
    int const container = row.port == attention::PageTableK ? attention::K : attention::V;
    for (std::size_t b = 0; b < rows.size(); ++b) {
        if (queries[b] == 0 || keys[b] == 0) rows[b] = 0;
        if (is_table) {
            std::int64_t const page = nodes::page_size(problem.spec, *use.node, container);
            rows[b] = (rows[b] + page - 1) / page;
        }
    }
    return rows;
}

std::size_t at(std::int64_t number) { return static_cast<std::size_t>(number); }

}  // namespace

Memory Memory::of(std::int64_t bytes) {
    Memory memory;
    memory.own = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)));
    memory.data = memory.own->data();
    return memory;
}

std::byte* Problem::data(TensorId id) const {
    nodes::TensorSpec const& described = tensor(id);
    if (described.is_virtual || described.value || !described.uid) return nullptr;
    auto const found = memory.find(*described.uid);
    return found == memory.end() ? nullptr : found->second.data;
}

std::int64_t Elements::place(Dims const& index) const {
    std::int64_t element = starts.empty() ? 0 : starts[at(index[0])];
    for (std::size_t axis = starts.empty() ? 0 : 1; axis < index.size(); ++axis) element += index[axis] * stride[axis];
    return element;
}

double Elements::get(Dims const& index) const { return core::load(type, data, place(index)); }
void Elements::set(Dims const& index, double value) const { core::store(type, data, place(index), value); }

std::int64_t Elements::extent() const {
    if (starts.empty()) return core::span_of(dim, stride).value_or(0);
    std::int64_t end = 0;
    for (std::size_t b = 0; b < rows.size(); ++b) end = std::max(end, starts[b] + span_of_rows(*this, rows[b]));
    return end;
}

AttentionUse attention_use(nodes::GraphSpec const& spec, TensorId id) {
    AttentionUse use;
    for (Node const& node : spec.nodes) {
        if (nodes::attention_fields(node) == nullptr || use.node != nullptr) continue;
        for (auto const direction : {nodes::Direction::Input, nodes::Direction::Output}) {
            nodes::for_each_port(node, direction, [&](nodes::PortRow const& port, TensorId connected) {
                if (connected != id || use.node != nullptr) return;
                use = {&node, &attention::operand(port.port), direction == nodes::Direction::Output};
            });
        }
    }
    return use;
}

Elements elements_of(Problem const& problem, TensorId id) {
    nodes::TensorSpec const& tensor = problem.tensor(id);
    Elements elements{tensor.data_type, tensor.dim, tensor.stride, {}, {}, problem.data(id)};
    AttentionUse const use = attention_use(problem.spec, id);
    if (use.node != nullptr && tensor.dim.size() == 4) elements.rows = rows_of(problem, use);
    bool const fits = elements.rows.size() == at(tensor.dim.empty() ? 0 : tensor.dim[0]);
    if (!fits) elements.rows.clear();
    for (std::int64_t& rows : elements.rows) rows = std::min(rows, tensor.dim[2]);
    if (tensor.ragged_offset == nodes::kNoTensor) return elements;
    Elements const offsets = elements_of(problem, tensor.ragged_offset);
    for (std::int64_t b = 0; b < tensor.dim[0]; ++b) {
        std::int64_t const place = b * offsets.stride[0];
        elements.starts.push_back(core::load_integer(offsets.type, offsets.data, place) *
                                  tensor.ragged_offset_multiplier);
    }
    return elements;
}

Dims lengths_of(Problem const& problem, Node const& node, attention::LengthPorts const& ports) {
    if (!nodes::attention_fields(node)->padding_mask) return {};
    TensorId const single = node.ports[at(ports.lengths)], sums = node.ports[at(ports.sums)];
    TensorId const id = single != nodes::kNoTensor ? single : sums;
    if (id == nodes::kNoTensor || problem.data(id) == nullptr) return {};
    nodes::TensorSpec const& tensor = problem.tensor(id);
    auto const number = [&](std::int64_t b) {
        return core::load_integer(tensor.data_type, problem.data(id), b * tensor.stride[0]);
    };
    Dims lengths;
    std::int64_t const entries = id == single ? tensor.dim[0] : tensor.dim[0] - 1;
    for (std::int64_t b = 0; b < entries; ++b) lengths.push_back(id == single ? number(b) : number(b + 1) - number(b));
    return lengths;
}

std::vector<TensorId> results_of(Problem const& problem) {
    std::vector<TensorId> results = all_results_of(problem);
    std::erase_if(results, [&](TensorId id) {
        return std::ranges::find(problem.left_out, *problem.tensor(id).uid) != problem.left_out.end();
    });
    return results;
}

std::vector<TensorId> all_results_of(Problem const& problem) {
    std::vector<TensorId> results;
    for (Node const& node : every_node(problem.spec)) {
        nodes::for_each_port(node, nodes::Direction::Output, [&](nodes::PortRow const&, TensorId id) {
            if (problem.data(id) != nullptr && std::ranges::find(results, id) == results.end()) results.push_back(id);
        });
    }
    return results;
}

std::int64_t scores_of(nodes::GraphSpec const& spec) {
    std::int64_t all = 0;
    auto const volume = [](Dims const& dim) {
        std::int64_t product = 1;
        for (std::int64_t const size : dim) product = core::saturating_multiply(product, size);
        return dim.empty() ? 0 : product;
    };
    for (Node const& node : spec.nodes) {
        std::int64_t scores = 0;
        if (nodes::attention_fields(node) != nullptr) scores = volume(nodes::score_dims(spec, node));
        if (auto const* fields = nodes::neighborhood_fields(node)) {
            TensorId const tokens = std::max(node.ports[nodes::neighborhood::Q], node.ports[nodes::neighborhood::V]);
            if (tokens == nodes::kNoTensor) continue;
            Dims dim = spec.tensors[at(tokens)].dim;
            dim.back() = volume(fields->kernel_size);
            scores = volume(dim);
        }
        all = core::saturating_add(all, scores);
    }
    return all;
}

Result<std::map<std::int64_t, Memory>> run_reference(Problem const& problem) {
    nodes::Validation const validation = nodes::validate(problem.spec);
    if (!validation.graph) return validation.report.to_error();
    plan::Settings const settings;
    Target const target = Target::reference();
    std::shared_ptr<plan::Planner> planner;
    SDPA_GRAPH_TRY(plan::Planner::propose({*validation.graph, target, settings}, api::backends()).move_to(planner));
    SDPA_GRAPH_TRY(planner->with_candidates({HeurMode_t::A}).move_to(planner));
    SDPA_GRAPH_TRY(planner->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, {}));

    std::map<std::int64_t, Memory> results;
    std::map<std::int64_t, void*> pack;
    for (auto const& [uid, memory] : problem.memory) pack[uid] = memory.data;
    for (TensorId const id : all_results_of(problem)) {
        Elements const elements = elements_of(problem, id);
        std::int64_t const uid = *problem.tensor(id).uid;
        results[uid] = Memory::of(elements.extent() * core::size_of(elements.type));
        pack[uid] = results[uid].data;
    }
    plan::Plan const& plan = *planner->plan();
    std::vector<std::byte> workspace(at(plan.workspace_size() + 64));
    void* start = workspace.data();
    std::size_t room = workspace.size();
    std::align(64, at(plan.workspace_size()), start, room);
    SDPA_GRAPH_TRY(plan.execute({nullptr, api::UserPack(Variant_pack::of(pack), 0), start}));
    return results;
}

}  // namespace cudnn_frontend::verification
