#include "kernels/neighborhood/neighborhood_forms.h"

#include "core/data_type.h"
#include "kernels/neighborhood/neighborhood_tiling.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace cudnn_frontend::kernels {
namespace {

constexpr int kHopper = 90;  // the one compute capability whose matrix units multiply by warpgroups

bool is_of_one_pass(NeighborhoodWork work) { return is_fused(work) && work >= NeighborhoodWork::GradientStart; }

std::string reason_against_work(NeighborhoodWork work, NeighborhoodForm form) {
    bool const is_by_warpgroups = form == NeighborhoodForm::Warpgroups;
    if (is_of_one_pass(work)) return is_by_warpgroups ? "" : "gradients in one pass are computed by warpgroups";
    if (form == NeighborhoodForm::Tokens) return "";
    if (!is_fused(work)) return "functions that are not fused have no matrix products";
    return work != NeighborhoodWork::Forward && is_by_warpgroups ? "warpgroups compute all gradients in one pass" : "";
}

// Checks what the matrix products by tiles and by warpgroups need.
std::string reason_against_operands(NeighborhoodKernelProblem const& problem, NeighborhoodForm form) {
    std::string const they_need = std::string(to_string(form)) + " need ";
    if (problem.example().type == DataType_t::FLOAT) return they_need + "BFLOAT16 or HALF";
    if (problem.columns() <= kMostTileColumns && has_aligned_rows(problem)) return "";
    return they_need + "rows of a multiple of 8 columns, at most " + std::to_string(kMostTileColumns) +
           ", which begin at multiples of 16 bytes";
}

std::string reason_against_count(NeighborhoodKernelProblem const& problem, NeighborhoodForm form) {
    return tile_count(problem, form) <= std::numeric_limits<std::int32_t>::max() ? "" : "there are 2^31 tiles or more";
}

// The most rows that are visible to a tile.
double most_visible(NeighborhoodKernelProblem const& problem) {
    double visible = 1;
    for (neighborhood::Axis const& axis : axes_of(problem)) {
        visible *= static_cast<double>(
            std::min<std::int64_t>(axis.kernel + std::int64_t{2} * kWarpgroupTileTokens, longest_dilation_group(axis)));
    }
    return visible;
}

std::string reason_against_tiles(NeighborhoodKernelProblem const& problem) {
    constexpr auto kForm = NeighborhoodForm::Tiles;
    if (problem.work != NeighborhoodWork::Forward && problem.operands[Bias])
        return "tiles compute no gradients with a bias";
    if (std::string reason = reason_against_operands(problem, kForm); !reason.empty()) return reason;
    constexpr double kMost = std::numeric_limits<std::int32_t>::max();
    double const bias_span =
        problem.operands[Bias]
            ? static_cast<double>(*core::span_of(problem.operand(Bias).dims, problem.operand(Bias).strides))
            : 0;
    if (packed_bits(axes_of(problem)) > kPackedBits || most_visible(problem) > kMost || bias_span > kMost)
        return "tiles need axes, windows and a bias that are counted in 32 bits";
    return reason_against_count(problem, kForm);
}

std::string reason_against_warpgroups(NeighborhoodKernelProblem const& problem) {
    constexpr auto kForm = NeighborhoodForm::Warpgroups;
    if (std::string reason = reason_against_operands(problem, kForm); !reason.empty()) return reason;
    constexpr std::int64_t kMost = 1 << 30;  // so that sums of two fit 32 bits, too
    bool const are_short = std::ranges::all_of(
        problem.axes, [](neighborhood::Axis const& axis) { return longest_dilation_group(axis) <= kMost; });
    if (!are_short || most_visible(problem) > static_cast<double>(kMost))
        return "warpgroups need axes and windows of at most 2^30 tokens";
    return reason_against_count(problem, kForm);
}

}  // namespace

char const* to_string(NeighborhoodForm form) {
    constexpr char const* kNames[] = {"tokens", "tiles", "warpgroups"};
    return kNames[static_cast<std::size_t>(form)];
}

std::string reason_against(NeighborhoodKernelProblem const& problem, NeighborhoodForm form, DeviceFacts const& device) {
    bool const is_by_warpgroups = form == NeighborhoodForm::Warpgroups;
    if (is_by_warpgroups && device.compute_capability != kHopper) return "warpgroups need compute capability 9.0";
    if (is_by_warpgroups && problem.operands[Bias]) return "warpgroups support no bias";
    std::string reason = reason_against_work(problem.work, form);
    if (!reason.empty() || form == NeighborhoodForm::Tokens) return reason;
    return is_by_warpgroups ? reason_against_warpgroups(problem) : reason_against_tiles(problem);
}

bool is_fused(NeighborhoodWork work) { return work < NeighborhoodWork::WindowSlots; }

bool is_of_rows(NeighborhoodWork work) {
    return work == NeighborhoodWork::GradientStart || work == NeighborhoodWork::GradientEnd;
}

bool is_deterministic(NeighborhoodWork work) { return work != NeighborhoodWork::Gradients; }

bool is_rows(NeighborhoodTensor tensor) {
    switch (tensor) {
        case Bias:
        case Slots:
        case Stats:
        case Delta:
        case QueryStatistics:
        case BiasGradient: return false;
        default: return true;
    }
}

bool has_aligned_rows(NeighborhoodKernelProblem const& problem) {
    if (problem.columns() * core::size_of(problem.example().type) % kVectorBytes != 0) return false;
    for (int i = 0; i < NeighborhoodTensorCount; ++i) {
        auto const& operand = problem.operands[static_cast<std::size_t>(i)];
        if (!operand || !is_rows(static_cast<NeighborhoodTensor>(i))) continue;
        if (operand->strides.back() != 1) return false;
        std::int64_t const element = core::size_of(operand->type);
        for (std::size_t dim = 0; dim + 1 < operand->dims.size(); ++dim) {
            if (operand->dims[dim] > 1 && operand->strides[dim] * element % kVectorBytes != 0) return false;
        }
    }
    return true;
}

std::vector<std::size_t> alignments_of(NeighborhoodKernelProblem const& problem, NeighborhoodForm form) {
    std::vector<std::size_t> alignments;
    for (int i = 0; i < NeighborhoodTensorCount; ++i) {
        auto const& operand = problem.operands[static_cast<std::size_t>(i)];
        if (!operand) continue;
        bool const is_of_vectors = is_rows(static_cast<NeighborhoodTensor>(i)) || i == QueryStatistics;
        bool const needs_vectors = form != NeighborhoodForm::Tokens && is_of_vectors;
        alignments.push_back(static_cast<std::size_t>(needs_vectors ? kVectorBytes : core::size_of(operand->type)));
    }
    return alignments;
}

}  // namespace cudnn_frontend::kernels
