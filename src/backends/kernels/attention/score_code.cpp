#include "core/data_type.h"
#include "core/names.h"
#include "core/text.h"
#include "kernels/attention/attention_values.h"
#include "kernels/attention/distance_steps.h"
#include "kernels/device/attention/attention_arguments.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

namespace cudnn_frontend::kernels {
namespace {

using From = ir::RegionOperand::From;

// The expression of a function of a, b and c; nullptr where it has no form.
char const* expression_of(PointwiseMode_t mode) {
    using enum PointwiseMode_t;
    switch (mode) {
        case IDENTITY: return "a";
        case ADD: return "a + b";
        case SUB: return "a - b";
        case MUL: return "a * b";
        case DIV: return "a * inverse_of(b)";
        case MOD: return "remainder_of(a, b)";
        case MAX: return "greater_of(a, b)";
        case MIN: return "lesser_of(a, b)";
        case ADD_SQUARE: return "a + b * b";
        case NEG: return "-a";
        case ABS: return "magnitude_of(a)";
        case FLOOR: return "floorf(a)";
        case CEIL: return "ceilf(a)";
        case SQRT: return "root_of(a)";
        case RSQRT: return "rsqrtf(a)";
        case RECIPROCAL: return "inverse_of(a)";
        case EXP: return "power_of_2(kLog2OfE * a)";
        case LOG: return "logarithm_of(a)";
        case SIN: return "sine_of(a)";
        case COS: return "cosine_of(a)";
        case ERF: return "erff(a)";
        case POW: return "powf(a, b)";
        case TANH_FWD: return "tanh_of(a)";
        case TANH_BWD: return "a * (1.0f - tanh_of(b) * tanh_of(b))";
        case SIGMOID_FWD: return "sigmoid_of(a)";
        case SIGMOID_BWD: return "a * sigmoid_of(b) * (1.0f - sigmoid_of(b))";
        case CMP_EQ: return "a == b";
        case CMP_NEQ: return "a != b";
        case CMP_GT: return "a > b";
        case CMP_GE: return "a >= b";
        case CMP_LT: return "a < b";
        case CMP_LE: return "a <= b";
        case LOGICAL_AND: return "a != 0 && b != 0";
        case LOGICAL_OR: return "a != 0 || b != 0";
        case LOGICAL_NOT: return "a == 0";
        case BINARY_SELECT: return "chosen_of(c, a, b)";
        default: return nullptr;
    }
}

// Whether the expression has bounds that follow from those of its operands.
bool has_bounds(PointwiseMode_t mode) {
    using enum PointwiseMode_t;
    switch (mode) {
        case IDENTITY:
        case ADD:
        case SUB:
        case MUL:
        case DIV:
        case MOD:
        case MAX:
        case MIN:
        case ADD_SQUARE:
        case NEG:
        case ABS:
        case FLOOR:
        case RECIPROCAL:
        case CMP_EQ:
        case CMP_NEQ:
        case CMP_GT:
        case CMP_GE:
        case CMP_LT:
        case CMP_LE:
        case LOGICAL_AND:
        case LOGICAL_OR:
        case LOGICAL_NOT:
        case BINARY_SELECT: return true;
        default: return false;
    }
}

constexpr char const* kIndices[] = {"at.batch", "at.head", "at.query", "at.key"};

// The type in which the kernels compute a step, and in which they read a tensor; nullptr where there is none.
char const* computed_type(DataType_t type) {
    switch (type) {
        case DataType_t::FLOAT:
        case DataType_t::HALF:
        case DataType_t::BFLOAT16: return "float";
        case DataType_t::BOOLEAN: return "bool";
        case DataType_t::INT32: return "int";
        case DataType_t::INT64: return "long long";
        default: return nullptr;
    }
}
char const* stored_type(DataType_t type) {
    switch (type) {
        case DataType_t::HALF: return "half";
        case DataType_t::BFLOAT16: return "bfloat16";
        case DataType_t::UINT8:
        case DataType_t::BOOLEAN: return "unsigned char";
        case DataType_t::INT8: return "signed char";
        default: return computed_type(type);
    }
}

bool is_integer(DataType_t type) { return type == DataType_t::INT32 || type == DataType_t::INT64; }

// Replaces the letters a, b and c where they are words of their own.
std::string with_operands(std::string_view expression, std::array<std::string, 3> const& operands) {
    auto const is_of_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    std::string text;
    for (std::size_t i = 0; i < expression.size(); ++i) {
        char const letter = expression[i];
        bool const is_alone = (i == 0 || !is_of_word(expression[i - 1])) &&
                              (i + 1 == expression.size() || !is_of_word(expression[i + 1]));
        if (is_alone && letter >= 'a' && letter <= 'c') text += operands[static_cast<std::size_t>(letter - 'a')];
        else text += letter;
    }
    return text;
}

class Writer {
   public:
    Writer(ir::OpGraph const& graph, ir::ScoreRegion const& region) : graph_(graph), region_(region) {}

    Result<ScoreCode> run() {
        bool const changes_gradients = region_.gradient.from != From::None && region_.gradient.from != From::Gradient;
        ir::RegionOperand const gradient = changes_gradients ? region_.gradient : ir::RegionOperand{From::Gradient};
        code_.modifier.text =
            "constexpr bool kChangesGradients = " + std::string(changes_gradients ? "true" : "false") + ";\n";
        code_.modifier.text += distance_terms();
        code_.modifier.text += function("modified_score(Linear score", region_.score);
        code_.modifier.text += function("modified_gradient(Linear score, float gradient", gradient);
        add_short_score();
        auto const is = [](From from) {
            return [from](ir::RegionOperand const& operand) { return operand.from == from; };
        };
        code_.modifier.leaves_scores = may_be(region_.score, is(From::Score)) && may_be(gradient, is(From::Gradient));
        code_.modifier.hides_scores =
            may_be(region_.score, [&](auto const& operand) { return is_minus_infinity(operand); });
        code_.modifier.has_sigmoid = std::ranges::any_of(region_.steps, [](ir::RegionStep const& step) {
            return step.function.mode == PointwiseMode_t::SIGMOID_FWD ||
                   step.function.mode == PointwiseMode_t::SIGMOID_BWD;
        });
        if (code_.modifier.hides_scores || code_.modifier.leaves_scores) {
            has_bounds_ = true;
            code_.modifier.scatters_hidden = scatters_hidden();
            code_.modifier.text_of_bounds = function("modified_score(Bounds const& score", region_.score);
            code_.modifier.text_of_bounds +=
                function("modified_gradient(Bounds const& score, Bounds const& gradient", gradient);
        }
        if (code_.tensors.size() > kMostScoreTensors || code_.numbers.size() > kMostScoreConstants) {
            refuse(core::text("a score modifier that reads ", code_.tensors.size(), " tensors and ",
                              code_.numbers.size(), " numbers, more than ", kMostScoreTensors, " and ",
                              kMostScoreConstants));
        }
        if (problem_) return error_t(error_code_t::GRAPH_NOT_SUPPORTED, *problem_);
        return std::move(code_);
    }

   private:
    static constexpr auto kBinarySelect = PointwiseMode_t::BINARY_SELECT;

    bool is_minus_infinity(ir::RegionOperand const& operand) const {
        if (operand.from != From::Value) return false;
        ir::Value const& value = graph_.value(operand.index);
        constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
        return value.role == ir::Role::Constant &&
               core::load(value.constant.type, &value.constant.bits, 0) == kMinusInfinity;
    }

    using OfSteps = std::vector<bool>;
    static bool of_step(ir::RegionOperand const& operand, OfSteps const& steps) {
        return operand.from == From::Step && steps[static_cast<std::size_t>(operand.index)];
    }

    // Whether the result is such an operand, or one that only choices are between.
    template <class IsOne>
    bool may_be(ir::RegionOperand const& result, IsOne const& is_one) const {
        OfSteps may;
        auto const may_be = [&](ir::RegionOperand const& operand) { return is_one(operand) || of_step(operand, may); };
        for (ir::RegionStep const& step : region_.steps) {
            bool const is_choice = step.function.mode == kBinarySelect;
            bool const passes = is_choice || step.function.mode == PointwiseMode_t::IDENTITY;
            may.push_back(passes && (may_be(step.in[0]) || (is_choice && may_be(step.in[1]))));
        }
        return may_be(result);
    }

    // Whether a choice follows from a remainder, or from an element for each score that heads have in common. Then
    // hidden scores may fill blocks without bounds that show it. Elements for each head are as many as the scores of
    // attention.
    bool scatters_hidden() const {
        OfSteps scattered;
        auto const is_scattered = [&](ir::RegionOperand const& operand) {
            return of_step(operand, scattered) || (operand.from == From::Value && is_for_each_score(operand.index));
        };
        for (ir::RegionStep const& step : region_.steps) {
            if (step.function.mode == kBinarySelect && is_scattered(step.in[2])) return true;
            scattered.push_back(step.function.mode == PointwiseMode_t::MOD ||
                                std::ranges::any_of(step.in, is_scattered));
        }
        return false;
    }
    bool is_for_each_score(ir::ValueId id) const {
        ir::Value const& value = graph_.value(id);
        return value.dim.size() == 4 && value.dim[1] == 1 && value.dim[2] > 1 && value.dim[3] > 1;
    }

    // The function of terms that kernels compute once for each distance. What is written after it reads them.
    std::string distance_terms() {
        std::vector<std::int32_t> steps = distance_steps(graph_, region_);
        if (steps.size() > kMostDistanceTerms) steps.resize(kMostDistanceTerms);
        std::string values;
        for (std::int32_t const index : steps) {
            if (!values.empty()) values += ", ";
            values += "static_cast<float>(" + step(index) + ")";
        }
        distance_steps_ = std::move(steps);
        return core::text("constexpr int kDistanceTerms = ", distance_steps_.size(),
                          ";\ninline DistanceTerms distance_terms(ScorePlace const& at, ScoreInputs const& inputs) {\n",
                          body_, "    return {", values, "};\n}\n");
    }

    // The short form of scores near 0, where there is one: with a tanh of a multiple of the score.
    void add_short_score() {
        find_multiples();
        std::string conditions;
        written_.clear();
        body_.clear();
        for (ir::RegionStep const& step : region_.steps) {
            if (!is_short_tanh(step)) continue;
            conditions += (conditions.empty() ? "has_short_tanh(" : " && has_short_tanh(") + operand(step.in[0]) + ")";
        }
        if (conditions.empty()) return;
        std::string& text = code_.modifier.text_of_short_score;
        text = core::text("inline bool has_short_score(Scaled score, ScoreInputs const& inputs) {\n", body_,
                          "    return ", conditions, ";\n}\n");
        is_short_ = true;
        text += function("short_score(Scaled score", region_.score);
        is_short_ = false;
    }
    // The steps whose results are the score times numbers that are uniform.
    void find_multiples() {
        using enum PointwiseMode_t;
        for (ir::RegionStep const& step : region_.steps) {
            bool const is_first = is_multiple(step.in[0]), is_second = is_multiple(step.in[1]);
            bool is = false;
            switch (step.function.mode) {
                case IDENTITY:
                case NEG: is = is_first; break;
                case DIV: is = is_first && is_uniform(step.in[1]); break;
                case MUL: is = (is_first && is_uniform(step.in[1])) || (is_second && is_uniform(step.in[0])); break;
                default: break;
            }
            multiples_.push_back(is && step.type == DataType_t::FLOAT);
        }
    }
    bool is_multiple(ir::RegionOperand const& operand) const {
        return operand.from == From::Score || of_step(operand, multiples_);
    }
    bool is_uniform(ir::RegionOperand const& operand) const {
        if (operand.from != From::Value) return false;
        ir::Value const& value = graph_.value(operand.index);
        return value.role == ir::Role::Constant && !is_integer(value.type);
    }
    bool is_short_tanh(ir::RegionStep const& step) const {
        return step.function.mode == PointwiseMode_t::TANH_FWD && is_multiple(step.in[0]);
    }

    std::string function(char const* head, ir::RegionOperand const& result) {
        written_.clear();
        body_.clear();
        std::string const value = operand(result);
        return core::text("inline ", has_bounds_ ? "Bounds " : "auto ", head, ", ",
                          has_bounds_ ? "BlockPlace" : "ScorePlace", " const& at, ScoreInputs const& inputs) {\n",
                          body_, "    return ", value, ";\n}\n");
    }

    // The name of an operand, whose steps are written before.
    std::string operand(ir::RegionOperand const& operand) {
        switch (operand.from) {
            case From::None: return "0";
            case From::Score: return "score";
            case From::Gradient: return "gradient";
            case From::Step: return step(operand.index);
            case From::Value: break;
        }
        ir::Value const& value = graph_.value(operand.index);
        if (value.role == ir::Role::Constant || value.role == ir::Role::ByValue) return number(operand.index);
        return tensor(operand.index);
    }

    std::string step(std::int32_t index) {
        auto const term = std::ranges::find(distance_steps_, index);
        if (has_bounds_ || term == distance_steps_.end()) return computed_step(index);
        bool const is_condition = region_.steps[static_cast<std::size_t>(index)].type == DataType_t::BOOLEAN;
        return core::text(is_condition ? "(" : "", "at.of_distance.numbers[", term - distance_steps_.begin(), "]",
                          is_condition ? " != 0)" : "");
    }

    std::string computed_step(std::int32_t index) {
        std::string name = "step" + std::to_string(index);
        if (!written_.insert(index).second) return name;
        ir::RegionStep const& step = region_.steps[static_cast<std::size_t>(index)];
        char const* const type = computed_type(step.type);
        if (type == nullptr) refuse(core::text("a score modifier that computes in ", step.type));
        std::string const value = expression(step);
        char const* const named_type = type == nullptr ? "float" : type;
        if (has_bounds_)
            body_ += core::text("    Bounds const ", name, " = computed_as<", named_type, ">(", value, ");\n");
        else if (std::string_view(named_type) == "float")
            body_ += core::text("    auto const ", name, " = as_float(", value, ");\n");
        else body_ += core::text("    ", named_type, " const ", name, " = ", value, ";\n");
        return name;
    }

    std::string expression(ir::RegionStep const& step) {
        if (step.function.mode == PointwiseMode_t::GEN_INDEX) {
            differ_by(step.function.axis == 0, step.function.axis == 1);
            return kIndices[static_cast<std::size_t>(step.function.axis)];
        }
        char const* pattern = expression_of(step.function.mode);
        bool const divides_integers = step.function.mode == PointwiseMode_t::DIV && is_integer(step.type);
        if (pattern == nullptr || divides_integers) {
            refuse(core::text("a score modifier that computes ", step.function.mode,
                              divides_integers ? " of integers" : "", ""));
            return "0";
        }
        if (has_bounds_ && !has_bounds(step.function.mode)) return "anything()";
        if (is_short_ && is_short_tanh(step)) pattern = "short_tanh_of(a)";
        return with_operands(pattern, {operand(step.in[0]), operand(step.in[1]), operand(step.in[2])});
    }

    // Notes whether bounds are others in each batch and head.
    void differ_by(bool batch, bool head) {
        if (!has_bounds_) return;
        code_.modifier.hides_by_batch = code_.modifier.hides_by_batch || batch;
        code_.modifier.hides_by_head = code_.modifier.hides_by_head || head;
    }

    static std::size_t number_in(std::vector<ir::ValueId>& values, ir::ValueId value) {
        auto const found = std::ranges::find(values, value);
        auto const place = static_cast<std::size_t>(found - values.begin());
        if (found == values.end()) values.push_back(value);
        return place;
    }

    std::string number(ir::ValueId id) {
        char const* const type = computed_type(graph_.value(id).type);
        std::size_t const place = number_in(code_.numbers, id);
        if (graph_.value(id).role != ir::Role::Constant)
            refuse(core::text("a score modifier that reads '", graph_.value(id).name, "', a number given at each run"));
        if (type == nullptr || graph_.value(id).type == DataType_t::INT64) {
            refuse(core::text("a score modifier that reads a number of type ", graph_.value(id).type));
        }
        return core::text(has_bounds_ ? "Bounds(" : "",
                          is_integer(graph_.value(id).type) ? "integer_of(inputs, " : "number_of(inputs, ", place, ")",
                          has_bounds_ ? ")" : "");
    }

    std::string tensor(ir::ValueId id) {
        ir::Value const& value = graph_.value(id);
        char const* const type = stored_type(value.type);
        std::size_t const place = number_in(code_.tensors, id);
        if (value.dim.size() != 4) {
            refuse(core::text("a score modifier that reads '", value.name, "', a tensor of dims ", value.dim,
                              " instead of four"));
            return "0";
        }
        if (type == nullptr || value.role != ir::Role::Input || value.ragged) {
            refuse(core::text("a score modifier that reads '", value.name, "', a tensor of ", value.type,
                              value.ragged ? " in packed layout" : "",
                              value.role == ir::Role::Input ? "" : " that is computed in the graph"));
        }
        differ_by(value.dim[0] > 1, value.dim[1] > 1);
        auto const varies = [&](std::size_t dim) { return value.dim[dim] > 1 ? "true" : "false"; };
        return core::text("element_of<", type == nullptr ? "float" : type, ", ", varies(2), ", ", varies(3),
                          ">(inputs.tensors[", place, "], at)");
    }

    void refuse(std::string reason) {
        if (!problem_) problem_ = std::move(reason);
    }

    ir::OpGraph const& graph_;
    ir::ScoreRegion const& region_;
    std::vector<std::int32_t> distance_steps_;  // whose results are terms of the distance, by number
    ScoreCode code_;
    std::set<std::int32_t> written_;
    std::string body_;
    OfSteps multiples_;        // of the score
    bool has_bounds_ = false;  // numbers are bounds
    bool is_short_ = false;    // what is written is the short form
    std::optional<std::string> problem_;
};

}  // namespace

Result<ScoreCode> score_code(ir::OpGraph const& graph, ir::ScoreRegion const& region) {
    return Writer(graph, region).run();
}

}  // namespace cudnn_frontend::kernels
