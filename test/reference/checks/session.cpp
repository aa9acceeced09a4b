#include "reference/checks/session.h"

#include <cudnn_frontend/score_modifiers.h>

#include <limits>

namespace sdpa_test {

using cudnn_frontend::error_code_t;
using cudnn_frontend::graph::Pointwise_attributes;
using cudnn_frontend::graph::SDPA_attributes;
using cudnn_frontend::graph::SDPA_backward_attributes;
using cudnn_frontend::graph::SDPA_fp8_backward_attributes;
using cudnn_frontend::graph::Tensor_attributes;

namespace {

std::vector<std::int64_t> to_vector(Index4 const& index) { return {index.begin(), index.end()}; }

void set_up(Graph& graph, AttentionCase const& c) {
    graph.set_io_data_type(c.type).set_intermediate_data_type(DataType_t::FLOAT);
    graph.set_compute_data_type(DataType_t::FLOAT).set_dynamic_shape_enabled(c.dynamic_shapes);
}

// score + factor * head * (column - row), as a program would write it.
auto distance_by_heads(float factor) {
    using enum cudnn_frontend::PointwiseMode_t;
    return [factor](std::shared_ptr<Graph> const& graph, TensorPtr const& score) {
        auto const step = [](cudnn_frontend::PointwiseMode_t mode, DataType_t type) {
            return Pointwise_attributes().set_mode(mode).set_compute_data_type(type);
        };
        auto const typed = [](TensorPtr const& tensor, DataType_t type) {
            tensor->set_data_type(type);
            return tensor;
        };
        auto const index = [&](std::int64_t axis) {
            return typed(graph->pointwise(score, step(GEN_INDEX, DataType_t::INT32).set_axis(axis)), DataType_t::INT32);
        };
        auto const both = [&](cudnn_frontend::PointwiseMode_t mode, TensorPtr const& a, TensorPtr const& b,
                              DataType_t type) { return typed(graph->pointwise(a, b, step(mode, type)), type); };
        TensorPtr const distance = both(SUB, index(3), index(2), DataType_t::INT32);
        TensorPtr const of_head = both(MUL, distance, index(1), DataType_t::INT32);
        TensorPtr const bias = both(MUL, of_head, graph->tensor(factor), DataType_t::FLOAT);
        return both(ADD, score, bias, DataType_t::FLOAT);
    };
}

// Row >= column and not row < column, all of it INT32.
TensorPtr causal_by_integers(std::shared_ptr<Graph> const& graph, TensorPtr const& score) {
    using enum cudnn_frontend::PointwiseMode_t;
    auto const step = [](cudnn_frontend::PointwiseMode_t mode) {
        return Pointwise_attributes().set_mode(mode).set_compute_data_type(DataType_t::FLOAT);
    };
    auto const integer = [](TensorPtr const& tensor) {
        tensor->set_data_type(DataType_t::INT32);
        return tensor;
    };
    TensorPtr const row = integer(graph->pointwise(score, step(GEN_INDEX).set_axis(2)));
    TensorPtr const column = integer(graph->pointwise(score, step(GEN_INDEX).set_axis(3)));
    TensorPtr const misses = integer(graph->pointwise(row, column, step(CMP_LT)));
    TensorPtr const keeps = integer(graph->pointwise(misses, step(LOGICAL_NOT)));
    TensorPtr const sees = integer(graph->pointwise(row, column, step(CMP_GE)));
    TensorPtr const both = integer(graph->pointwise(sees, keeps, step(LOGICAL_AND)));
    TensorPtr const masked = graph->tensor(-std::numeric_limits<float>::infinity());
    return graph->pointwise(score, masked, both, step(BINARY_SELECT));
}

}  // namespace

void Session::declare(TensorPtr const& tensor, HostTensor const& memory) {
    tensor->set_dim(to_vector(memory.dim)).set_stride(to_vector(memory.stride)).set_data_type(memory.type);
    tensor->set_alignment(memory.alignment());
    if (case_.explicit_uids) tensor->set_uid(static_cast<std::int64_t>(entries_.size()));
    entries_.push_back({tensor, memory, 0});
    if (!memory.offsets) return;
    tensor->set_ragged_offset(offset_input(*memory.offsets, memory.stride[2] / memory.offset_unit));
    if (memory.offset_unit != 1) tensor->set_ragged_offset_multiplier(memory.offset_unit);
}

// One offset tensor for all tensors that start at the same elements, as in programs.
TensorPtr Session::offset_input(HostTensor const& memory, std::int64_t row) {
    for (Entry const& entry : entries_) {
        if (entry.row_of_offset == row && same_bits(entry.memory, memory)) return entry.tensor;
    }
    std::size_t const at = entries_.size();
    TensorPtr const tensor = input("offset", memory);
    entries_[at].row_of_offset = row;
    return tensor;
}

TensorPtr Session::input(char const* name, HostTensor const& memory) {
    if (!memory) return nullptr;
    TensorPtr const tensor = graph_.tensor(Tensor_attributes().set_name(name));
    declare(tensor, memory);
    return tensor;
}

TensorPtr Session::scalar_input(char const* name, HostTensor const& memory) {
    TensorPtr const tensor = input(name, memory);
    tensor->set_is_pass_by_value(case_.scalars_by_value);
    return tensor;
}

TensorPtr Session::factor(char const* name, HostTensor const& memory) {
    if (case_.factors == Scale::Embedded) return graph_.tensor(static_cast<float>(memory.get({})));
    TensorPtr const tensor = input(name, memory);
    tensor->set_is_pass_by_value(case_.factors == Scale::ByValue);
    return tensor;
}

void Session::output(TensorPtr const& tensor, HostTensor const& memory) {
    if (!memory) return;
    tensor->set_output(true);
    declare(tensor, memory);
}

TensorPtr Session::requested(char const* name, HostTensor const& memory) {
    TensorPtr const tensor = input(name, memory);
    tensor->set_output(true);
    return tensor;
}

template <class Attributes>
void Session::apply_scale(Attributes& options, HostTensor const& scale) {
    if (case_.scale == Scale::Number) options.set_attn_scale(case_.scale_value);
    if (case_.scale == Scale::Embedded) options.set_attn_scale(graph_.tensor(case_.scale_value));
    if (!scale) return;
    TensorPtr const tensor = input("scale", scale);
    tensor->set_is_pass_by_value(case_.scale == Scale::ByValue);
    options.set_attn_scale(tensor);
}

template <class Attributes>
void Session::apply_modifier(Attributes& options, Inputs const& in) {
    namespace ready = cudnn_frontend::graph::attn::score_modifiers;
    using oracle::Modify;
    TensorPtr const of_queries = input("modifier_of_queries", in.modifier_of_queries);
    TensorPtr const of_keys = input("modifier_of_keys", in.modifier_of_keys);
    auto const window = [&](DiagonalAlignment_t corner) {
        return [corner, reach = case_.modifier_reach, queries = case_.s_q, keys = case_.s_kv](auto const& graph,
                                                                                              auto const& scores) {
            return ready::sliding_window_mask(graph, scores, corner, reach, 0, queries, keys, nullptr, nullptr);
        };
    };
    switch (case_.modifier) {
        case Modify::Nothing: return;
        case Modify::Slopes: options.set_score_mod(ready::alibi(of_queries)); return;
        case Modify::Relative: options.set_score_mod(ready::relative_bias(case_.modifier_number)); return;
        case Modify::HeadDistance: options.set_score_mod(distance_by_heads(case_.modifier_number)); return;
        case Modify::Documents: options.set_score_mod(ready::document_mask(of_queries, of_keys)); return;
        case Modify::Prefix: options.set_score_mod(ready::prefix_lm(of_queries)); return;
        case Modify::Causal:
            if (case_.integer_predicates) options.set_score_mod(causal_by_integers);
            else options.set_score_mod(ready::causal_mask);
            return;
        case Modify::BottomCausal:
            options.set_score_mod([queries = case_.s_q, keys = case_.s_kv](auto const& graph, auto const& scores) {
                return ready::causal_mask_bottom_right(graph, scores, queries, keys, nullptr, nullptr);
            });
            return;
        case Modify::Window: options.set_score_mod(window(DiagonalAlignment_t::TOP_LEFT)); return;
        case Modify::BottomWindow: options.set_score_mod(window(DiagonalAlignment_t::BOTTOM_RIGHT)); return;
        case Modify::Dilated:
            options.set_score_mod(ready::dilated_window(case_.modifier_reach, case_.modifier_step));
            return;
        case Modify::Softcap:
        case Modify::CappedDocuments: {
            auto const capped = ready::softcap(case_.modifier_number);
            options.set_score_mod(case_.modifier == Modify::Softcap
                                      ? capped.forward
                                      : ready::chain(capped.forward, ready::document_mask(of_queries, of_keys)));
            if constexpr (!std::is_same_v<Attributes, SDPA_attributes>) {
                options.set_score_mod_bprop(capped.backward);
            }
        }
    }
}

template <class Attributes>
void Session::apply_band(Attributes& options) {
    bool const bottom_right = case_.alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
    if (case_.shorthands && case_.right == 0) {
        options.set_causal_mask(!bottom_right).set_causal_mask_bottom_right(bottom_right);
    } else {
        options.set_diagonal_alignment(case_.alignment);
        if (case_.right) options.set_diagonal_band_right_bound(*case_.right);
    }
    if (!case_.left) return;
    if (case_.shorthands) options.set_sliding_window_length(*case_.left);
    else options.set_diagonal_band_left_bound(*case_.left);
}

template <class Attributes>
void Session::apply_options(Attributes& options, Inputs const& in, HostTensor const& rng_dump) {
    options.set_name("attention");
    apply_scale(options, in.scale);
    apply_modifier(options, in);
    if (in.bias) options.set_bias(input("bias", in.bias));
    if (in.sink) options.set_sink_token(input("sink", in.sink));
    if (case_.alibi) options.set_alibi_mask(true);
    if (in.len_q) {
        TensorPtr const len_q = input("len_q", in.len_q), len_kv = input("len_kv", in.len_kv);
        options.set_padding_mask(!case_.omits_padding_mask);
        if (case_.sums_of_lengths) options.set_cu_seq_len_q(len_q).set_cu_seq_len_kv(len_kv);
        else options.set_seq_len_q(len_q).set_seq_len_kv(len_kv);
    }
    apply_band(options);
    if (case_.dropout == Dropout::Probability) {
        options.set_dropout(case_.dropout_probability, scalar_input("seed", in.seed),
                            scalar_input("offset", in.offset));
    }
    if (rng_dump) options.set_rng_dump(requested("dump", rng_dump));
    if (case_.stats_use_log2) options.set_stats_use_log2(true);
}

// Mask and scale, in the order of the graph's arguments.
std::array<TensorPtr, 2> Session::mask_and_scale(Inputs const& in) {
    std::array places{input("mask", in.mask), scalar_input("mask_scale", in.mask_scale)};
    if (case_.exchanged_mask) std::swap(places[0], places[1]);
    return places;
}

void Session::apply_paging(SDPA_attributes& options, Inputs const& in) {
    if (in.k.table) options.set_paged_attention_k_table(input("k_table", *in.k.table));
    if (in.v.table) options.set_paged_attention_v_table(input("v_table", *in.v.table));
    if (case_.paging && case_.paging.states_length) {
        options.set_paged_attention_max_seq_len_kv(static_cast<int>(case_.s_kv));
    }
}

// The largest end of a last sequence among these tensors, in rows.
static std::int64_t rows_in_memory(std::initializer_list<HostTensor const*> tensors) {
    std::int64_t rows = 1;
    for (HostTensor const* const tensor : tensors) {
        for (std::size_t b = 0; b < tensor->starts.size(); ++b) {
            rows = std::max(rows, tensor->starts[b] / tensor->stride[2] + tensor->rows[b]);
        }
    }
    return rows;
}

template <class Attributes>
void Session::apply_bounds(Attributes& options, std::initializer_list<HostTensor const*> of_queries,
                           std::initializer_list<HostTensor const*> of_keys) {
    if (!case_.bounds_rows) return;
    options.set_max_total_seq_len_q(rows_in_memory(of_queries)).set_max_total_seq_len_kv(rows_in_memory(of_keys));
}

// The tensor that the graph gets for K or V.
static HostTensor const& in_graph(HostTensor const& tensor) { return tensor.container ? *tensor.container : tensor; }

Session::Session(AttentionCase const& c, Inputs const& in, ForwardOutputs const& out) : case_(c) {
    set_up(graph_, c);
    TensorPtr const q = input("q", in.q), k = input("k", in_graph(in.k)), v = input("v", in_graph(in.v));
    SDPA_attributes options;
    apply_paging(options, in);
    if (in.block_mask) options.set_block_mask(input("block_mask", in.block_mask));
    options.set_implementation(c.implementation);
    if (c.shorthands) options.set_is_inference(!c.generate_stats);
    else options.set_generate_stats(c.generate_stats);
    apply_options(options, in, out.rng_dump);
    if (in.mask) {
        auto const [mask, scale] = mask_and_scale(in);
        options.set_dropout(mask, scale);
    }
    apply_bounds(options, {&in.q, &out.o, &out.stats}, {&in.k, &in.v});
    if (out.max) options.set_logit_max(requested("max", out.max));
    if (out.sum_exp) options.set_score_sum_exp(requested("sum_exp", out.sum_exp));
    if (is_fp8(c.type)) {
        add_fp8({q, k, v}, options, in, out);
        return;
    }
    auto const [o, stats] =
        c.shorthands ? graph_.scaled_dot_product_flash_attention(q, k, v, options) : graph_.sdpa(q, k, v, options);
    output(o, out.o);
    if (stats) output(stats, out.stats);
}

void Session::add_fp8(std::array<TensorPtr, 3> const& qkv, SDPA_attributes const& options, Inputs const& in,
                      ForwardOutputs const& out) {
    Factors const& f = in.factors;
    auto const [o, stats, amax_s, amax_o] =
        graph_.sdpa_fp8(qkv[0], qkv[1], qkv[2], factor("descale_q", f.descale_q), factor("descale_k", f.descale_k),
                        factor("descale_v", f.descale_v), factor("descale_s", f.descale_s),
                        factor("scale_s", f.scale_s), factor("scale_o", f.scale_o), options);
    output(o, out.o);
    if (stats) output(stats, out.stats);
    output(amax_s, out.amax_s);
    output(amax_o, out.amax_o);
}

template <class Attributes>
void Session::apply_backward_options(Attributes& options, Inputs const& in, BackwardOutputs const& out) {
    options.set_deterministic_algorithm(case_.deterministic);
    apply_options(options, in, out.rng_dump);
    if (in.mask) {
        auto const [mask, scale] = mask_and_scale(in);
        options.set_dropout(mask, scale, scalar_input("mask_scale_inv", in.mask_scale_inv));
    }
    if constexpr (std::is_same_v<Attributes, SDPA_backward_attributes>) {
        if (out.d_bias) options.set_dbias(requested("d_bias", out.d_bias));
    }
    if (out.d_sink) options.set_dsink_token(requested("d_sink", out.d_sink));
}

Session::Session(AttentionCase const& c, Inputs const& in, BackwardInputs const& more, BackwardOutputs const& out)
    : case_(c) {
    set_up(graph_, c);
    TensorPtr const q = input("q", in.q), k = input("k", in.k), v = input("v", in.v);
    TensorPtr const o = input("o", more.o), d_o = input("d_o", more.d_o), stats = input("stats", more.stats);
    if (is_fp8(c.type)) {
        add_fp8_backward({q, k, v, o, d_o, stats}, in, out);
        return;
    }
    SDPA_backward_attributes options;
    apply_backward_options(options, in, out);
    apply_bounds(options, {&in.q, &more.o, &more.d_o, &more.stats, &out.d_q}, {&in.k, &in.v, &out.d_k, &out.d_v});
    auto const [d_q, d_k, d_v] =
        c.shorthands ? graph_.scaled_dot_product_flash_attention_backward(q, k, v, o, d_o, stats, options)
                     : graph_.sdpa_backward(q, k, v, o, d_o, stats, options);
    output(d_q, out.d_q);
    output(d_k, out.d_k);
    output(d_v, out.d_v);
}

void Session::add_fp8_backward(std::array<TensorPtr, 6> const& from_forward, Inputs const& in,
                               BackwardOutputs const& out) {
    Factors const& f = in.factors;
    auto const& [q, k, v, o, d_o, stats] = from_forward;
    SDPA_fp8_backward_attributes options;
    apply_backward_options(options, in, out);
    apply_bounds(options, {&in.q, &out.d_q}, {&in.k, &in.v, &out.d_k, &out.d_v});
    auto const [d_q, d_k, d_v, amax_d_q, amax_d_k, amax_d_v, amax_d_p] = graph_.sdpa_fp8_backward(
        q, k, v, o, d_o, stats, factor("descale_q", f.descale_q), factor("descale_k", f.descale_k),
        factor("descale_v", f.descale_v), factor("descale_o", f.descale_o), factor("descale_d_o", f.descale_d_o),
        factor("descale_s", f.descale_s), factor("descale_d_p", f.descale_d_p), factor("scale_s", f.scale_s),
        factor("scale_d_q", f.scale_d_q), factor("scale_d_k", f.scale_d_k), factor("scale_d_v", f.scale_d_v),
        factor("scale_d_p", f.scale_d_p), options);
    output(d_q, out.d_q);
    output(d_k, out.d_k);
    output(d_v, out.d_v);
    output(amax_d_q, out.amax_d_q);
    output(amax_d_k, out.amax_d_k);
    output(amax_d_v, out.amax_d_v);
    output(amax_d_p, out.amax_d_p);
}

std::map<std::int64_t, void*> Session::pack_by_uid() const {
    std::map<std::int64_t, void*> pack;
    for (Entry const& entry : entries_) pack[entry.tensor->get_uid()] = entry.memory.data();
    return pack;
}

std::unordered_map<TensorPtr, void*> Session::pack_by_tensor() const {
    std::unordered_map<TensorPtr, void*> pack;
    for (Entry const& entry : entries_) pack[entry.tensor] = entry.memory.data();
    return pack;
}

TensorPtr Session::tensor_of(HostTensor const& tensor) const {
    for (Entry const& entry : entries_) {
        if (tensor && entry.memory.memory == tensor.memory && entry.memory.first == tensor.first) return entry.tensor;
    }
    return nullptr;
}

error_t Session::execute() const {
    std::int64_t bytes = 0;
    if (error_t const error = graph_.get_workspace_size(bytes); error.is_bad()) return error;
    HostMemory const workspace(bytes);
    void* const begin = bytes > 0 ? workspace.data() : nullptr;
    error_t const error =
        case_.explicit_uids ? graph_.execute(pack_by_uid(), begin, bytes) : graph_.execute(pack_by_tensor(), begin);
    if (error.is_good() && !workspace.guards_intact()) {
        return {error_code_t::GRAPH_EXECUTION_FAILED,
                "wrote outside its workspace of " + std::to_string(bytes) + " bytes"};
    }
    return error;
}

error_t Session::run(Target const& target) {
    if (error_t const error = build(target); error.is_bad()) return error;
    return execute();
}

error_t Session::run_restored(Target const& target) {
    if (error_t const error = build(target); error.is_bad()) return error;
    std::string json;
    if (error_t const error = graph_.serialize(json); error.is_bad()) return error;
    Graph restored;
    if (error_t const error = restored.deserialize(json); error.is_bad()) return error;
    if (error_t const error = restored.build(target); error.is_bad()) return error;
    HostMemory const workspace(restored.get_workspace_size());
    return restored.execute(pack_by_uid(), workspace.data(), workspace.size());
}

}  // namespace sdpa_test
