// A class of calls as a graph.
#include "functions/attention/shapes.h"

#include <cudnn_frontend/score_modifiers.h>

namespace sdpa_graph::attention {
namespace {

using enum Argument;
using Attributes = fe::graph::Tensor_attributes;
using Tensor = std::shared_ptr<Attributes>;
namespace modifiers = fe::graph::attn::score_modifiers;

// Makes the tensors of one graph.
class Builder {
   public:
    Builder(Shapes const& shapes, fe::graph::Graph& graph) : shapes_(shapes), graph_(graph) {
        if (shapes.has_lengths) {
            lengths_q_ = integers("lengths of q", static_cast<int>(Extra::LengthsQ), DataType_t::INT32, shapes.slots);
            lengths_kv_ =
                integers("lengths of kv", static_cast<int>(Extra::LengthsKv), DataType_t::INT32, shapes.slots);
        }
        for (Argument const argument : kRowTensors) {
            if (!shapes.has_table(argument)) continue;
            int const uid = static_cast<int>(Extra::FirstStarts) + static_cast<int>(argument);
            starts_[static_cast<std::size_t>(argument)] = integers("starts", uid, DataType_t::INT64, shapes.slots + 1);
        }
    }

    Tensor input(Argument argument) { return shapes_.has(argument) ? graph_.tensor(like(argument)) : nullptr; }
    void write(Tensor const& result, Argument argument) { *result = like(argument).set_output(true); }

    // The options that forward and backward share.
    template <class Options>
    void set(Options& options);

   private:
    Tensor integers(char const* name, int uid, DataType_t type, std::int64_t count) {
        return graph_.tensor(Attributes()
                                 .set_name(name)
                                 .set_uid(uid)
                                 .set_data_type(type)
                                 .set_dim({count, 1, 1, 1})
                                 .set_stride({1, 1, 1, 1}));
    }
    Tensor number(char const* name, int uid) {
        return graph_.tensor(Attributes()
                                 .set_name(name)
                                 .set_uid(uid)
                                 .set_data_type(DataType_t::INT64)
                                 .set_dim({1, 1, 1, 1})
                                 .set_stride({1, 1, 1, 1})
                                 .set_alignment(8));
    }
    Attributes like(Argument argument) const {
        Layout const& layout = shapes_.of(argument);
        Attributes attributes;
        attributes.set_name(name_of(argument))
            .set_uid(static_cast<int>(argument))
            .set_data_type(layout.type)
            .set_dim({layout.dim.begin(), layout.dim.end()})
            .set_stride({layout.stride.begin(), layout.stride.end()});
        if (layout.starts) attributes.set_ragged_offset(starts_[static_cast<std::size_t>(*layout.starts)]);
        return attributes;
    }

    Shapes const& shapes_;
    fe::graph::Graph& graph_;
    Tensor lengths_q_, lengths_kv_;
    std::array<Tensor, kArguments> starts_;
};

template <class Options>
void Builder::set(Options& options) {
    using enum fe::DiagonalAlignment_t;
    options.set_name("attention").set_attn_scale(shapes_.scale).set_alibi_mask(shapes_.has_alibi);
    options.set_diagonal_alignment(shapes_.is_bottom_right ? BOTTOM_RIGHT : TOP_LEFT);
    if (shapes_.left_bound) options.set_diagonal_band_left_bound(static_cast<int>(*shapes_.left_bound));
    if (shapes_.right_bound) options.set_diagonal_band_right_bound(static_cast<int>(*shapes_.right_bound));
    if (shapes_.has_lengths) options.set_padding_mask(true).set_seq_len_q(lengths_q_).set_seq_len_kv(lengths_kv_);
    if (shapes_.has(Bias)) options.set_bias(input(Bias));
    if (shapes_.has(Sink)) options.set_sink_token(input(Sink));
    if (shapes_.dropout_p > 0.0f)
        options.set_dropout(shapes_.dropout_p, number("seed", static_cast<int>(Seed)),
                            number("offset", static_cast<int>(Extra::FirstStarts) + static_cast<int>(Seed)));
}

void describe_forward(Shapes const& shapes, fe::graph::Graph& graph) {
    Builder build(shapes, graph);
    Tensor const q = build.input(Q), k = build.input(K), v = build.input(V);
    fe::graph::SDPA_attributes options;
    build.set(options);
    options.set_generate_stats(shapes.has(Stats));
    if (shapes.softcap > 0.0f) options.set_score_mod(modifiers::softcap(shapes.softcap).forward);
    if (Tensor const table = build.input(PageTable)) {
        options.set_paged_attention_k_table(table).set_paged_attention_v_table(table);
        options.set_paged_attention_max_seq_len_kv(static_cast<int>(shapes.longest_kv));
    }
    auto const [o, stats] = graph.sdpa(q, k, v, options);
    build.write(o, O);
    if (shapes.has(Stats)) build.write(stats, Stats);
}

void describe_backward(Shapes const& shapes, fe::graph::Graph& graph) {
    Builder build(shapes, graph);
    Tensor const q = build.input(Q), k = build.input(K), v = build.input(V);
    Tensor const o = build.input(O), grad_o = build.input(GradO), stats = build.input(Stats);
    fe::graph::SDPA_backward_attributes options;
    build.set(options);
    options.set_deterministic_algorithm(shapes.is_deterministic);
    if (shapes.has(DBias)) options.set_dbias(build.input(DBias));
    if (shapes.has(DSink)) options.set_dsink_token(build.input(DSink));
    if (shapes.softcap > 0.0f) {
        auto const cap = modifiers::softcap(shapes.softcap);
        options.set_score_mod(cap.forward).set_score_mod_bprop(cap.backward);
    }
    auto const [dq, dk, dv] = graph.sdpa_backward(q, k, v, o, grad_o, stats, options);
    build.write(dq, DQ);
    build.write(dk, DK);
    build.write(dv, DV);
}

}  // namespace

void describe(Shapes const& shapes, fe::graph::Graph& graph) {
    graph.set_io_data_type(shapes.of(Q).type)
        .set_intermediate_data_type(DataType_t::FLOAT)
        .set_compute_data_type(DataType_t::FLOAT)
        .set_name(shapes.is_backward ? "attention, backward" : "attention");
    if (shapes.is_backward) describe_backward(shapes, graph);
    else describe_forward(shapes, graph);
}

}  // namespace sdpa_graph::attention
