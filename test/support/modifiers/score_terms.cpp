#include "score_terms.h"

#include <limits>

namespace sdpa_test {

namespace {

using cudnn_frontend::DataType_t;
using cudnn_frontend::graph::Pointwise_attributes;

DataType_t common_type(Term const& a, Term const& b) {
    bool const are_integers = a.type == DataType_t::INT32 && b.type == DataType_t::INT32;
    return are_integers ? DataType_t::INT32 : DataType_t::FLOAT;
}

Pointwise_attributes computed(Mode mode, DataType_t type) {
    return Pointwise_attributes().set_mode(mode).set_compute_data_type(type);
}

Term result(Term const& of, std::shared_ptr<cudnn_frontend::graph::Tensor_attributes> tensor, DataType_t type) {
    tensor->set_data_type(type);
    return {of.graph, std::move(tensor), type};
}

}  // namespace

Term Term::number(double value) const {
    if (type == DataType_t::INT32) return {graph, graph->tensor(static_cast<std::int32_t>(value)), type};
    return {graph, graph->tensor(static_cast<float>(value)), DataType_t::FLOAT};
}

Term Term::index(std::int64_t axis) const {
    auto const attributes = computed(Mode::GEN_INDEX, DataType_t::INT32).set_axis(axis);
    return result(*this, graph->pointwise(tensor, attributes), DataType_t::INT32);
}

Term apply(Mode mode, Term const& a) { return result(a, a.graph->pointwise(a.tensor, computed(mode, a.type)), a.type); }

Term apply(Mode mode, Term const& a, Term const& b) {
    DataType_t const type = common_type(a, b);
    return result(a, a.graph->pointwise(a.tensor, b.tensor, computed(mode, type)), type);
}

Term compared(Mode mode, Term const& a, Term const& b) {
    auto const attributes = computed(mode, common_type(a, b));
    return result(a, a.graph->pointwise(a.tensor, b.tensor, attributes), DataType_t::BOOLEAN);
}

Term both(Term const& a, Term const& b) { return compared(Mode::LOGICAL_AND, a, b); }
Term either(Term const& a, Term const& b) { return compared(Mode::LOGICAL_OR, a, b); }

Term chosen(Term const& where, Term const& then, Term const& otherwise) {
    auto const attributes = computed(Mode::BINARY_SELECT, DataType_t::FLOAT);
    return result(then, then.graph->pointwise(then.tensor, otherwise.tensor, where.tensor, attributes),
                  DataType_t::FLOAT);
}

Term keep_where(Term const& score, Term const& where) {
    return chosen(where, score, score.number(-std::numeric_limits<double>::infinity()));
}

}  // namespace sdpa_test
