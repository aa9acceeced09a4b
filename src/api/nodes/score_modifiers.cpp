#include <cudnn_frontend/score_modifiers.h>

#include "api/graph/graph_impl.h"
#include "nodes/schema/wording.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace cudnn_frontend::graph::attn::score_modifiers {
namespace {

using enum PointwiseMode_t;

Tensor_ptr refuse(Graph_ptr const& graph, std::string found, std::string needed) {
    detail::Graph_access::refuse_modifier(*graph, std::move(found), std::move(needed));
    return nullptr;
}

// The form that a modifier requires of a tensor: dims of 1 where it must broadcast over the scores.
struct WantedForm {
    char const* what;  // "alibi()'s slopes"
    char const* form;  // the form as text
    std::initializer_list<std::size_t> single;
    bool is_integer;
};

bool fits(Graph_ptr const& graph, Tensor_ptr const& tensor, WantedForm const& wanted) {
    auto const report = [&](std::string found) {
        refuse(graph, std::move(found), wanted.form);
        return false;
    };
    if (!tensor) return report(nodes::text("no tensor for ", wanted.what));
    core::Dims const dim = tensor->get_dim();
    DataType_t const type = tensor->get_data_type();
    auto const is_wide = [&](std::size_t i) { return dim.size() == 4 && dim[i] != 1; };
    if (std::ranges::any_of(wanted.single, is_wide)) return report(nodes::text(wanted.what, " with dims ", dim));
    bool const is_integer = type == DataType_t::INT32 || type == DataType_t::INT64;
    if (!wanted.is_integer || type == DataType_t::NOT_SET || is_integer) return true;
    return report(nodes::text(wanted.what, " of type ", type));
}

// Adds the nodes of one modifier, named after it.
class ModifierSteps {
   public:
    ModifierSteps(Graph& graph, Tensor_ptr score, char const* name)
        : graph_(graph), score_(std::move(score)), name_(name) {}

    Tensor_ptr const& score() const { return score_; }
    Tensor_ptr row() { return index(2, "row"); }
    Tensor_ptr column() { return index(3, "column"); }

    Tensor_ptr number(float value) { return graph_.tensor(value); }
    Tensor_ptr integer(std::int64_t value) { return graph_.tensor(static_cast<std::int32_t>(value)); }

    Tensor_ptr make(PointwiseMode_t mode, Tensor_ptr const& a, char const* step) {
        return typed(graph_.pointwise(a, options(mode, DataType_t::FLOAT, step)), DataType_t::FLOAT);
    }
    Tensor_ptr make(PointwiseMode_t mode, Tensor_ptr const& a, Tensor_ptr const& b, char const* step,
                    DataType_t type = DataType_t::FLOAT) {
        return typed(graph_.pointwise(a, b, options(mode, type, step)), type);
    }
    Tensor_ptr count(PointwiseMode_t mode, Tensor_ptr const& a, Tensor_ptr const& b, char const* step) {
        return make(mode, a, b, step, DataType_t::INT32);
    }
    Tensor_ptr compare(PointwiseMode_t mode, Tensor_ptr const& a, Tensor_ptr const& b, char const* step,
                       DataType_t type = DataType_t::INT32) {
        auto const compute = options(mode, type, step);
        return typed(graph_.pointwise(a, b, compute), DataType_t::BOOLEAN);
    }
    Tensor_ptr both(Tensor_ptr const& a, Tensor_ptr const& b) {
        return make(LOGICAL_AND, a, b, "both", DataType_t::BOOLEAN);
    }
    Tensor_ptr keep_where(Tensor_ptr const& predicate) {
        auto const select = options(BINARY_SELECT, DataType_t::FLOAT, "scores");
        return score_ = typed(graph_.pointwise(score_, number(get_negative_inf_value()), predicate, select),
                              DataType_t::FLOAT);
    }

   private:
    Pointwise_attributes options(PointwiseMode_t mode, DataType_t compute, char const* step) const {
        return Pointwise_attributes().set_name(name_ + "_" + step).set_mode(mode).set_compute_data_type(compute);
    }
    static Tensor_ptr typed(Tensor_ptr tensor, DataType_t type) {
        tensor->set_data_type(type);
        return tensor;
    }
    Tensor_ptr index(std::int64_t axis, char const* step) {
        return typed(graph_.pointwise(score_, options(GEN_INDEX, DataType_t::INT32, step).set_axis(axis)),
                     DataType_t::INT32);
    }

    Graph& graph_;
    Tensor_ptr score_;
    std::string name_;
};

// j - i as an addend of its score.
Tensor_ptr add_distance(ModifierSteps& at, Tensor_ptr const& factor) {
    Tensor_ptr const distance = at.count(SUB, at.column(), at.row(), "distance");
    return at.make(ADD, at.score(), at.make(MUL, distance, factor, "bias"), "scores");
}

// Whether the distance is a multiple of the step, for distances up to `most`. Integer division is slow on GPUs: where
// floating point is exact enough, the remainder comes from a division with half a unit added, so that rounding cannot
// change it.
Tensor_ptr is_multiple(ModifierSteps& at, Tensor_ptr const& distance, std::int32_t step, std::int32_t most) {
    constexpr std::int32_t kMostInFloat = 1 << 20;
    if (most > kMostInFloat) {
        Tensor_ptr const rest = at.count(MOD, distance, at.integer(step), "rest");
        return at.compare(CMP_EQ, rest, at.integer(0), "on_grid");
    }
    float const share = 1.0f / static_cast<float>(step);
    Tensor_ptr const steps = at.make(MUL, distance, at.number(share), "steps");
    Tensor_ptr const middle = at.make(ADD, steps, at.number(0.5f * share), "middle");
    Tensor_ptr const rest = at.make(SUB, middle, at.make(FLOOR, middle, "full_steps"), "rest");
    return at.compare(CMP_LT, rest, at.number(share), "on_grid", DataType_t::FLOAT);
}

// Keys and queries of a batch entry: lengths where they are given.
struct BatchLengths {
    Tensor_ptr queries, keys;

    BatchLengths(ModifierSteps& at, std::int64_t q, std::int64_t kv, Tensor_ptr const& seq_len_q,
                 Tensor_ptr const& seq_len_kv)
        : queries(seq_len_q ? seq_len_q : at.integer(q)), keys(seq_len_kv ? seq_len_kv : at.integer(kv)) {}
};

// The lengths that shift the diagonal to the bottom right corner; empty if both corners have the same diagonal.
std::optional<BatchLengths> shift_of(ModifierSteps& at, std::int64_t queries, std::int64_t keys,
                                     Tensor_ptr const& seq_len_q, Tensor_ptr const& seq_len_kv) {
    if (!seq_len_q && !seq_len_kv && queries == keys) return std::nullopt;
    return BatchLengths(at, queries, keys, seq_len_q, seq_len_kv);
}

// row + keys - queries + bound >= column
void mask_right(ModifierSteps& at, std::optional<BatchLengths> const& lengths, std::int64_t bound) {
    Tensor_ptr row = at.row();
    Tensor_ptr const column = at.column();
    if (lengths) {
        row = at.count(ADD, row, lengths->keys, "row_plus_keys");
        row = at.count(SUB, row, lengths->queries, "shifted_row");
    }
    if (bound != 0) row = at.count(ADD, row, at.integer(bound), "last_column");
    at.keep_where(at.compare(CMP_GE, row, column, "inside"));
}

// column + bound - keys + queries > row
void mask_left(ModifierSteps& at, std::optional<BatchLengths> const& lengths, std::int64_t bound) {
    Tensor_ptr const row = at.row();
    Tensor_ptr column = at.count(ADD, at.column(), at.integer(bound), "column_plus_bound");
    if (lengths) {
        column = at.count(SUB, column, lengths->keys, "column_minus_keys");
        column = at.count(ADD, column, lengths->queries, "shifted_column");
    }
    at.keep_where(at.compare(CMP_GT, column, row, "inside"));
}

}  // namespace

float get_negative_inf_value() { return -std::numeric_limits<float>::infinity(); }

// NOLINTBEGIN(performance-unnecessary-value-param): the signatures that programs call and bind are by value

Tensor_ptr bias(Graph_ptr graph, Tensor_ptr score, Tensor_ptr bias) {
    ModifierSteps at(*graph, score, "bias");
    return at.make(ADD, score, bias, "scores");
}

Tensor_ptr causal_mask(Graph_ptr graph, Tensor_ptr score) {
    ModifierSteps at(*graph, score, "causal_mask");
    mask_right(at, std::nullopt, 0);
    return at.score();
}

Tensor_ptr causal_mask_bottom_right(Graph_ptr graph, Tensor_ptr score, std::int64_t queries, std::int64_t keys,
                                    Tensor_ptr seq_len_q, Tensor_ptr seq_len_kv) {
    ModifierSteps at(*graph, score, "causal_mask");
    mask_right(at, shift_of(at, queries, keys, seq_len_q, seq_len_kv), 0);
    return at.score();
}

Tensor_ptr padding_mask(Graph_ptr graph, Tensor_ptr score, Tensor_ptr seq_len_kv, Tensor_ptr seq_len_q) {
    ModifierSteps at(*graph, score, "padding_mask");
    Tensor_ptr const row = at.row(), column = at.column();
    return at.keep_where(at.both(at.compare(CMP_LT, row, seq_len_q, "inside_rows"),
                                 at.compare(CMP_LT, column, seq_len_kv, "inside_columns")));
}

Tensor_ptr sliding_window_mask(Graph_ptr graph, Tensor_ptr score, DiagonalAlignment_t alignment,
                               std::optional<std::int64_t> left, std::optional<std::int64_t> right,
                               std::int64_t queries, std::int64_t keys, Tensor_ptr seq_len_q, Tensor_ptr seq_len_kv) {
    if (left.value_or(1) < 1)
        return refuse(graph, nodes::text("sliding_window_mask() with a left bound of ", *left), "at least 1");
    if (right.value_or(0) < 0)
        return refuse(graph, nodes::text("sliding_window_mask() with a right bound of ", *right), "at least 0");
    ModifierSteps at(*graph, score, "sliding_window");
    std::optional<BatchLengths> lengths;
    if (alignment == DiagonalAlignment_t::BOTTOM_RIGHT) lengths = shift_of(at, queries, keys, seq_len_q, seq_len_kv);
    std::int64_t const widest = queries + keys;  // a bound from there on masks nothing
    if (right && *right < widest) mask_right(at, lengths, *right);
    if (left && *left < widest) mask_left(at, lengths, *left);
    return at.score();
}

Tensor_ptr alibi_mask(Graph_ptr graph, Tensor_ptr score, Tensor_ptr& slopes, std::int64_t heads,
                      std::int64_t& bytes_of_slopes) {
    slopes = graph->tensor(Tensor_attributes()
                               .set_name("alibi_slopes")
                               .set_dim({1, heads, 1, 1})
                               .set_stride({heads, 1, 1, 1})
                               .set_data_type(DataType_t::FLOAT));
    bytes_of_slopes = heads * static_cast<std::int64_t>(sizeof(float));
    ModifierSteps at(*graph, score, "alibi");
    return add_distance(at, slopes);
}

Tensor_ptr Softcap::forward(Graph_ptr graph, Tensor_ptr score, Tensor_ptr cap) {
    ModifierSteps at(*graph, score, "softcap");
    before_tanh_ = at.make(DIV, score, cap, "before_tanh");
    return at.make(MUL, at.make(TANH_FWD, before_tanh_, "tanh"), cap, "scores");
}

Tensor_ptr Softcap::backward(Graph_ptr graph, Tensor_ptr gradient, Tensor_ptr cap) {
    Tensor_ptr const before_tanh = std::exchange(before_tanh_, nullptr);  // it belongs to this node alone
    if (!before_tanh || !detail::Graph_access::owns(*graph, *before_tanh)) {
        return refuse(graph, "softcap's backward, whose forward this node has not called",
                      "forward and backward of one softcap() on the same node of a graph");
    }
    ModifierSteps at(*graph, gradient, "softcap");
    Tensor_ptr const scaled = at.make(MUL, gradient, cap, "scaled_gradient");
    return at.make(DIV, at.make(TANH_BWD, scaled, before_tanh, "tanh_gradient"), cap, "gradient");
}

// NOLINTEND(performance-unnecessary-value-param)

detail::Score_modifier alibi(Tensor_ptr slopes) {
    return [slopes = std::move(slopes)](Graph_ptr const& graph, Tensor_ptr const& score) {
        if (!fits(graph, slopes, {"alibi()'s slopes", "a tensor {1, Hq, 1, 1}", {2, 3}, false})) return Tensor_ptr();
        ModifierSteps at(*graph, score, "alibi");
        return add_distance(at, slopes);
    };
}

detail::Score_modifier relative_bias(float factor) {
    return [factor](Graph_ptr const& graph, Tensor_ptr const& score) {
        if (!std::isfinite(factor))
            return refuse(graph, nodes::text("relative_bias() with ", factor), "a finite factor");
        ModifierSteps at(*graph, score, "relative_bias");
        return add_distance(at, at.number(factor));
    };
}

detail::Score_modifier document_mask(Tensor_ptr documents_of_queries, Tensor_ptr documents_of_keys) {
    return [of_queries = std::move(documents_of_queries), of_keys = std::move(documents_of_keys)](
               Graph_ptr const& graph, Tensor_ptr const& score) {
        if (of_queries && of_queries == of_keys) {  // it would mask nothing
            return refuse(graph, "document_mask() with one tensor for queries and keys",
                          "two tensors, which may point to the same numbers when the graph runs");
        }
        bool const fit_queries = fits(
            graph, of_queries, {"document_mask()'s documents of queries", "INT32 or INT64 {B, 1, Sq, 1}", {3}, true});
        bool const fit_keys =
            fits(graph, of_keys, {"document_mask()'s documents of keys", "INT32 or INT64 {B, 1, 1, Skv}", {2}, true});
        if (!fit_queries || !fit_keys) return Tensor_ptr();
        ModifierSteps at(*graph, score, "document_mask");
        return at.keep_where(at.compare(CMP_EQ, of_queries, of_keys, "same"));
    };
}

detail::Score_modifier prefix_lm(Tensor_ptr prefix_lengths) {
    return [prefix_lengths = std::move(prefix_lengths)](Graph_ptr const& graph, Tensor_ptr const& score) {
        if (!fits(graph, prefix_lengths, {"prefix_lm()'s lengths", "INT32 or INT64 {B, 1, 1, 1}", {2, 3}, true}))
            return Tensor_ptr();
        ModifierSteps at(*graph, score, "prefix_lm");
        // j <= i or j < prefix, in one comparison
        Tensor_ptr const seen = at.count(ADD, at.row(), at.integer(1), "seen");
        Tensor_ptr const end = at.count(MAX, seen, prefix_lengths, "end");
        return at.keep_where(at.compare(CMP_GT, end, at.column(), "inside"));
    };
}

detail::Score_modifier dilated_window(std::int32_t reach, std::int32_t dilation) {
    return [reach, dilation](Graph_ptr const& graph, Tensor_ptr const& score) {
        if (reach < 1 || dilation < 1) {
            return refuse(graph,
                          nodes::text("dilated_window() with a reach of ", reach, " and a dilation of ", dilation),
                          "at least 1 of both");
        }
        ModifierSteps at(*graph, score, "dilated_window");
        Tensor_ptr const distance = at.count(SUB, at.row(), at.column(), "distance");
        Tensor_ptr const is_on_grid = is_multiple(at, distance, dilation, reach);
        at.keep_where(at.compare(CMP_LT, distance, at.integer(reach), "not_before"));
        at.keep_where(at.compare(CMP_GT, distance, at.integer(-std::int64_t{reach}), "not_after"));
        return at.keep_where(is_on_grid);
    };
}

detail::Score_modifier chain(detail::Score_modifier first, detail::Score_modifier second) {
    return [first = std::move(first), second = std::move(second)](Graph_ptr const& graph, Tensor_ptr const& score) {
        Tensor_ptr const between = first ? first(graph, score) : score;
        if (between) return second ? second(graph, between) : between;
        if (second) second(graph, score);  // so that its faults are reported too
        return Tensor_ptr();
    };
}

Capped softcap(float cap) {
    auto const shared = std::make_shared<Softcap>();
    auto const with_cap = [cap](auto const& apply) {
        return [cap, apply](Graph_ptr const& graph, Tensor_ptr const& tensor) {
            if (!(cap > 0.0f) || !std::isfinite(cap)) {
                return refuse(graph, nodes::text("softcap() with ", cap), "a finite cap above 0");
            }
            return apply(graph, tensor, graph->tensor(cap));
        };
    };
    return {with_cap([shared](Graph_ptr const& graph, Tensor_ptr const& score, Tensor_ptr const& cap_tensor) {
                return shared->forward(graph, score, cap_tensor);
            }),
            with_cap([shared](Graph_ptr const& graph, Tensor_ptr const& gradient, Tensor_ptr const& cap_tensor) {
                return shared->backward(graph, gradient, cap_tensor);
            })};
}

}  // namespace cudnn_frontend::graph::attn::score_modifiers
