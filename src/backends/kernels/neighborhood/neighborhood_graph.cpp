#include "kernels/neighborhood/neighborhood_graph.h"

#include "core/data_type.h"
#include "kernels/neighborhood/neighborhood_forms.h"
#include "nodes/neighborhood/neighborhood_schema.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

namespace port = nodes::neighborhood;
using nodes::NodeKind;
using nodes::TensorSpec;

constexpr std::int64_t kPartAlignment = 256;  // of the workspace, in bytes

error_t not_supported(std::string const& what) { return {error_code_t::GRAPH_NOT_SUPPORTED, what}; }

// The node's tensor of each operand of a kernel; kWorkspace is none of the user's.
constexpr int kWorkspace = -1;
using Links = std::vector<std::pair<NeighborhoodTensor, int>>;

class StepBuilder {
   public:
    StepBuilder(nodes::ValidatedGraph const& graph, NeighborhoodForm form)
        : graph_(graph.spec()),
          node_(graph_.nodes.front()),
          has_heads_last_(nodes::has_heads_last(node_)),
          steps_{.form = form} {
        space_ = rows(*graph_.tensor(node_, nodes::leading_port(node_))).dims;
        space_.erase(space_.begin(), space_.begin() + 2);
        columns_ = space_.back();
        space_.pop_back();
    }

    error_t add(NeighborhoodWork work, Links links) {
        NeighborhoodStep step;
        step.problem.work = work;
        step.problem.axes = neighborhood::axes_of(*nodes::neighborhood_fields(node_), space_);
        step.problem.scale = has_heads_last_ ? scale() : 1.0f;
        if (node_.kind() == NodeKind::NeighborhoodQk)
            step.problem.without_key = -std::numeric_limits<float>::infinity();
        std::ranges::sort(links);
        for (auto const& [tensor, at] : links) SDPA_GRAPH_TRY(connect(step, tensor, at));
        SDPA_GRAPH_TRY(check(step.problem));
        steps_.steps.push_back(std::move(step));
        return {};
    }

    // Whether there is something to compute at the port: optional results may have no memory.
    bool wants(int at) const {
        TensorSpec const* const tensor = graph_.tensor(node_, at);
        return tensor != nullptr && !tensor->is_virtual;
    }
    bool has_bias() const { return graph_.tensor(node_, port::RelPosBias) != nullptr; }
    NodeKind kind() const { return node_.kind(); }
    NeighborhoodForm form() const { return steps_.form; }
    NeighborhoodSteps take() { return std::move(steps_); }

   private:
    float scale() const {
        auto const* const forward = std::get_if<nodes::NeighborhoodForwardFields>(&node_.fields);
        auto const set = forward != nullptr ? forward->attn_scale
                                            : std::get<nodes::NeighborhoodBackwardFields>(node_.fields).attn_scale;
        return set ? static_cast<float>(*set) : 1.0f / std::sqrt(static_cast<float>(columns_));
    }

    // Heads come behind the batch, whatever the node's order of dims is.
    Operand rows(TensorSpec const& tensor) const {
        Operand operand{tensor.data_type, tensor.dim, tensor.stride};
        if (!has_heads_last_) return operand;
        for (core::Dims* const list : {&operand.dims, &operand.strides}) {
            std::rotate(list->begin() + 1, list->end() - 2, list->end() - 1);
        }
        return operand;
    }
    // One column for each token.
    Operand statistics(TensorSpec const& tensor) const {
        Operand operand{tensor.data_type, tensor.dim, tensor.stride};
        operand.dims.push_back(1);
        operand.strides.push_back(1);
        for (core::Dims* const list : {&operand.dims, &operand.strides}) {
            std::rotate(list->begin() + 1, list->end() - 2, list->end() - 1);
        }
        return operand;
    }

    error_t connect(NeighborhoodStep& step, NeighborhoodTensor tensor, int at) {
        auto& operand = step.problem.operands[static_cast<std::size_t>(tensor)];
        if (at == kWorkspace) {
            operand = in_workspace(tensor);
            step.places.push_back(place_of(tensor, *operand));
            return {};
        }
        TensorSpec const* const spec = graph_.tensor(node_, at);
        if (spec == nullptr) return {};
        if (spec->is_virtual || spec->is_by_value || spec->ragged_offset != nodes::kNoTensor) {
            return not_supported(
                "neighborhood: tensor '" + spec->name +
                "' has no memory of its own, or packed sequences, which kernels of this library do not support");
        }
        bool const is_bias = tensor == Bias || tensor == BiasGradient;
        if (is_bias) operand = Operand{spec->data_type, spec->dim, spec->stride};
        else operand = tensor == Stats ? statistics(*spec) : rows(*spec);
        if (!is_bias && tensor != Stats && spec->alignment < kVectorBytes) steps_.has_unaligned_rows = true;
        step.places.push_back({.uid = spec->uid.value_or(0)});
        return {};
    }

    // An operand with the columns of the queries, except for Delta and the statistics.
    Operand in_workspace(NeighborhoodTensor tensor) const {
        core::Dims dims = rows(*graph_.tensor(node_, port::Q)).dims;
        if (tensor == Delta) dims.back() = 1;
        if (tensor == QueryStatistics) dims.back() = 2;
        core::Dims strides = core::packed_strides(dims);
        return {DataType_t::FLOAT, std::move(dims), std::move(strides)};
    }
    // One for all kernels that use the tensor.
    KernelPlace place_of(NeighborhoodTensor tensor, Operand const& operand) {
        std::int64_t const next = (steps_.workspace_bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
        auto const [known, is_new] = offsets_.try_emplace(tensor, next);
        if (is_new) steps_.workspace_bytes = next + *core::volume(operand.dims) * core::size_of(operand.type);
        return {.is_in_workspace = true, .offset = known->second};
    }

    nodes::GraphSpec const& graph_;
    nodes::Node const& node_;
    bool has_heads_last_;
    core::Dims space_;
    std::int64_t columns_ = 0;
    NeighborhoodSteps steps_;
    std::map<NeighborhoodTensor, std::int64_t> offsets_;  // in the workspace
};

error_t add_forward(StepBuilder& builder) {
    Links links{{Queries, port::Q}, {Keys, port::K}, {Values, port::V}, {Bias, port::RelPosBias}, {Output, port::O}};
    if (builder.wants(port::Stats)) links.push_back({Stats, port::Stats});
    return builder.add(NeighborhoodWork::Forward, links);
}

error_t add_backward_in_one_pass(StepBuilder& builder) {
    SDPA_GRAPH_TRY(builder.add(NeighborhoodWork::GradientStart, {{Output, port::O},
                                                                 {OutputGradient, port::DO},
                                                                 {Stats, port::Stats},
                                                                 {QueryStatistics, kWorkspace},
                                                                 {QuerySums, kWorkspace}}));
    SDPA_GRAPH_TRY(builder.add(NeighborhoodWork::Gradients, {{Queries, port::Q},
                                                             {Keys, port::K},
                                                             {Values, port::V},
                                                             {OutputGradient, port::DO},
                                                             {QueryStatistics, kWorkspace},
                                                             {QuerySums, kWorkspace},
                                                             {KeyGradient, port::DK},
                                                             {ValueGradient, port::DV}}));
    return builder.add(NeighborhoodWork::GradientEnd, {{QuerySums, kWorkspace}, {QueryGradient, port::DQ}});
}

error_t add_backward(StepBuilder& builder) {
    // The form with one pass has no bias: where there is one, reason_against() refuses the steps below to warpgroups.
    if (builder.form() == NeighborhoodForm::Warpgroups && !builder.has_bias()) return add_backward_in_one_pass(builder);
    Links const shared{{Queries, port::Q},         {Keys, port::K},      {Values, port::V},  {Bias, port::RelPosBias},
                       {OutputGradient, port::DO}, {Stats, port::Stats}, {Delta, kWorkspace}};
    Links of_queries = shared, of_keys = shared;
    of_queries.insert(of_queries.end(), {{Output, port::O}, {QueryGradient, port::DQ}});
    of_keys.insert(of_keys.end(), {{KeyGradient, port::DK}, {ValueGradient, port::DV}});
    SDPA_GRAPH_TRY(builder.add(NeighborhoodWork::QueryGradients, of_queries));
    SDPA_GRAPH_TRY(builder.add(NeighborhoodWork::KeyGradients, of_keys));
    if (!builder.wants(port::DRelPosBias)) return {};
    Links of_bias = shared;
    of_bias.push_back({BiasGradient, port::DRelPosBias});
    return builder.add(NeighborhoodWork::BiasGradient, of_bias);
}

error_t add_qk_backward(StepBuilder& builder) {
    SDPA_GRAPH_TRY(
        builder.add(NeighborhoodWork::WindowQueries, {{Slots, port::DAttn}, {Keys, port::K}, {Queries, port::DQ}}));
    SDPA_GRAPH_TRY(
        builder.add(NeighborhoodWork::WindowKeys, {{Slots, port::DAttn}, {Queries, port::Q}, {Keys, port::DK}}));
    if (!builder.wants(port::DRelPosBias)) return {};
    return builder.add(NeighborhoodWork::WindowBias, {{Slots, port::DAttn}, {BiasGradient, port::DRelPosBias}});
}

error_t add_av_backward(StepBuilder& builder) {
    SDPA_GRAPH_TRY(
        builder.add(NeighborhoodWork::WindowSlots, {{Queries, port::DO}, {Keys, port::V}, {Slots, port::DAttn}}));
    return builder.add(NeighborhoodWork::WindowKeys, {{Slots, port::Attn}, {Queries, port::DO}, {Keys, port::DV}});
}

error_t add_steps(StepBuilder& builder) {
    switch (builder.kind()) {
        case NodeKind::NeighborhoodForward: return add_forward(builder);
        case NodeKind::NeighborhoodBackward: return add_backward(builder);
        case NodeKind::NeighborhoodQk:
            return builder.add(NeighborhoodWork::WindowSlots,
                               {{Queries, port::Q}, {Keys, port::K}, {Bias, port::RelPosBias}, {Slots, port::Attn}});
        case NodeKind::NeighborhoodQkBackward: return add_qk_backward(builder);
        case NodeKind::NeighborhoodAv:
            return builder.add(NeighborhoodWork::WindowQueries,
                               {{Slots, port::Attn}, {Keys, port::V}, {Queries, port::O}});
        default: return add_av_backward(builder);
    }
}

}  // namespace

std::string NeighborhoodSteps::reason_against(DeviceFacts const& device) const {
    for (NeighborhoodStep const& step : steps) {
        std::string reason = kernels::reason_against(step.problem, form, device);
        if (!reason.empty()) return reason;
    }
    if (!has_unaligned_rows || form == NeighborhoodForm::Tokens) return "";
    return std::string(to_string(form)) + " need tensors at multiples of " + std::to_string(kVectorBytes) + " bytes";
}

bool NeighborhoodSteps::is_deterministic() const {
    return std::ranges::all_of(
        steps, [](NeighborhoodStep const& step) { return kernels::is_deterministic(step.problem.work); });
}

bool is_neighborhood(nodes::ValidatedGraph const& graph) {
    auto const& nodes = graph.spec().nodes;
    return nodes.size() == 1 && nodes::neighborhood_fields(nodes.front()) != nullptr;
}

Result<NeighborhoodSteps> neighborhood_steps(nodes::ValidatedGraph const& graph, NeighborhoodForm form) {
    StepBuilder builder(graph, form);
    SDPA_GRAPH_TRY(add_steps(builder));
    return builder.take();
}

}  // namespace cudnn_frontend::kernels
