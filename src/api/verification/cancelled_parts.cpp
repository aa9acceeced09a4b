#include "api/verification/comparison.h"

#include "api/verification/slices.h"
#include "core/data_type.h"
#include "nodes/attention/attention_node.h"
#include "nodes/neighborhood/neighborhood_schema.h"

#include <cmath>
#include <optional>

namespace cudnn_frontend::verification {
namespace {

TensorId tensor_of(nodes::Node const& node, int port) { return node.ports[static_cast<std::size_t>(port)]; }

// 0 where it is not in memory.
double rms_of(Problem const& problem, nodes::Node const& node, int port) {
    TensorId const id = tensor_of(node, port);
    bool const is_known = id != nodes::kNoTensor && problem.data(id) != nullptr;
    return is_known ? root_mean_square(elements_of(problem, id)) : 0.0;
}

// The factor of 8-bit numbers at a port: 1 where the node has none, 0 where it is not known, or not a single one.
double factor_of(Problem const& problem, nodes::Node const& node, int port) {
    TensorId const id = tensor_of(node, port);
    if (id == nodes::kNoTensor) return 1.0;
    nodes::TensorSpec const& tensor = problem.tensor(id);
    if (tensor.value) return core::to_double(*tensor.value);
    if (problem.data(id) == nullptr || core::volume(tensor.dim) != 1) return 0.0;
    return core::load(tensor.data_type, problem.data(id), 0);
}

// The root mean square of a tensor, of 8-bit ones after their factor.
double size_of(Problem const& problem, nodes::Node const& node, int port, int factor) {
    return rms_of(problem, node, port) * std::abs(factor_of(problem, node, factor));
}

}  // namespace

double score_scale(Problem const& problem, nodes::Node const& node) {
    if (auto const* const fields = nodes::attention_fields(node)) {
        if (tensor_of(node, attention::AttnScale) != nodes::kNoTensor)
            return factor_of(problem, node, attention::AttnScale);
        return fields->attn_scale ? double{*fields->attn_scale} : 1.0;
    }
    auto const sizes = nodes::neighborhood_sizes(problem.spec, node);
    double const usual = sizes ? 1.0 / std::sqrt(static_cast<double>(sizes->width)) : 1.0;
    return std::visit(
        [&](auto const& fields) {
            if constexpr (requires { fields.attn_scale; }) {
                if (fields.attn_scale) return double{*fields.attn_scale};
            }
            return usual;
        },
        node.fields);
}

double root_mean_square(Elements const& elements) {
    double sum = 0.0;
    std::int64_t count = 0;
    elements.for_each([&](Dims const& index) {
        double const number = elements.get(index);
        if (!std::isfinite(number)) return;
        sum += number * number;
        ++count;
    });
    return count == 0 ? 0.0 : std::sqrt(sum / static_cast<double>(count));
}

CancelledParts::CancelledParts(Problem const& problem, TensorId result) {
    AttentionUse const use = attention_use(problem.spec, result);
    if (use.is_result) add_attention(problem, use, problem.tensor(result).dim);
    for (nodes::Node const& node : problem.spec.nodes) {
        if (!std::holds_alternative<nodes::NeighborhoodBackwardFields>(node.fields)) continue;
        nodes::for_each_port(node, nodes::Direction::Output, [&](nodes::PortRow const& port, TensorId id) {
            if (id == result) add_neighborhood(problem, node, port.port);
        });
    }
}

void CancelledParts::add_attention(Problem const& problem, AttentionUse const& use, Dims const& result) {
    using namespace attention;
    nodes::Node const& node = *use.node;
    int const port = use.operand->port;
    if (port != DQ && port != DK && port != DBias) return;
    is_of_8_bits_ = nodes::is_fp8(node);
    Dims const scores = nodes::score_dims(problem.spec, node);
    double const depth = static_cast<double>(problem.spec.tensor(node, V)->dim[3]);
    size_ = size_of(problem, node, DO, DescaleDO) * size_of(problem, node, V, DescaleV) * std::sqrt(depth);
    if (port == DQ) size_ *= size_of(problem, node, K, DescaleK) * std::abs(factor_of(problem, node, ScaleDQ));
    if (port == DK) size_ *= size_of(problem, node, Q, DescaleQ) * std::abs(factor_of(problem, node, ScaleDK));
    if (port != DBias) size_ *= std::abs(score_scale(problem, node));
    // Rows of the scores whose parts are added in each row of the result.
    double rows = static_cast<double>(scores[0] * scores[1] * scores[2]);
    for (std::size_t axis = 0; axis < (port == DBias ? 4 : 3); ++axis) rows /= static_cast<double>(result[axis]);
    least_ = size_ * std::sqrt(std::max(rows, 1.0));
    added_ = static_cast<double>(scores[1]) / static_cast<double>(result[1]);
    squares_ = squares_of_weights(problem, node, port == DK);
    if (port != DBias) return;
    for (std::vector<double>& rows_of_entry : squares_) {
        for (double& square : rows_of_entry) square *= square;
    }
}

// Each query has the whole window. Away from the borders a key is visible to as many queries, and its bias is read by
// all of them.
void CancelledParts::add_neighborhood(Problem const& problem, nodes::Node const& node, int port) {
    using namespace neighborhood;
    std::optional<nodes::NeighborhoodSizes> const sizes = nodes::neighborhood_sizes(problem.spec, node);
    if (!sizes || (port != DQ && port != DK && port != DRelPosBias)) return;
    auto const& fields = std::get<nodes::NeighborhoodBackwardFields>(node.fields);
    double const width = static_cast<double>(sizes->width);
    auto const window = static_cast<double>(window_size(fields).value_or(1));
    double const tokens = static_cast<double>(sizes->batches * core::volume(sizes->space).value_or(1));
    size_ = rms_of(problem, node, DO) * rms_of(problem, node, V) * std::sqrt(width);
    if (port != DRelPosBias) size_ *= std::abs(score_scale(problem, node)) * rms_of(problem, node, port == DQ ? K : Q);
    least_ = size_ * (port == DRelPosBias ? std::sqrt(tokens) : 1.0);
    added_ = port == DRelPosBias ? tokens / (window * window) : 1.0 / window;
}

double CancelledParts::at(Dims const& index) const {
    if (size_ == 0.0 || squares_.empty()) return size_ * std::sqrt(added_);
    std::vector<double> const& squares = squares_[static_cast<std::size_t>(index[0])];
    auto const row = static_cast<std::size_t>(index[2]);
    return row < squares.size() ? size_ * std::sqrt(added_ * squares[row]) : 0.0;
}

}  // namespace cudnn_frontend::verification
