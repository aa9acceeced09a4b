#include "cpu/interpreter/interpreter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <type_traits>

namespace cudnn_frontend::cpu {
namespace {

using Mode = PointwiseMode_t;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Function>
void map(PointwiseRow const& row, Function const& f) {
    for (std::int64_t i = 0; i < row.count; ++i) {
        if constexpr (std::is_invocable_v<Function, double>) {
            row.out[i] = f(row.in[0][i]);
        } else if constexpr (std::is_invocable_v<Function, double, double>) {
            row.out[i] = f(row.in[0][i], row.in[1][i]);
        } else {
            row.out[i] = f(row.in[0][i], row.in[1][i], row.in[2][i]);
        }
    }
}

template <class Predicate>
void compare(PointwiseRow const& row, Predicate const& holds) {
    map(row, [&](double a, double b) { return holds(a, b) ? 1.0 : 0.0; });
}

// NaN in either operand is NaN in the result.
double maximum(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double minimum(double a, double b) { return std::isnan(a) || a < b ? a : b; }

// f(a, b), or `masked` where an operand marks the element as masked.
template <class Function>
void map_masked(ir::MaskedBy by, double masked, PointwiseRow const& row, Function const& f) {
    bool const by_first = by == ir::MaskedBy::First || by == ir::MaskedBy::Either;
    bool const by_second = by == ir::MaskedBy::Second || by == ir::MaskedBy::Either;
    map(row,
        [&](double a, double b) { return (by_first && a == masked) || (by_second && b == masked) ? masked : f(a, b); });
}

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

struct Relu {
    double lower, upper, slope;
    explicit Relu(ir::PointwiseFunction const& op)
        : lower(op.relu_lower_clip.value_or(0.0f)),
          upper(op.relu_upper_clip ? double{*op.relu_upper_clip} : kNone),
          slope(op.relu_lower_clip_slope.value_or(0.0f)) {}

    // A slope of 0 must not turn -inf into NaN.
    double below(double x) const { return slope == 0.0 ? lower : lower + slope * (x - lower); }
    double value(double x) const { return x < lower ? below(x) : minimum(x, upper); }
    double derivative(double x) const { return x <= lower ? slope : (x >= upper && upper < kNone ? 0.0 : 1.0); }

    static constexpr double kNone = std::numeric_limits<double>::infinity();  // no upper clip
};

struct Elu {
    double alpha;
    explicit Elu(ir::PointwiseFunction const& op) : alpha(op.elu_alpha.value_or(1.0f)) {}

    double value(double x) const { return x > 0.0 ? x : alpha * std::expm1(x); }
    double derivative(double x) const { return x > 0.0 ? 1.0 : alpha * std::exp(x); }
};

struct Softplus {
    double beta;
    explicit Softplus(ir::PointwiseFunction const& op) : beta(op.softplus_beta.value_or(1.0f)) {}

    // log(1 + e^z) without overflow for large z.
    static double log_1_plus_exp(double z) { return maximum(z, 0.0) + std::log1p(std::exp(-std::abs(z))); }
    double value(double x) const { return log_1_plus_exp(beta * x) / beta; }
    double derivative(double x) const { return sigmoid(beta * x); }
};

struct Swish {
    double beta;
    explicit Swish(ir::PointwiseFunction const& op) : beta(op.swish_beta.value_or(1.0f)) {}

    double value(double x) const { return x * sigmoid(beta * x); }
    double derivative(double x) const {
        double const s = sigmoid(beta * x);
        return s + beta * x * s * (1.0 - s);
    }
};

struct Sigmoid {
    static double value(double x) { return sigmoid(x); }
    static double derivative(double x) { return sigmoid(x) * (1.0 - sigmoid(x)); }
};

struct Tanh {
    static double value(double x) { return std::tanh(x); }
    static double derivative(double x) { return 1.0 - std::tanh(x) * std::tanh(x); }
};

// x times the normal distribution function.
struct Gelu {
    static double distribution(double x) { return 0.5 * (1.0 + std::erf(x / std::numbers::sqrt2)); }
    static double density(double x) { return std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2; }
    static double value(double x) { return x * distribution(x); }
    static double derivative(double x) { return distribution(x) + x * density(x); }
};

// 0.5 x (1 + tanh(u)) with a cubic u: an approximation of Gelu.
struct GeluByTanh {
    static constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, kCubic = 0.044715;

    static double tanh_of_u(double x) { return std::tanh(kScale * (x + kCubic * x * x * x)); }
    static double value(double x) { return 0.5 * x * (1.0 + tanh_of_u(x)); }
    static double derivative(double x) {
        double const t = tanh_of_u(x), du = kScale * (1.0 + 3.0 * kCubic * x * x);
        return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * du;
    }
};

template <class Activation>
void activate(PointwiseRow const& row, Activation const& activation) {
    map(row, [&](double x) { return activation.value(x); });
}

template <class Activation>
void differentiate(PointwiseRow const& row, Activation const& activation) {
    map(row, [&](double dy, double x) { return dy * activation.derivative(x); });
}

void apply_activation(ir::PointwiseFunction const& op, PointwiseRow const& row) {
    switch (op.mode) {
        case Mode::RELU_FWD: return activate(row, Relu(op));
        case Mode::TANH_FWD: return activate(row, Tanh());
        case Mode::SIGMOID_FWD: return activate(row, Sigmoid());
        case Mode::ELU_FWD: return activate(row, Elu(op));
        case Mode::GELU_FWD: return activate(row, Gelu());
        case Mode::SOFTPLUS_FWD: return activate(row, Softplus(op));
        case Mode::SWISH_FWD: return activate(row, Swish(op));
        case Mode::GELU_APPROX_TANH_FWD: return activate(row, GeluByTanh());
        case Mode::RELU_BWD: return differentiate(row, Relu(op));
        case Mode::TANH_BWD: return differentiate(row, Tanh());
        case Mode::SIGMOID_BWD: return differentiate(row, Sigmoid());
        case Mode::ELU_BWD: return differentiate(row, Elu(op));
        case Mode::GELU_BWD: return differentiate(row, Gelu());
        case Mode::SOFTPLUS_BWD: return differentiate(row, Softplus(op));
        case Mode::SWISH_BWD: return differentiate(row, Swish(op));
        case Mode::GELU_APPROX_TANH_BWD: return differentiate(row, GeluByTanh());
        default: return;
    }
}

void apply_unary(ir::PointwiseFunction const& op, PointwiseRow const& row) {
    switch (op.mode) {
        case Mode::SQRT: return map(row, [](double x) { return std::sqrt(x); });
        case Mode::ERF: return map(row, [](double x) { return std::erf(x); });
        case Mode::IDENTITY: return map(row, [](double x) { return x; });
        case Mode::EXP: return map(row, [](double x) { return std::exp(x); });
        case Mode::LOG: return map(row, [](double x) { return std::log(x); });
        case Mode::NEG: return map(row, [](double x) { return -x; });
        case Mode::ABS: return map(row, [](double x) { return std::abs(x); });
        case Mode::CEIL: return map(row, [](double x) { return std::ceil(x); });
        case Mode::COS: return map(row, [](double x) { return std::cos(x); });
        case Mode::FLOOR: return map(row, [](double x) { return std::floor(x); });
        case Mode::RSQRT: return map(row, [](double x) { return 1.0 / std::sqrt(x); });
        case Mode::SIN: return map(row, [](double x) { return std::sin(x); });
        case Mode::LOGICAL_NOT: return map(row, [](double x) { return x == 0.0 ? 1.0 : 0.0; });
        case Mode::TAN: return map(row, [](double x) { return std::tan(x); });
        case Mode::RECIPROCAL: return map(row, [](double x) { return 1.0 / x; });
        default: return apply_activation(op, row);
    }
}

}  // namespace

void apply(ir::PointwiseFunction const& op, PointwiseRow const& row) {
    switch (op.mode) {
        case Mode::ADD: return map(row, [](double a, double b) { return a + b; });
        case Mode::SUB: return map_masked(op.masked_by, -kInfinity, row, [](double a, double b) { return a - b; });
        case Mode::MUL: return map_masked(op.masked_by, 0.0, row, [](double a, double b) { return a * b; });
        case Mode::DIV: return map_masked(op.masked_by, 0.0, row, [](double a, double b) { return a / b; });
        case Mode::MAX: return map(row, maximum);
        case Mode::MIN: return map(row, minimum);
        case Mode::MOD: return map(row, [](double a, double b) { return std::fmod(a, b); });
        case Mode::POW: return map(row, [](double a, double b) { return std::pow(a, b); });
        case Mode::ADD_SQUARE: return map(row, [](double a, double b) { return a + b * b; });
        case Mode::CMP_EQ: return compare(row, [](double a, double b) { return a == b; });
        case Mode::CMP_NEQ: return compare(row, [](double a, double b) { return a != b; });
        case Mode::CMP_GT: return compare(row, [](double a, double b) { return a > b; });
        case Mode::CMP_GE: return compare(row, [](double a, double b) { return a >= b; });
        case Mode::CMP_LT: return compare(row, [](double a, double b) { return a < b; });
        case Mode::CMP_LE: return compare(row, [](double a, double b) { return a <= b; });
        case Mode::LOGICAL_AND: return compare(row, [](double a, double b) { return a != 0.0 && b != 0.0; });
        case Mode::LOGICAL_OR: return compare(row, [](double a, double b) { return a != 0.0 || b != 0.0; });
        case Mode::BINARY_SELECT:
            return map(row, [](double a, double b, double choice) { return choice != 0.0 ? a : b; });
        default: return apply_unary(op, row);
    }
}

namespace {

// Computes the result row by row, each in chunks that go through buffers of doubles.
class PointwiseRun {
   public:
    PointwiseRun(ir::PointwiseOp const& op, Memory const& memory) : op_(op), out_(memory.tensor(op.out)) {
        strides_[kOut] = out_.stride;
        for (std::size_t i = 0; i < kOut; ++i) {
            if (op.in[i] == ir::kNoValue) continue;
            in_[i] = memory.tensor(op.in[i]);
            strides_[i] = broadcast_strides(in_[i], out_);
        }
    }

    void run() {
        std::size_t const last = out_.rank - 1;
        Walk<4> rows(last, out_.dim, strides_);
        do {
            for (std::int64_t column = 0; column < out_.dim[last]; column += kChunk) {
                run_chunk(rows, column, std::min(kChunk, out_.dim[last] - column));
            }
        } while (rows.next());
    }

   private:
    static constexpr std::size_t kOut = 3;

    void run_chunk(Walk<4> const& rows, std::int64_t column, std::int64_t count) {
        std::size_t const last = out_.rank - 1;
        if (op_.mode == PointwiseMode_t::GEN_INDEX) {
            fill_index(rows.index(), column);
        } else {
            for (std::size_t i = 0; i < kOut; ++i) {
                std::int64_t const stride = strides_[i][last];
                if (in_[i].data != nullptr) {
                    load_row(in_[i], rows.offset(i) + column * stride, stride, count, buffers_[i].data());
                }
            }
            apply(op_, {{buffers_[0].data(), buffers_[1].data(), buffers_[2].data()}, buffers_[kOut].data(), count});
        }
        std::int64_t const stride = strides_[kOut][last];
        store_row(out_, rows.offset(kOut) + column * stride, stride, count, buffers_[kOut].data());
    }

    void fill_index(Extents const& index, std::int64_t column) {
        auto const axis = static_cast<std::size_t>(op_.axis);
        auto& result = buffers_[kOut];
        if (axis + 1 == out_.rank) {
            std::iota(result.begin(), result.end(), static_cast<double>(column));
        } else {
            result.fill(static_cast<double>(index[axis]));
        }
    }

    ir::PointwiseOp const& op_;
    Tensor out_;
    std::array<Tensor, kOut> in_{};
    std::array<Extents, 4> strides_{};  // of the operands, then of the result
    std::array<std::array<double, kChunk>, 4> buffers_;
};

}  // namespace

void interpret(ir::PointwiseOp const& op, Memory const& memory, double*) { PointwiseRun(op, memory).run(); }

}  // namespace cudnn_frontend::cpu
