#include "api/verification/comparison.h"

#include "api/verification/hypotheses.h"
#include "api/verification/slices.h"
#include "nodes/attention/attention_node.h"
#include "nodes/schema/uses.h"

#include <cmath>
#include <limits>

namespace cudnn_frontend::verification {
namespace {

// How many roundoffs an error may have.
constexpr double kRoundoffs = 16.0;
// The error of a NaN or an infinity where a number is expected, compared with the allowed one.
constexpr double kBeyondAll = 1e300;

double roundoff_of(DataType_t type) {
    switch (type) {
        case DataType_t::HALF: return 0x1p-11;
        case DataType_t::BFLOAT16: return 0x1p-8;
        case DataType_t::FP8_E4M3: return 0x1p-4;
        case DataType_t::FP8_E5M2: return 0x1p-3;
        default: return 0x1p-21;
    }
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

// The size of the parts that cancel in gradients of scores, keys and queries: dQ is
// scale * sum(P * (dO * V - sum(dO * O)) * K), whose difference keeps the roundoff of its parts also where it is 0,
// such as with one visible key.
class CancelledParts {
   public:
    // None for other results, and where the parts are not in memory.
    CancelledParts(Problem const& problem, AttentionUse const& use, Elements const& result) {
        using namespace attention;
        if (!use.is_result || nodes::is_fp8(*use.node)) return;
        port_ = use.operand->port;
        if (port_ != DQ && port_ != DK && port_ != DBias) return;
        Dims const scores = nodes::score_dims(problem.spec, *use.node);
        double const depth = static_cast<double>(problem.spec.tensor(*use.node, V)->dim[3]);
        size_ = rms_of(problem, *use.node, DO) * rms_of(problem, *use.node, V) * std::sqrt(depth);
        if (port_ != DBias) size_ *= std::abs(scale_of(problem)) * rms_of(problem, *use.node, port_ == DQ ? K : Q);
        // Rows of the scores whose parts are added in each row of the result.
        double rows = static_cast<double>(scores[0] * scores[1] * scores[2]);
        for (std::size_t axis = 0; axis < (port_ == DBias ? 4 : 3); ++axis)
            rows /= static_cast<double>(result.dim[axis]);
        least_ = size_ * std::sqrt(std::max(rows, 1.0));
        added_ = static_cast<double>(scores[1]) / static_cast<double>(result.dim[1]);
        weights_ = squares_of_weights(problem, *use.node, port_ == DK);
    }

    // Where few keys have all the weight.
    double least() const { return least_; }
    // Where all visible keys weigh the same.
    double at(Dims const& index) const {
        if (size_ == 0.0) return 0.0;
        std::vector<double> const& weights = weights_[static_cast<std::size_t>(index[0])];
        auto const row = static_cast<std::size_t>(index[2]);
        double const weight = row < weights.size() ? weights[row] : 0.0;
        return size_ * std::sqrt(added_ * (port_ == attention::DBias ? weight * weight : weight));
    }

   private:
    static double rms_of(Problem const& problem, nodes::Node const& node, int port) {
        TensorId const id = node.ports[static_cast<std::size_t>(port)];
        bool const is_known = id != nodes::kNoTensor && problem.data(id) != nullptr;
        return is_known ? root_mean_square(elements_of(problem, id)) : 0.0;
    }

    int port_ = -1;
    double size_ = 0.0, least_ = 0.0, added_ = 1.0;
    std::vector<std::vector<double>> weights_;  // by batch entry, and by row or key
};

// The error divided by the allowed one.
double share_of(double got, double expected, double allowed) {
    if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0.0;
    double const error = std::abs(got - expected);
    return std::isfinite(error) ? error / std::max(allowed, std::numeric_limits<double>::min()) : kBeyondAll;
}

void widen(Compared_result& result, Dims const& first, Dims const& last) {
    if (first.empty()) return;
    if (result.first_wrong.empty()) {
        result.first_wrong = first;
        result.last_wrong = last;
    }
    for (std::size_t axis = 0; axis < first.size(); ++axis) {
        result.first_wrong[axis] = std::min(result.first_wrong[axis], first[axis]);
        result.last_wrong[axis] = std::max(result.last_wrong[axis], last[axis]);
    }
}

}  // namespace

double roundoff_of_inputs(Problem const& problem, double least) {
    double most = least;
    for (nodes::Node const& node : problem.spec.nodes) {
        if (nodes::attention_fields(node) == nullptr && nodes::neighborhood_fields(node) == nullptr) continue;
        nodes::for_each_port(node, nodes::Direction::Input, [&](nodes::PortRow const& port, TensorId id) {
            std::string_view const name = port.name;
            bool const is_operand = name == "Q" || name == "V" || name == "dO" || name == "Attn";
            if (is_operand && problem.data(id) != nullptr)
                most = std::max(most, roundoff_of(problem.tensor(id).data_type));
        });
    }
    return most;
}

Compared_result nothing_compared(Problem const& problem, TensorId id) {
    nodes::TensorSpec const& tensor = problem.tensor(id);
    Compared_result result;
    result.name = nodes::label(problem.spec, nodes::uses_of_tensors(problem.spec), tensor);
    result.uid = *tensor.uid;
    return result;
}

Compared_result compare(Problem const& problem, TensorId id, Memory const& expected, double roundoff_of_inputs,
                        Dims const& origin) {
    Elements const got = elements_of(problem, id);
    Elements right = got;
    right.data = expected.data;
    double const unit = std::max(roundoff_of_inputs, roundoff_of(got.type)), scale = root_mean_square(right);
    CancelledParts const parts(problem, attention_use(problem.spec, id), got);
    Compared_result result = nothing_compared(problem, id);
    Dims moved;
    got.for_each([&](Dims const& index) {
        double const a = got.get(index), b = right.get(index);
        double const relative = kRoundoffs * (std::abs(b) + std::max(scale, parts.at(index)));
        double const allowed = unit * std::max(relative, parts.least());
        double const share = share_of(a, b, allowed);
        ++result.elements;
        if (share <= 0.0) return;
        moved = index;
        for (std::size_t axis = 0; axis < origin.size(); ++axis) moved[axis] += origin[axis];
        if (share > 1.0) {
            ++result.wrong;
            widen(result, moved, moved);
        }
        if (share <= result.share) return;
        result.worst_index = moved;
        result.got = a;
        result.expected = b;
        result.allowed = allowed;
        result.share = share;
    });
    return result;
}

void merge(Compared_result& all, Compared_result const& part) {
    all.elements += part.elements;
    all.wrong += part.wrong;
    widen(all, part.first_wrong, part.last_wrong);
    if (part.share <= all.share) return;
    all.worst_index = part.worst_index;
    all.got = part.got;
    all.expected = part.expected;
    all.allowed = part.allowed;
    all.share = part.share;
}

}  // namespace cudnn_frontend::verification
