// Score modifiers as formulas: operators that add pointwise nodes to a graph.
#pragma once

#include <cudnn_frontend/graph.h>

#include <cstdint>
#include <memory>
#include <type_traits>

namespace sdpa_test {

// A tensor of a graph that is being made: FLOAT, INT32 or BOOLEAN. Operators are nodes; where both operands are INT32,
// so is the result.
struct Term {
    std::shared_ptr<cudnn_frontend::graph::Graph> graph;
    std::shared_ptr<cudnn_frontend::graph::Tensor_attributes> tensor;
    cudnn_frontend::DataType_t type = cudnn_frontend::DataType_t::FLOAT;

    // A number of the same type.
    Term number(double value) const;
    // The index of each score along an axis of {batch, head, query, key}.
    Term index(std::int64_t axis) const;
};

using Mode = cudnn_frontend::PointwiseMode_t;
Term apply(Mode mode, Term const& a);
Term apply(Mode mode, Term const& a, Term const& b);
Term compared(Mode mode, Term const& a, Term const& b);
Term both(Term const& a, Term const& b);
Term either(Term const& a, Term const& b);
Term chosen(Term const& where, Term const& then, Term const& otherwise);
// The score where the predicate holds, minus infinity elsewhere.
Term keep_where(Term const& score, Term const& where);

inline Term operator+(Term const& a, Term const& b) { return apply(Mode::ADD, a, b); }
inline Term operator-(Term const& a, Term const& b) { return apply(Mode::SUB, a, b); }
inline Term operator*(Term const& a, Term const& b) { return apply(Mode::MUL, a, b); }
inline Term operator/(Term const& a, Term const& b) { return apply(Mode::DIV, a, b); }
inline Term operator%(Term const& a, Term const& b) { return apply(Mode::MOD, a, b); }
inline Term operator==(Term const& a, Term const& b) { return compared(Mode::CMP_EQ, a, b); }
inline Term operator<(Term const& a, Term const& b) { return compared(Mode::CMP_LT, a, b); }
inline Term operator<=(Term const& a, Term const& b) { return compared(Mode::CMP_LE, a, b); }
inline Term operator>=(Term const& a, Term const& b) { return compared(Mode::CMP_GE, a, b); }

inline Term operator+(Term const& a, double b) { return a + a.number(b); }
inline Term operator-(Term const& a, double b) { return a - a.number(b); }
inline Term operator*(Term const& a, double b) { return a * a.number(b); }
inline Term operator/(Term const& a, double b) { return a / a.number(b); }
inline Term operator%(Term const& a, double b) { return a % a.number(b); }
inline Term operator==(Term const& a, double b) { return a == a.number(b); }
inline Term operator<(Term const& a, double b) { return a < a.number(b); }
inline Term operator<=(Term const& a, double b) { return a <= a.number(b); }

}  // namespace sdpa_test
