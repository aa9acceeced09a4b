#include "api/verification/comparison.h"

#include "nodes/attention/attention_node.h"
#include "nodes/schema/uses.h"

#include <cmath>
#include <limits>

namespace cudnn_frontend::verification {
namespace {

// How many roundoffs an error may have.
constexpr double kRoundoffs = 16.0;
constexpr double kRoundoffOfFloat = 0x1p-24;
// With larger scores weights of FLOAT are as coarse as those of BFLOAT16 are otherwise.
constexpr double kMostOfScores = 0x1p-8;
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

// The length of the longest vector of finite numbers in the last dim.
double longest_vector(Elements const& elements) {
    double longest = 0.0, squares = 0.0;
    elements.for_each([&](Dims const& index) {
        if (index.back() == 0) squares = 0.0;
        double const number = elements.get(index);
        if (std::isfinite(number)) squares += number * number;
        longest = std::max(longest, squares);
    });
    return std::sqrt(longest);
}

}  // namespace

double roundoff_of_inputs(Problem const& problem, double least) {
    double most = least;
    for (nodes::Node const& node : problem.spec.nodes) {
        if (nodes::attention_fields(node) == nullptr && nodes::neighborhood_fields(node) == nullptr) continue;
        double longest_query = 0.0, longest_key = 0.0;
        nodes::for_each_port(node, nodes::Direction::Input, [&](nodes::PortRow const& port, TensorId id) {
            if (problem.data(id) == nullptr) return;
            std::string_view const name = port.name;
            if (name == "Q" || name == "V" || name == "dO" || name == "Attn")
                most = std::max(most, roundoff_of(problem.tensor(id).data_type));
            if (name == "Q") longest_query = longest_vector(elements_of(problem, id));
            if (name == "K") longest_key = longest_vector(elements_of(problem, id));
        });
        // Numbers of 8 bits are coarser anyway, and pages have rows that belong to no sequence.
        bool const is_attention = nodes::attention_fields(node) != nullptr;
        if (is_attention && (nodes::is_fp8(node) || nodes::has_pages(node))) continue;
        double const largest_score = std::abs(score_scale(problem, node)) * longest_query * longest_key;
        most = std::max(most, std::min(kRoundoffOfFloat * largest_score, kMostOfScores));
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
    CancelledParts const parts(problem, id);
    Compared_result result = nothing_compared(problem, id);
    Dims moved;
    got.for_each([&](Dims const& index) {
        double const a = got.get(index), b = right.get(index);
        double const relative = kRoundoffs * unit * (std::abs(b) + scale);
        double const of_parts = std::max(kRoundoffs * (std::abs(b) + parts.at(index)), parts.least());
        double const allowed = std::max(relative, parts.roundoff(unit) * of_parts);
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
