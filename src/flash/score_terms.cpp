#include "flash/shapes.h"

namespace sdpa_graph::flash {
namespace {

using fe::PointwiseMode_t;
using Graph_ptr = std::shared_ptr<fe::graph::Graph>;
namespace modifiers = fe::graph::attn::score_modifiers;

class Steps {
   public:
    explicit Steps(fe::graph::Graph& graph) : graph_(graph) {}

    Tensor index(Tensor const& score, std::int64_t axis) const {
        return typed(graph_.pointwise(score, options(PointwiseMode_t::GEN_INDEX, DataType_t::INT32).set_axis(axis)),
                     DataType_t::INT32);
    }
    Tensor count(PointwiseMode_t mode, Tensor const& a, Tensor const& b) const {
        return make(mode, a, b, DataType_t::INT32);
    }
    Tensor number(PointwiseMode_t mode, Tensor const& a, Tensor const& b) const {
        return make(mode, a, b, DataType_t::FLOAT);
    }
    Tensor magnitude(Tensor const& a) const {
        return typed(graph_.pointwise(a, options(PointwiseMode_t::ABS, DataType_t::FLOAT)), DataType_t::FLOAT);
    }
    Tensor integer(std::int64_t value) const { return graph_.tensor(static_cast<std::int32_t>(value)); }

   private:
    static fe::graph::Pointwise_attributes options(PointwiseMode_t mode, DataType_t compute) {
        return fe::graph::Pointwise_attributes().set_mode(mode).set_compute_data_type(compute);
    }
    static Tensor typed(Tensor tensor, DataType_t type) {
        tensor->set_data_type(type);
        return tensor;
    }
    Tensor make(PointwiseMode_t mode, Tensor const& a, Tensor const& b, DataType_t type) const {
        return typed(graph_.pointwise(a, b, options(mode, type)), type);
    }

    fe::graph::Graph& graph_;
};

// ALiBi of causal attention. The log-sum-exp is then that of the original, which leaves out the term that all scores of
// a row have in common.
fe::detail::Score_modifier slopes_by_key(Tensor slopes) {
    return [slopes = std::move(slopes)](Graph_ptr const& graph, Tensor const& score) {
        Steps const at(*graph);
        Tensor const term = at.number(PointwiseMode_t::MUL, at.index(score, 3), slopes);
        return at.number(PointwiseMode_t::ADD, score, term);
    };
}

// The shift moves the diagonal to the bottom right corner of each sequence.
fe::detail::Score_modifier slopes_by_distance(Tensor slopes, Tensor lengths_q, Tensor lengths_k, std::int64_t shift) {
    return [slopes = std::move(slopes), lengths_q = std::move(lengths_q), lengths_k = std::move(lengths_k), shift](
               Graph_ptr const& graph, Tensor const& score) {
        Steps const at(*graph);
        Tensor diagonal = at.index(score, 2);
        if (lengths_q) {
            diagonal = at.count(PointwiseMode_t::ADD, diagonal, lengths_k);
            diagonal = at.count(PointwiseMode_t::SUB, diagonal, lengths_q);
        } else if (shift != 0) {
            diagonal = at.count(PointwiseMode_t::ADD, diagonal, at.integer(shift));
        }
        Tensor const distance = at.count(PointwiseMode_t::SUB, diagonal, at.index(score, 3));
        Tensor const term = at.number(PointwiseMode_t::MUL, at.magnitude(distance), slopes);
        return at.number(PointwiseMode_t::SUB, score, term);
    };
}

}  // namespace

Score_terms score_terms(Shapes const& shapes, Tensor const& slopes, Tensor const& lengths_q, Tensor const& lengths_k) {
    Score_terms terms;
    if (shapes.alibi == Alibi::ByKey) terms.forward = slopes_by_key(slopes);
    if (shapes.alibi == Alibi::ByDistance)
        terms.forward = slopes_by_distance(slopes, lengths_q, lengths_k, shapes.keys - shapes.queries);
    if (shapes.softcap > 0.0f) {
        modifiers::Capped const cap = modifiers::softcap(shapes.softcap);
        terms.forward = terms.forward ? modifiers::chain(cap.forward, terms.forward) : cap.forward;
        terms.backward = cap.backward;
    }
    return terms;
}

}  // namespace sdpa_graph::flash
