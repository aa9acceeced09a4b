// Hypotheses about options: masks, lengths, and what is done with scores.
#include "api/verification/hypotheses.h"

#include "core/data_type.h"
#include "core/text.h"
#include "nodes/attention/attention_node.h"

#include <cmath>
#include <numbers>

namespace cudnn_frontend::verification {

using core::text;
using nodes::AttentionFields;
using nodes::Node;

TensorId tensor_at(Problem const& problem, int port) {
    for (Node const& node : problem.spec.nodes) {
        if (nodes::attention_fields(node) == nullptr) continue;
        TensorId const id = node.ports[static_cast<std::size_t>(port)];
        if (id != nodes::kNoTensor) return id;
    }
    return nodes::kNoTensor;
}

AttentionFields const& first_fields(Problem const& problem) {
    static AttentionFields const none;
    for (Node const& node : problem.spec.nodes) {
        if (auto const* const fields = nodes::attention_fields(node)) return *fields;
    }
    return none;
}

bool has_memory(Problem const& problem, int port) {
    TensorId const id = tensor_at(problem, port);
    return id != nodes::kNoTensor && problem.data(id) != nullptr;
}

std::optional<double> number_at(Problem const& problem, int port) {
    TensorId const id = tensor_at(problem, port);
    if (id == nodes::kNoTensor) return std::nullopt;
    nodes::TensorSpec const& tensor = problem.tensor(id);
    if (tensor.value) return core::to_double(*tensor.value);
    if (problem.data(id) == nullptr) return std::nullopt;
    return core::load(tensor.data_type, problem.data(id), 0);
}

double scale_of(Problem const& problem) {
    if (auto const number = number_at(problem, attention::AttnScale)) return *number;
    auto const& scale = first_fields(problem).attn_scale;
    return scale ? double{*scale} : 1.0;
}

void rewrite(Problem& problem, TensorId id, std::function<double(Dims const&)> const& value) {
    Elements const old = elements_of(problem, id);
    Memory const memory = Memory::of(old.extent() * core::size_of(old.type));
    Elements copy = old;
    copy.data = memory.data;
    old.for_each([&](Dims const& index) { copy.set(index, value(index)); });
    problem.memory[*problem.tensor(id).uid] = memory;
}

std::function<void(Problem&)> without_ports(std::vector<int> const& ports) {
    return [ports](Problem& problem) {
        for_each_attention(problem, [&](Node& node, AttentionFields&) {
            for (int const port : ports) node.ports[static_cast<std::size_t>(port)] = nodes::kNoTensor;
        });
    };
}

namespace {

bool is_at_end(AttentionFields const& fields) { return fields.diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT; }

DiagonalAlignment_t other(DiagonalAlignment_t corner) {
    return corner == DiagonalAlignment_t::TOP_LEFT ? DiagonalAlignment_t::BOTTOM_RIGHT : DiagonalAlignment_t::TOP_LEFT;
}

// Shortens the axis of queries, or of keys, of all tensors of attention.
void narrow(Problem& problem, attention::Size size, std::int64_t first) {
    std::vector<TensorId> done;
    for_each_attention(problem, [&](Node& node, AttentionFields&) {
        for (attention::Operand const& row : attention::kOperands) {
            TensorId const id = node.ports[static_cast<std::size_t>(row.port)];
            if (id == nodes::kNoTensor || std::ranges::find(done, id) != done.end()) continue;
            nodes::TensorSpec& tensor = problem.tensor(id);
            for (std::size_t axis = 0; axis < 4 && tensor.dim.size() == 4; ++axis) {
                if (row.shape.sizes[axis] != size || tensor.dim[axis] == 1) continue;
                --tensor.dim[axis];
                if (problem.data(id) != nullptr)
                    problem.memory[*tensor.uid].data += first * tensor.stride[axis] * core::size_of(tensor.data_type);
            }
            done.push_back(id);
        }
    });
}

// A causal mask that hides the diagonal as well has no bound of its own: it is the causal mask of the queries without
// the first, or of the keys without the last.
void hide_diagonal(Problem& problem) {
    bool const is_last = is_at_end(first_fields(problem));
    narrow(problem, is_last ? attention::Size::Skv : attention::Size::Sq, is_last ? 0 : 1);
}

void add_bounds(AttentionFields const& fields, Hypotheses& list) {
    auto const add = [&](std::int64_t left, std::int64_t right, char const* id, std::string sentence) {
        list.push_back({id, std::move(sentence), with_fields([left, right](AttentionFields& changed) {
                            if (changed.left_bound) changed.left_bound = *changed.left_bound + left;
                            if (changed.right_bound) changed.right_bound = *changed.right_bound + right;
                        })});
    };
    std::int64_t const left = fields.left_bound.value_or(0), right = fields.right_bound.value_or(0);
    if (fields.left_bound && fields.right_bound) {
        add(-1, 1, "mask_shifted", "the mask is shifted by one key to the right");
        add(1, -1, "mask_shifted", "the mask is shifted by one key to the left");
    }
    if (fields.right_bound) {
        add(0, 1, fields.left_bound ? "right_bound_off_by_one" : "mask_shifted",
            text("one key too many is visible right of the diagonal: right_bound ", right + 1, " in place of ", right));
        if (right > 0)
            add(0, -1, fields.left_bound ? "right_bound_off_by_one" : "mask_shifted",
                text("one key too few is visible right of the diagonal: right_bound ", right - 1, " in place of ",
                     right));
    }
    if (!fields.left_bound) return;
    add(1, 0, "window_off_by_one",
        text("the window is one key too long: left_bound ", left + 1, " in place of ", left,
             ", which counts the diagonal"));
    add(-1, 0, "window_off_by_one",
        text("the window is one key too short: left_bound ", left - 1, " in place of ", left,
             ", which counts the diagonal"));
}

void add_missing_bounds(AttentionFields const& fields, Hypotheses& list) {
    if (fields.left_bound || fields.right_bound) {
        list.push_back(
            {"mask_missing", "the causal mask or the window is missing: all keys are visible",
             with_fields([](AttentionFields& changed) { changed.left_bound = changed.right_bound = std::nullopt; })});
    }
    if (fields.left_bound && fields.right_bound) {
        list.push_back({"causal_mask_missing", "the causal mask is missing: right_bound is ignored",
                        with_fields([](AttentionFields& changed) { changed.right_bound = std::nullopt; })});
        list.push_back({"window_missing", "the window is missing: left_bound is ignored",
                        with_fields([](AttentionFields& changed) { changed.left_bound = std::nullopt; })});
    }
    if (fields.right_bound) return;
    for (auto const corner : {DiagonalAlignment_t::TOP_LEFT, DiagonalAlignment_t::BOTTOM_RIGHT}) {
        list.push_back(
            {"causal_mask_added",
             text("a causal mask with diagonal_alignment ", corner, " is applied, and the graph has no right_bound"),
             with_fields([corner](AttentionFields& changed) {
                 changed.right_bound = 0;
                 changed.diagonal_alignment = corner;
             })});
    }
}

// Queries or keys whose lengths are replaced in memory.
std::function<void(Problem&)> with_lengths(
    std::vector<attention::Port> const& ports,
    std::function<std::int64_t(Problem const&, Dims const&, std::size_t)> const& of) {
    return [ports, of](Problem& problem) {
        for (attention::Port const port : ports) {
            if (!has_memory(problem, port)) continue;
            TensorId const id = tensor_at(problem, port);
            Elements const old = elements_of(problem, id);
            Dims lengths;
            old.for_each([&](Dims const& index) { lengths.push_back(std::llround(old.get(index))); });
            rewrite(problem, id, [&](Dims const& index) {
                return static_cast<double>(of(problem, lengths, static_cast<std::size_t>(index[0])));
            });
        }
    };
}

std::string scale_text(double scale) { return core::shortest_text(static_cast<float>(scale)); }

std::function<void(Problem&)> with_scale(double scale) {
    return [scale](Problem& problem) {
        without_ports({attention::AttnScale})(problem);
        with_fields([scale](AttentionFields& fields) { fields.attn_scale = static_cast<float>(scale); })(problem);
    };
}

// Attention continues with its own scores.
void remove_modifier(Problem& problem) {
    for_each_attention(problem, [](Node& node, AttentionFields&) {
        for (auto const port : {attention::Score, attention::ScoreMod, attention::DScore, attention::DScoreMod}) {
            node.ports[static_cast<std::size_t>(port)] = nodes::kNoTensor;
        }
        node.modifier.clear();
    });
}

}  // namespace

void add_mask_hypotheses(Problem const& problem, Hypotheses& list) {
    AttentionFields const& fields = first_fields(problem);
    bool const has_band = fields.left_bound || fields.right_bound;
    if (has_band) {
        list.push_back({"mask_corner",
                        text("the mask is aligned at the other corner: diagonal_alignment ",
                             other(fields.diagonal_alignment), " in place of ", fields.diagonal_alignment),
                        with_fields([](AttentionFields& changed) {
                            changed.diagonal_alignment = other(changed.diagonal_alignment);
                        })});
    }
    add_missing_bounds(fields, list);
    add_bounds(fields, list);
    bool const can_hide = fields.right_bound == 0 && !fields.left_bound && !fields.padding_mask;
    if (can_hide)
        list.push_back({"mask_shifted", "the diagonal is masked as well: the mask is shifted by one key to the left",
                        hide_diagonal});
}

void add_length_hypotheses(Problem const& problem, Hypotheses& list) {
    AttentionFields const& fields = first_fields(problem);
    // Other lengths of packed sequences or of pages would reach beyond their memory.
    bool const is_packed = std::ranges::any_of(
        problem.spec.tensors, [](nodes::TensorSpec const& tensor) { return tensor.ragged_offset != nodes::kNoTensor; });
    bool const has_pages = tensor_at(problem, attention::PageTableK) != nodes::kNoTensor ||
                           tensor_at(problem, attention::PageTableV) != nodes::kNoTensor;
    if (!fields.padding_mask || is_packed || has_pages) return;
    list.push_back({"padding_ignored", "the lengths of the sequences are ignored: padding is visible",
                    with_fields([](AttentionFields& changed) { changed.padding_mask = false; })});
    if (!has_memory(problem, attention::SeqLenKv) || !has_memory(problem, attention::K)) return;
    list.push_back({"padding_ignored", "the lengths of the keys are ignored: keys in the padding are visible",
                    with_lengths({attention::SeqLenKv}, [](Problem const& changed, Dims const&, std::size_t) {
                        return changed.tensor(tensor_at(changed, attention::K)).dim[2];
                    })});
    auto const first_length = [](Problem const&, Dims const& lengths, std::size_t) { return lengths.front(); };
    list.push_back({"lengths_of_first", "the number of keys of the first batch entry is used for all",
                    with_lengths({attention::SeqLenKv}, first_length)});
    list.push_back({"lengths_of_first", "the lengths of the first batch entry are used for all",
                    with_lengths({attention::SeqLenQ, attention::SeqLenKv}, first_length)});
    for (std::int64_t const change : {-1, 1}) {
        list.push_back(
            {"lengths_off_by_one", text("the sequences of keys are read one key too ", change < 0 ? "short" : "long"),
             with_lengths({attention::SeqLenKv}, [change](Problem const& changed, Dims const& lengths, std::size_t b) {
                 return std::clamp<std::int64_t>(lengths[b] + change, 0,
                                                 changed.tensor(tensor_at(changed, attention::K)).dim[2]);
             })});
    }
}

static void add_scales(Problem const& problem, Hypotheses& list) {
    double const scale = scale_of(problem);
    double const usual = 1.0 / std::sqrt(static_cast<double>(problem.tensor(tensor_at(problem, attention::Q)).dim[3]));
    auto const add = [&](double other_scale, char const* id, std::string const& sentence) {
        if (std::abs(other_scale - scale) > 1e-3 * std::abs(scale))
            list.push_back({id, sentence + ": " + scale_text(other_scale) + " in place of " + scale_text(scale),
                            with_scale(other_scale)});
    };
    add(1.0, "scale_missing", "the scores are not scaled");
    add(usual, "scale_default", "the scale is 1 over the square root of the head dim");
    add(scale * scale, "scale_twice", "the scale is applied twice");
    add(scale * std::numbers::ln2, "softmax_base_2", "softmax is computed in base 2 without the factor log2(e)");
    add(scale * std::numbers::log2e, "softmax_base_2",
        "the factor log2(e) is applied twice, or with a softmax in base e");
}

void add_score_hypotheses(Problem const& problem, Hypotheses& list) {
    using namespace attention;
    AttentionFields const& fields = first_fields(problem);
    add_scales(problem, list);
    if (tensor_at(problem, Stats) != nodes::kNoTensor) {
        list.push_back(
            {"stats_base",
             fields.stats_use_log2 ? "Stats are in base e in place of base 2: the graph sets stats_use_log2"
                                   : "Stats are in base 2 in place of base e",
             with_fields([](AttentionFields& changed) { changed.stats_use_log2 = !changed.stats_use_log2; })});
    }
    if (tensor_at(problem, Bias) != nodes::kNoTensor) {
        list.push_back({"bias_left_out", "the bias is left out", without_ports({Bias, DBias})});
        double const scale = scale_of(problem);
        if (has_memory(problem, Bias) && scale != 1.0) {
            list.push_back({"bias_scaled", "the bias is added before the scores are scaled", [scale](Problem& changed) {
                                TensorId const id = tensor_at(changed, Bias);
                                Elements const old = elements_of(changed, id);
                                rewrite(changed, id, [&](Dims const& index) { return scale * old.get(index); });
                            }});
        }
    }
    if (tensor_at(problem, ScoreMod) != nodes::kNoTensor)
        list.push_back({"modifier_left_out", "the score modifier, such as a softcap, is left out", remove_modifier});
    if (fields.alibi_mask)
        list.push_back({"alibi_left_out", "the ALiBi mask is left out",
                        with_fields([](AttentionFields& changed) { changed.alibi_mask = false; })});
    if (tensor_at(problem, SinkToken) != nodes::kNoTensor)
        list.push_back({"sink_left_out", "the sink token is left out", without_ports({SinkToken, DSinkToken})});
    bool const has_dropout = fields.dropout_probability || tensor_at(problem, DropoutMask) != nodes::kNoTensor;
    if (has_dropout) {
        list.push_back({"dropout_left_out", "dropout is left out", [](Problem& changed) {
                            without_ports({Seed, Offset, DropoutMask, DropoutScale, DropoutScaleInv, RngDump})(changed);
                            with_fields([](AttentionFields& each) { each.dropout_probability = std::nullopt; })(
                                changed);
                        }});
    }
    if (tensor_at(problem, BlockMask) != nodes::kNoTensor)
        list.push_back({"block_mask_left_out", "the block mask is left out", without_ports({BlockMask})});
}

std::vector<Hypothesis> hypotheses_of(Problem const& problem) {
    Hypotheses list;
    if (tensor_at(problem, attention::Q) == nodes::kNoTensor) return list;
    add_mask_hypotheses(problem, list);
    add_length_hypotheses(problem, list);
    add_score_hypotheses(problem, list);
    add_memory_hypotheses(problem, list);
    add_gradient_hypotheses(problem, list);
    return list;
}

}  // namespace cudnn_frontend::verification
