#include "kernels/attention/distance_steps.h"

#include "core/data_type.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>

namespace cudnn_frontend::kernels {
namespace {

using From = ir::RegionOperand::From;

// A number that grows by these with the query and with the key.
struct Slopes {
    std::int64_t query = 0, key = 0;

    // Whether the sum of two of them has no overflow.
    bool are_small() const {
        constexpr std::int64_t kMost = std::int64_t{1} << 31;
        return std::abs(query) <= kMost && std::abs(key) <= kMost;
    }
};

enum class DependsOn { Nothing, Distance, Place };

// Whether a step depends on more than the batch and the head, and its slopes where they are the same everywhere.
struct Dependence {
    DependsOn on = DependsOn::Place;
    std::optional<Slopes> slopes = {};
};

Dependence of_slopes(Slopes const& slopes) {
    if (slopes.query == 0 && slopes.key == 0) return {DependsOn::Nothing, slopes};
    return {slopes.query + slopes.key == 0 ? DependsOn::Distance : DependsOn::Place, slopes};
}

bool is_comparison(PointwiseMode_t mode) {
    using enum PointwiseMode_t;
    return mode == CMP_EQ || mode == CMP_NEQ || mode == CMP_GT || mode == CMP_GE || mode == CMP_LT || mode == CMP_LE;
}

// Whether a FLOAT can hold the numbers, and kernels compute them as such.
bool is_float_or_condition(DataType_t type) { return core::is_floating_point(type) || type == DataType_t::BOOLEAN; }

class DistanceAnalysis {
   public:
    DistanceAnalysis(ir::OpGraph const& graph, ir::ScoreRegion const& region) : graph_(graph), region_(region) {
        for (ir::RegionStep const& step : region.steps) dependences_.push_back(dependence_of(step));
    }

    std::vector<std::int32_t> steps() const {
        std::vector<std::int32_t> found;
        for (std::int32_t index : read_steps()) {
            if (is_distance(index) && has_form(index) && cost_of(index) >= kLeastCost) found.push_back(index);
        }
        std::ranges::stable_sort(found, std::greater(), [this](std::int32_t index) { return cost_of(index); });
        return found;
    }

   private:
    // By measurements on an H200: with cheaper steps, gradients were not faster by reading their results.
    static constexpr int kLeastCost = 8;

    Dependence dependence_of(ir::RegionStep const& step) const {
        if (step.function.mode == PointwiseMode_t::GEN_INDEX) {
            if (step.type == DataType_t::BOOLEAN) return {};
            return of_slopes({step.function.axis == 2 ? 1 : 0, step.function.axis == 3 ? 1 : 0});
        }
        Dependence const a = dependence_of(step.in[0]), b = dependence_of(step.in[1]), c = dependence_of(step.in[2]);
        auto const slopes = slopes_of(step.function.mode, a.slopes, b.slopes);
        if (slopes && slopes->are_small() && keeps_differences(step)) {
            // A comparison of two numbers is one of their difference with 0.
            if (is_comparison(step.function.mode)) return {of_slopes(*slopes).on};
            return of_slopes(*slopes);
        }
        return {std::max({a.on, b.on, c.on})};
    }
    Dependence dependence_of(ir::RegionOperand const& operand) const {
        switch (operand.from) {
            case From::None: return {DependsOn::Nothing};
            case From::Step: return dependences_[static_cast<std::size_t>(operand.index)];
            case From::Value: break;
            case From::Score:
            case From::Gradient: return {};
        }
        core::Dims const& dims = graph_.value(operand.index).dim;
        bool const varies = dims.size() == 4 && (dims[2] > 1 || dims[3] > 1);
        return varies ? Dependence{} : of_slopes({});
    }
    // Whether differences of the operands are those of the result: conversions to integers and conditions cut them off.
    bool keeps_differences(ir::RegionStep const& step) const {
        if (core::is_floating_point(step.type) || is_comparison(step.function.mode)) return true;
        if (step.type == DataType_t::BOOLEAN) return false;
        return std::ranges::none_of(step.in, [this](ir::RegionOperand const& operand) {
            return operand.from != From::None && is_float_or_condition(type_of(operand));
        });
    }
    // The type of a step or a value.
    DataType_t type_of(ir::RegionOperand const& operand) const {
        auto const index = static_cast<std::size_t>(operand.index);
        return operand.from == From::Step ? region_.steps[index].type : graph_.value(operand.index).type;
    }
    static std::optional<Slopes> slopes_of(PointwiseMode_t mode, std::optional<Slopes> const& a,
                                           std::optional<Slopes> const& b) {
        using enum PointwiseMode_t;
        if (!a) return {};
        if (mode == IDENTITY) return a;
        if (mode == NEG) return Slopes{-a->query, -a->key};
        if (!b) return {};
        if (mode == ADD) return Slopes{a->query + b->query, a->key + b->key};
        if (mode == SUB || is_comparison(mode)) return Slopes{a->query - b->query, a->key - b->key};
        return {};
    }

    bool is_distance(std::int32_t index) const {
        return dependences_[static_cast<std::size_t>(index)].on == DependsOn::Distance;
    }
    bool has_form(std::int32_t index) const {
        return is_float_or_condition(region_.steps[static_cast<std::size_t>(index)].type);
    }

    // The steps that depend on more than the distance, and the results, read these.
    std::set<std::int32_t> read_steps() const {
        std::set<std::int32_t> read;
        auto const add = [&](ir::RegionOperand const& operand) {
            if (operand.from == From::Step) read.insert(operand.index);
        };
        for (std::size_t i = 0; i < region_.steps.size(); ++i) {
            if (dependences_[i].on == DependsOn::Place) std::ranges::for_each(region_.steps[i].in, add);
        }
        add(region_.score);
        add(region_.gradient);
        return read;
    }

    // About how many instructions the step and those that it depends on are.
    int cost_of(std::int32_t index) const {
        std::set<std::int32_t> counted;
        return cost_of(index, counted);
    }
    int cost_of(std::int32_t index, std::set<std::int32_t>& counted) const {
        if (dependences_[static_cast<std::size_t>(index)].on == DependsOn::Nothing || !counted.insert(index).second)
            return 0;
        ir::RegionStep const& step = region_.steps[static_cast<std::size_t>(index)];
        int cost = cost_of(step.function.mode);
        for (ir::RegionOperand const& operand : step.in) {
            if (operand.from != From::Step) continue;
            cost += cost_of(operand.index, counted) + cost_of_conversion(operand.index, step.type);
        }
        return cost;
    }
    int cost_of_conversion(std::int32_t from, DataType_t to) const {
        constexpr int kToFloat = 4;  // the GPU does few of these in a cycle
        bool const is_number = !is_float_or_condition(region_.steps[static_cast<std::size_t>(from)].type);
        return is_number && core::is_floating_point(to) ? kToFloat : 0;
    }
    static int cost_of(PointwiseMode_t mode) {
        using enum PointwiseMode_t;
        switch (mode) {
            case GEN_INDEX:
            case IDENTITY: return 0;
            case DIV:
            case SQRT:
            case RSQRT:
            case RECIPROCAL:
            case EXP:
            case LOG:
            case SIN:
            case COS: return 6;
            case TANH_FWD:
            case SIGMOID_FWD: return 12;
            case MOD:
            case ERF:
            case POW: return 20;
            default: return 1;
        }
    }

    ir::OpGraph const& graph_;
    ir::ScoreRegion const& region_;
    std::vector<Dependence> dependences_;
};

}  // namespace

std::vector<std::int32_t> distance_steps(ir::OpGraph const& graph, ir::ScoreRegion const& region) {
    return DistanceAnalysis(graph, region).steps();
}

}  // namespace cudnn_frontend::kernels
