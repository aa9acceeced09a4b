// Score modifiers as programs write them for both sides, over pointwise operations.
#pragma once

#include <cudnn_frontend.h>
#if defined(SDPA_GRAPH_VERSION_MAJOR)
#include <cudnn_frontend/score_modifiers.h>
#endif

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

namespace modifiers {

namespace fe = cudnn_frontend;
using Graph = std::shared_ptr<fe::graph::Graph>;
using TensorPtr = std::shared_ptr<fe::graph::Tensor_attributes>;
using enum fe::PointwiseMode_t;

class Steps {
   public:
    Steps(Graph graph, TensorPtr score) : graph_(std::move(graph)), score_(std::move(score)) {}

    TensorPtr row() { return index(2); }
    TensorPtr column() { return index(3); }
    template <class Number>
    TensorPtr number(Number value) {
        return graph_->tensor(value);
    }
    TensorPtr make(fe::PointwiseMode_t mode, TensorPtr const& a) {
        return typed(graph_->pointwise(a, in(mode, fe::DataType_t::FLOAT)), fe::DataType_t::FLOAT);
    }
    TensorPtr make(fe::PointwiseMode_t mode, TensorPtr const& a, TensorPtr const& b,
                   fe::DataType_t type = fe::DataType_t::FLOAT) {
        return typed(graph_->pointwise(a, b, in(mode, type)), type);
    }
    TensorPtr count(fe::PointwiseMode_t mode, TensorPtr const& a, TensorPtr const& b) {
        return make(mode, a, b, fe::DataType_t::INT32);
    }
    // The scores where the comparison of a and b holds, -inf elsewhere.
    TensorPtr keep_where(fe::PointwiseMode_t mode, TensorPtr const& a, TensorPtr const& b) {
        TensorPtr const inside =
            typed(graph_->pointwise(a, b, in(mode, fe::DataType_t::INT32)), fe::DataType_t::BOOLEAN);
        TensorPtr const fill = number(-std::numeric_limits<float>::infinity());
        auto const select = in(BINARY_SELECT, fe::DataType_t::FLOAT);
        return score_ = typed(graph_->pointwise(score_, fill, inside, select), fe::DataType_t::FLOAT);
    }

   private:
    static fe::graph::Pointwise_attributes in(fe::PointwiseMode_t mode, fe::DataType_t type) {
        return fe::graph::Pointwise_attributes().set_mode(mode).set_compute_data_type(type);
    }
    static TensorPtr typed(TensorPtr tensor, fe::DataType_t type) {
        tensor->set_data_type(type);
        return tensor;
    }
    TensorPtr index(std::int64_t axis) {
        return typed(graph_->pointwise(score_, in(GEN_INDEX, fe::DataType_t::INT32).set_axis(axis)),
                     fe::DataType_t::INT32);
    }

    Graph graph_;
    TensorPtr score_;
};

// Sets the modifier, and its gradient if the attributes have a setter for it.
template <class Attributes>
void softcap(Attributes& options) {
    auto const before = std::make_shared<TensorPtr>();
    options.set_score_mod([before](Graph of, TensorPtr score) {
        Steps at(of, score);
        auto const cap = at.number(20.0f);
        *before = at.make(DIV, score, cap);
        return at.make(MUL, at.make(TANH_FWD, *before), cap);
    });
    if constexpr (requires { &Attributes::set_score_mod_bprop; }) {
        options.set_score_mod_bprop(
            [before](Graph of, TensorPtr gradient) { return Steps(of, gradient).make(TANH_BWD, gradient, *before); });
    }
}

// The gradient passes through the following modifiers unchanged.
template <class Attributes>
void add_distance(Attributes& options) {
    options.set_score_mod([](Graph of, TensorPtr score) {
        Steps at(of, score);
        auto const column = at.column(), row = at.row();
        return at.make(ADD, score, at.make(MUL, at.count(SUB, column, row), at.number(-0.01f)));
    });
}

// Masks by the documents of queries {B, 1, Sq, 1} and of keys {B, 1, 1, Skv}. Engines do not compare two tensors that
// they read.
template <class Attributes>
void keep_documents(Attributes& options, TensorPtr of_queries, TensorPtr of_keys) {
    options.set_score_mod([=](Graph of, TensorPtr score) {
        Steps at(of, score);
        auto const row = at.row();
        return at.keep_where(CMP_EQ, at.count(ADD, at.count(SUB, row, row), of_queries), of_keys);
    });
}

// A causal mask after a prefix {B, 1, 1, 1}.
template <class Attributes>
void keep_prefix(Attributes& options, TensorPtr lengths) {
    options.set_score_mod([=](Graph of, TensorPtr score) {
        Steps at(of, score);
        auto const end = at.count(MAX, at.count(ADD, at.row(), at.number(std::int32_t{1})), lengths);
        return at.keep_where(CMP_GT, end, at.column());
    });
}

// Every second key, 255 to either side.
template <class Attributes>
void keep_grid(Attributes& options) {
    options.set_score_mod([](Graph of, TensorPtr score) {
        Steps at(of, score);
        auto const row = at.row(), column = at.column();
        auto const distance = at.count(SUB, row, column);
        auto const rest = at.count(MOD, distance, at.number(std::int32_t{2}));
        at.keep_where(CMP_LT, distance, at.number(std::int32_t{256}));
        at.keep_where(CMP_GT, distance, at.number(std::int32_t{-256}));
        return at.keep_where(CMP_EQ, rest, at.number(std::int32_t{0}));
    });
}

// The same, by this library's ready modifier if there is one.
template <class Attributes>
void keep_grid_ready_made(Attributes& options) {
#if defined(SDPA_GRAPH_VERSION_MAJOR)
    options.set_score_mod(fe::graph::attn::score_modifiers::dilated_window(256, 2));
#else
    keep_grid(options);
#endif
}

}  // namespace modifiers
