#include "unit/plan/toy_backend.h"

#include "core/data_type.h"
#include "expand/expand.h"
#include "nodes/attention/attention_schema.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sdpa_test {
namespace {

using cudnn_frontend::error_code_t;
using cudnn_frontend::Result;
using Error = cudnn_frontend::error_t;
namespace core = cudnn_frontend::core;
namespace expand = cudnn_frontend::expand;
namespace nodes = cudnn_frontend::nodes;
namespace plan = cudnn_frontend::plan;
using Port = nodes::attention::Port;

// A tensor of the caller's: its place in the pack, and its layout.
struct Operand {
    std::size_t slot;
    nodes::TensorSpec spec;

    std::int64_t at(std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t column) const {
        return b * spec.stride[0] + h * spec.stride[1] + row * spec.stride[2] + column * spec.stride[3];
    }
};

class ToyExecutable final : public plan::Executable {
   public:
    ToyExecutable(Operand q, Operand k, Operand v, Operand o)
        : q_(std::move(q)), k_(std::move(k)), v_(std::move(v)), o_(std::move(o)) {}

    std::int64_t workspace_size() const override { return k_.spec.dim[2] * std::int64_t{sizeof(double)}; }

    Error launch(plan::Launch const& launch) const override {
        for (std::int64_t b = 0; b < q_.spec.dim[0]; ++b) {
            for (std::int64_t h = 0; h < q_.spec.dim[1]; ++h) {
                for (std::int64_t row = 0; row < q_.spec.dim[2]; ++row) attend(launch, b, h, row);
            }
        }
        return {};
    }

    Result<std::string> serialize() const override { return std::string(); }

   private:
    void attend(plan::Launch const& launch, std::int64_t b, std::int64_t h, std::int64_t row) const {
        std::span const weights(static_cast<double*>(launch.workspace), static_cast<std::size_t>(k_.spec.dim[2]));
        std::int64_t const kv_head = h * k_.spec.dim[1] / q_.spec.dim[1];
        double sum = 0.0, greatest = -std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < weights.size(); ++j) {
            double score = 0.0;
            for (std::int64_t d = 0; d < q_.spec.dim[3]; ++d) {
                score += read(launch, q_, q_.at(b, h, row, d)) *
                         read(launch, k_, k_.at(b, kv_head, static_cast<std::int64_t>(j), d));
            }
            greatest = std::max(greatest, weights[j] = score);
        }
        for (double& weight : weights) sum += weight = std::exp(weight - greatest);
        for (std::int64_t d = 0; d < v_.spec.dim[3]; ++d) {
            double result = 0.0;
            for (std::size_t j = 0; j < weights.size(); ++j) {
                result += weights[j] / sum * read(launch, v_, v_.at(b, kv_head, static_cast<std::int64_t>(j), d));
            }
            core::store(o_.spec.data_type, launch.pointers[o_.slot], o_.at(b, h, row, d), result);
        }
    }

    static double read(plan::Launch const& launch, Operand const& operand, std::int64_t element) {
        return core::load(operand.spec.data_type, launch.pointers[operand.slot], element);
    }

    Operand q_, k_, v_, o_;
};

class ToyEngine final : public plan::Engine {
   public:
    explicit ToyEngine(std::shared_ptr<plan::Executable const> executable)
        : info_{.name = "toy", .workspace_bytes = executable->workspace_size()}, executable_(std::move(executable)) {}

    plan::EngineInfo const& info() const override { return info_; }
    Result<std::shared_ptr<plan::Executable const>> build() override { return executable_; }

   private:
    plan::EngineInfo info_;
    std::shared_ptr<plan::Executable const> executable_;
};

bool is_plain_forward(nodes::GraphSpec const& graph) {
    if (graph.nodes.size() != 1 || graph.nodes[0].kind() != nodes::NodeKind::SdpaForward) return false;
    auto const& ports = graph.nodes[0].ports;
    auto const is_known = [](std::size_t port) {
        return port == Port::Q || port == Port::K || port == Port::V || port == Port::O;
    };
    for (std::size_t port = 0; port < ports.size(); ++port) {
        if (ports[port] != nodes::kNoTensor && !is_known(port)) return false;
    }
    // Options that come later are refused too. Which calls set them (`said`) does not matter here.
    auto fields = std::get<nodes::SdpaForwardFields>(graph.nodes[0].fields);
    fields.said = {};
    return fields == nodes::SdpaForwardFields();
}

}  // namespace

Result<std::shared_ptr<plan::Proposal const>> ToyBackend::propose(plan::PlanningInput const& input) const {
    nodes::GraphSpec const& graph = input.graph.spec();
    if (!is_plain_forward(graph)) {
        return Error(error_code_t::GRAPH_NOT_SUPPORTED, "the toy runs forward attention without options alone");
    }
    auto const op_graph = expand::expand(input.graph, {});
    if (op_graph.is_bad()) return op_graph.error();
    auto const layout = std::make_shared<plan::PackLayout const>(plan::make_pack_layout(graph, op_graph.value()));
    auto const operand = [&](int port) {
        nodes::TensorSpec const& tensor = *graph.tensor(graph.nodes[0], port);
        auto const slot = std::ranges::find(layout->slots, *tensor.uid, &plan::Slot::uid);
        return Operand{static_cast<std::size_t>(slot - layout->slots.begin()), tensor};
    };
    auto const executable =
        std::make_shared<ToyExecutable>(operand(Port::Q), operand(Port::K), operand(Port::V), operand(Port::O));
    return std::make_shared<plan::Proposal const>(layout, plan::Engines{std::make_shared<ToyEngine>(executable)});
}

}  // namespace sdpa_test
