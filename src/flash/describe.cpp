#include "flash/shapes.h"

#include "core/dims.h"

#include <algorithm>

namespace sdpa_graph::flash {
namespace {

using enum Argument;
using enum Extra;
using Attributes = fe::graph::Tensor_attributes;

// Makes the tensors of one graph.
class Builder {
   public:
    Builder(Shapes const& shapes, fe::graph::Graph& graph)
        : shapes_(shapes), graph_(graph), starts_(starts_of(shapes)) {
        if (!shapes.is_packed) return;
        lengths_q_ = integers("lengths of q", static_cast<int>(LengthsQ), DataType_t::INT32, shapes.slots);
        lengths_k_ = integers("lengths of k", static_cast<int>(LengthsK), DataType_t::INT32, shapes.slots);
        for (StartTable const& starts : starts_) {
            int const uid = static_cast<int>(FirstStarts) + static_cast<int>(start_tensors_.size());
            start_tensors_.push_back(
                integers(starts.is_of_keys ? "starts in k" : "starts in q", uid, DataType_t::INT64, shapes.slots + 1));
        }
    }

    Tensor rows(Argument argument) { return graph_.tensor(like(argument, shapes_.type)); }
    Tensor log_sums() { return graph_.tensor(like(SoftmaxLse, DataType_t::FLOAT)); }
    void write_rows(Tensor const& result, Argument argument) { write(result, like(argument, shapes_.type)); }
    void write_log_sums(Tensor const& result) { write(result, like(SoftmaxLse, DataType_t::FLOAT)); }

    // Options that forward and backward share.
    template <class Options>
    void set(Options& options);
    Score_terms terms();
    Tensor dropped();
    Tensor page_table();

   private:
    static Attributes tensor(char const* name, int uid, DataType_t type, fe::core::Dims const& dim,
                             fe::core::Dims const& stride) {
        return Attributes().set_name(name).set_uid(uid).set_data_type(type).set_dim(dim).set_stride(stride);
    }
    Tensor integers(char const* name, int uid, DataType_t type, std::int64_t count) {
        return graph_.tensor(tensor(name, uid, type, {count, 1, 1, 1}, {1, 1, 1, 1}));
    }
    Tensor number(Argument argument) {
        return graph_.tensor(
            tensor(name_of(argument), static_cast<int>(argument), DataType_t::INT64, {1, 1, 1, 1}, {1, 1, 1, 1})
                .set_alignment(8));
    }
    static void write(Tensor const& result, Attributes const& wanted) { *result = Attributes(wanted).set_output(true); }
    Attributes packed(Attributes attributes, Argument argument) {
        if (auto const starts = starts_of(shapes_, argument)) {
            auto const at = std::find(starts_.begin(), starts_.end(), *starts) - starts_.begin();
            attributes.set_ragged_offset(start_tensors_[static_cast<std::size_t>(at)]);
        }
        return attributes;
    }
    Attributes like(Argument argument, DataType_t type) {
        ShapeInGraph const shape = shape_in_graph(shapes_, argument);
        auto const dims = [](Few_dims const& sizes) { return fe::core::Dims(sizes.begin(), sizes.end()); };
        return packed(tensor(name_of(argument), static_cast<int>(argument), type, dims(shape.dim), dims(shape.stride)),
                      argument);
    }

    Shapes const& shapes_;
    fe::graph::Graph& graph_;
    fe::core::ShortList<StartTable, fe::rows::kMostOffsets> starts_;
    std::vector<Tensor> start_tensors_;
    Tensor lengths_q_, lengths_k_;  // of packed sequences
};

// If both corners have the same diagonal, cuDNN supports more options with the upper one, and is faster in backward.
template <class Options>
void Builder::set(Options& options) {
    options.set_name("attention").set_attn_scale(shapes_.scale);
    options.set_diagonal_alignment(shapes_.is_square ? fe::DiagonalAlignment_t::TOP_LEFT
                                                     : fe::DiagonalAlignment_t::BOTTOM_RIGHT);
    if (shapes_.band.left) options.set_diagonal_band_left_bound(static_cast<int>(*shapes_.band.left + 1));
    if (shapes_.band.right) options.set_diagonal_band_right_bound(static_cast<int>(*shapes_.band.right));
    if (shapes_.is_packed) options.set_padding_mask(true).set_seq_len_q(lengths_q_).set_seq_len_kv(lengths_k_);
    if (shapes_.p_dropout > 0.0f) options.set_dropout(shapes_.p_dropout, number(Seed), number(Offset));
}

Score_terms Builder::terms() {
    if (shapes_.alibi == Alibi::None) return score_terms(shapes_, nullptr, nullptr, nullptr);
    std::int64_t const entries = shapes_.slope_stride == 0 ? 1 : shapes_.slots;
    Tensor const slopes = graph_.tensor(tensor(name_of(AlibiSlopes), static_cast<int>(AlibiSlopes), DataType_t::FLOAT,
                                               {entries, shapes_.heads, 1, 1}, {shapes_.slope_stride, 1, 1, 1}));
    return score_terms(shapes_, slopes, lengths_q_, lengths_k_);
}

Tensor Builder::dropped() {
    fe::core::Dims const dim = {shapes_.slots, shapes_.heads, shapes_.queries, shapes_.keys};
    return graph_.tensor(
        tensor("dropout mask", static_cast<int>(Dropped), DataType_t::FLOAT, dim, row_major(dim)).set_output(true));
}

Tensor Builder::page_table() {
    std::int64_t const columns = shapes_.page_columns();
    return graph_.tensor(tensor(name_of(BlockTable), static_cast<int>(BlockTable), DataType_t::INT32,
                                {shapes_.slots, 1, columns, 1}, {columns, columns, 1, 1}));
}

void describe_forward(Shapes const& shapes, fe::graph::Graph& graph) {
    Builder build(shapes, graph);
    Tensor const q = build.rows(Q), k = build.rows(K), v = build.rows(V);
    fe::graph::SDPA_attributes options;
    build.set(options);
    options.set_generate_stats(true);
    if (Score_terms const terms = build.terms(); terms.forward) options.set_score_mod(terms.forward);
    if (shapes.dumps_dropout) options.set_rng_dump(build.dropped());
    if (shapes.has_pages) {
        Tensor const table = build.page_table();
        options.set_paged_attention_k_table(table).set_paged_attention_v_table(table);
        options.set_paged_attention_max_seq_len_kv(static_cast<int>(shapes.keys));
    }
    auto const [out, log_sums] = graph.sdpa(q, k, v, options);
    build.write_rows(out, Out);
    build.write_log_sums(log_sums);
}

void describe_backward(Shapes const& shapes, fe::graph::Graph& graph) {
    Builder build(shapes, graph);
    Tensor const q = build.rows(Q), k = build.rows(K), v = build.rows(V);
    Tensor const out = build.rows(Out), dout = build.rows(DOut), log_sums = build.log_sums();
    fe::graph::SDPA_backward_attributes options;
    build.set(options);
    options.set_deterministic_algorithm(shapes.is_deterministic);
    Score_terms const terms = build.terms();
    if (terms.forward) options.set_score_mod(terms.forward);
    if (terms.backward) options.set_score_mod_bprop(terms.backward);
    auto const [dq, dk, dv] = graph.sdpa_backward(q, k, v, out, dout, log_sums, options);
    build.write_rows(dq, DQ);
    build.write_rows(dk, DK);
    build.write_rows(dv, DV);
}

// If packed, a row holds all heads, as the graph needs it.
ShapeInGraph shape_of_log_sums(Shapes const& shapes) {
    std::int64_t const heads = shapes.heads, queries = shapes.queries;
    std::int64_t const entry = fe::core::saturating_multiply(heads, queries);
    bool const is_by_row = shapes.is_packed || shapes.has_log_sums_by_row;
    return {{shapes.slots, heads, queries, 1},
            is_by_row ? Few_dims{entry, 1, heads, 1} : Few_dims{entry, queries, 1, 1}};
}

}  // namespace

ShapeInGraph shape_in_graph(Shapes const& shapes, Argument argument) {
    if (argument == SoftmaxLse) return shape_of_log_sums(shapes);
    Strides const& at = shapes.of(argument);
    bool const is_of_keys = has_keys(argument);
    std::int64_t const heads = is_of_keys ? shapes.key_heads : shapes.heads;
    bool const is_in_pages = is_of_keys && shapes.has_pages;
    std::int64_t const entries = is_in_pages ? shapes.pages : shapes.slots;
    std::int64_t const rows = is_in_pages ? shapes.page_rows : is_of_keys ? shapes.keys : shapes.queries;
    return {{entries, heads, rows, shapes.width}, {at.batch, at.head, at.row, 1}};
}

void describe(Shapes const& shapes, fe::graph::Graph& graph) {
    graph.set_io_data_type(shapes.type)
        .set_intermediate_data_type(DataType_t::FLOAT)
        .set_compute_data_type(DataType_t::FLOAT)
        .set_name(shapes.is_backward ? "flash attention, backward" : "flash attention");
    if (shapes.is_backward) describe_backward(shapes, graph);
    else describe_forward(shapes, graph);
}

}  // namespace sdpa_graph::flash
