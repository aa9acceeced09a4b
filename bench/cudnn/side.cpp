#include "side.h"

#include "modifiers.h"

#include <cudnn_frontend.h>
#if __has_include(<cudnn_frontend/process.h>)
#include <cudnn_frontend/process.h>
#endif

#if defined(SDPA_BENCH_BARE)
#include "api/graph/graph_impl.h"
#include "cudnn/library/engine_config.h"
#include "cudnn/library/engine_plan.h"
#include "cudnn/library/library.h"
#include "cudnn/library/lowered_graph.h"
#include "cudnn/planning/lowering.h"
#endif

#include <chrono>
#include <cstdio>

namespace {

namespace fe = cudnn_frontend;
using Tensor = fe::graph::Tensor_attributes;
using TensorPtr = std::shared_ptr<Tensor>;

std::unique_ptr<fe::graph::Graph> graph;
std::unordered_map<std::int64_t, void*> pack;

double now() {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

using Dims = std::vector<std::int64_t>;

Dims rows(std::int64_t b, std::int64_t h, std::int64_t s, std::int64_t d) { return {b, h, s, d}; }
Dims rows_of_q(Shape const& shape) { return rows(shape.b, shape.h_q, shape.s_q, shape.d_qk); }
Dims rows_of_k(Shape const& shape) { return rows(shape.b, shape.h_k, shape.s_kv, shape.d_qk); }
Dims rows_of_v(Shape const& shape) { return rows(shape.b, shape.h_v, shape.s_kv, shape.d_v); }
Dims rows_of_o(Shape const& shape) { return rows(shape.b, shape.h_q, shape.s_q, shape.d_v); }

// Strides of BSHD: the heads of a row are adjacent.
Dims by_rows(Dims const& dim) { return {dim[2] * dim[1] * dim[3], dim[3], dim[1] * dim[3], 1}; }

TensorPtr input(char const* name, Uid uid, Dims const& dim) {
    return graph->tensor(Tensor().set_name(name).set_uid(uid).set_dim(dim).set_stride(by_rows(dim)));
}

// A tensor of other dims, packed.
TensorPtr packed(char const* name, Uid uid, fe::DataType_t type, Dims const& dim) {
    Dims const stride{dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1};
    return graph->tensor(Tensor().set_name(name).set_uid(uid).set_data_type(type).set_dim(dim).set_stride(stride));
}

void output(TensorPtr const& tensor, Uid uid, Dims const& dim) {
    tensor->set_output(true).set_uid(uid).set_dim(dim).set_stride(by_rows(dim));
}

void row_output(TensorPtr const& tensor, Uid uid, Shape const& shape) {
    tensor->set_output(true)
        .set_uid(uid)
        .set_data_type(fe::DataType_t::FLOAT)
        .set_dim(rows(shape.b, shape.h_q, shape.s_q, 1))
        .set_stride({shape.h_q * shape.s_q, shape.s_q, 1, 1});
}

template <class Attributes>
void pad(Attributes& options, Shape const& shape) {
    auto const of_keys = packed("lengths", Uid::Lengths, fe::DataType_t::INT32, rows(shape.b, 1, 1, 1));
    auto const of_queries =
        shape.s_q > 1 ? of_keys : packed("ones", Uid::Ones, fe::DataType_t::INT32, rows(shape.b, 1, 1, 1));
    options.set_padding_mask(true).set_seq_len_q(of_queries).set_seq_len_kv(of_keys);
}

// K and V in pages, with one page table and equal numbers of heads.
template <class Attributes>
void page(Attributes& options, TensorPtr const& k, TensorPtr const& v, Shape const& shape) {
    std::int64_t const pages = shape.s_kv / kPageSize;
    Dims const dim = rows(shape.b * pages, shape.h_k, kPageSize, shape.d_qk);
    for (TensorPtr const& tensor : {k, v}) tensor->set_dim(dim).set_stride(by_rows(dim));
    auto const table = packed("pages", Uid::Pages, fe::DataType_t::INT32, rows(shape.b, 1, pages, 1));
    options.set_paged_attention_k_table(table).set_paged_attention_v_table(table);
    options.set_paged_attention_max_seq_len_kv(static_cast<int>(shape.s_kv));
}

// The options that FP8 attention has too.
template <class Attributes>
void mask(Attributes& options, Shape const& shape) {
    switch (shape.option) {
        case Option::Causal: options.set_causal_mask(true); break;
        case Option::BottomRight: options.set_causal_mask_bottom_right(true); break;
        case Option::Window: options.set_causal_mask(true).set_diagonal_band_left_bound(256); break;
        case Option::Padding:
        case Option::Ragged:
        case Option::BoundedRagged:
        case Option::Paged: pad(options, shape); break;
        default: break;
    }
}

template <class Attributes>
void apply_shared(Attributes& options, Shape const& shape) {
    mask(options, shape);
    switch (shape.option) {
        case Option::Bias:
        case Option::BiasGradient:
            options.set_bias(
                packed("bias", Uid::Bias, fe::DataType_t::BFLOAT16, rows(1, shape.h_q, shape.s_q, shape.s_kv)));
            break;
        case Option::Alibi: options.set_causal_mask(true).set_alibi_mask(true); break;
        case Option::Dropout:
            options.set_dropout(0.1f, packed("seed", Uid::Seed, fe::DataType_t::INT64, rows(1, 1, 1, 1)),
                                packed("position", Uid::Position, fe::DataType_t::INT64, rows(1, 1, 1, 1)));
            break;
        case Option::Sink:
        case Option::SinkGradient:
            options.set_sink_token(packed("sink", Uid::Sink, fe::DataType_t::FLOAT, rows(1, shape.h_q, 1, 1)));
            break;
        default: break;
    }
}

template <class Attributes>
void modify(Attributes& options, Shape const& shape) {
    auto const integers = [](char const* name, Uid uid, Dims const& dim) {
        return packed(name, uid, fe::DataType_t::INT32, dim);
    };
    switch (shape.option) {
        case Option::Softcap: modifiers::softcap(options); break;
        case Option::Distance: modifiers::add_distance(options); break;
        case Option::Documents:
            modifiers::keep_documents(options,
                                      integers("of_queries", Uid::DocumentsOfQueries, rows(shape.b, 1, shape.s_q, 1)),
                                      integers("of_keys", Uid::DocumentsOfKeys, rows(shape.b, 1, 1, shape.s_kv)));
            break;
        case Option::Prefix:
            modifiers::keep_prefix(options, integers("prefixes", Uid::Lengths, rows(shape.b, 1, 1, 1)));
            break;
        case Option::Grid: modifiers::keep_grid(options); break;
        case Option::GridReadyMade: modifiers::keep_grid_ready_made(options); break;
        default: break;
    }
}

// Packs sequences without gaps.
void make_ragged(char const* name, Uid starts, std::initializer_list<TensorPtr> tensors, Shape const& shape) {
    auto const offset = packed(name, starts, fe::DataType_t::INT32, rows(shape.b + 1, 1, 1, 1));
    for (TensorPtr const& tensor : tensors) tensor->set_ragged_offset(offset);
}

// Stats too, so that all tensors with a row for each query have the same number of rows.
void make_bounded(fe::graph::SDPA_backward_attributes& options, TensorPtr const& stats, Shape const& shape) {
    std::int64_t const tokens = start_of(shape.b);
    options.set_max_total_seq_len_q(tokens).set_max_total_seq_len_kv(tokens);
    stats->set_stride({shape.h_q * shape.s_q, 1, shape.h_q, 1});
    make_ragged("row_starts", Uid::RowStarts, {stats}, shape);
}

TensorPtr number(char const* name, Uid uid) { return packed(name, uid, fe::DataType_t::FLOAT, rows(1, 1, 1, 1)); }

// A dropout mask that all batches and heads share.
template <class Attributes>
void drop_by_mask(Attributes& options, Shape const& shape) {
    auto const mask = packed("mask", Uid::Mask, fe::DataType_t::BFLOAT16, rows(1, 1, shape.s_q, shape.s_kv));
    auto const scale = number("mask_scale", Uid::MaskScale);
    if constexpr (requires { &Attributes::set_dsink_token; }) {
        options.set_dropout(mask, scale, number("mask_scale_inverse", Uid::MaskScaleInverse));
    } else {
        options.set_dropout(mask, scale);
    }
}

void magnitudes(std::initializer_list<TensorPtr> tensors) {
    std::int64_t uid = Uid::Magnitude;
    for (TensorPtr const& tensor : tensors) {
        tensor->set_output(true).set_uid(uid++).set_data_type(fe::DataType_t::FLOAT);
        tensor->set_dim(rows(1, 1, 1, 1)).set_stride({1, 1, 1, 1});
    }
}

void describe_fp8_forward(Shape const& shape, TensorPtr const& q, TensorPtr const& k, TensorPtr const& v) {
    auto options = fe::graph::SDPA_fp8_attributes().set_name("sdpa").set_attn_scale(0.09f).set_generate_stats(true);
    mask(options, shape);
    if (shape.option == Option::Paged) page(options, k, v, shape);
    auto const f = number("factor", Uid::Factor);
    auto [o, stats, amax_s, amax_o] = graph->sdpa_fp8(q, k, v, f, f, f, f, f, f, options);
    output(o, Uid::O, rows_of_o(shape));
    row_output(stats, Uid::Stats, shape);
    magnitudes({amax_s, amax_o});
}

void describe_fp8_backward(Shape const& shape, TensorPtr const& q, TensorPtr const& k, TensorPtr const& v) {
    auto const o = input("O", Uid::O, rows_of_o(shape));
    auto const d_o = input("dO", Uid::DO, rows_of_o(shape));
    auto const stats = packed("stats", Uid::Stats, fe::DataType_t::FLOAT, rows(shape.b, shape.h_q, shape.s_q, 1));
    auto options = fe::graph::SDPA_fp8_backward_attributes().set_name("sdpa").set_attn_scale(0.09f);
    mask(options, shape);
    auto const f = number("factor", Uid::Factor);
    auto [d_q, d_k, d_v, amax_d_q, amax_d_k, amax_d_v, amax_d_p] =
        graph->sdpa_fp8_backward(q, k, v, o, d_o, stats, f, f, f, f, f, f, f, f, f, f, f, f, options);
    output(d_q, Uid::DQ, rows_of_q(shape));
    output(d_k, Uid::DK, rows_of_k(shape));
    output(d_v, Uid::DV, rows_of_v(shape));
    magnitudes({amax_d_q, amax_d_k, amax_d_v, amax_d_p});
}

void describe_forward(Shape const& shape, TensorPtr const& q, TensorPtr const& k, TensorPtr const& v) {
    auto options = fe::graph::SDPA_attributes().set_name("sdpa").set_attn_scale(0.09f);
    options.set_generate_stats(shape.option != Option::SumExp);
    apply_shared(options, shape);
    modify(options, shape);
    if (shape.option == Option::DropoutMask) drop_by_mask(options, shape);
    if (shape.option == Option::SumExp) {
        auto const max = packed("max", Uid::Max, fe::DataType_t::FLOAT, rows(shape.b, shape.h_q, shape.s_q, 1));
        auto const sum = packed("sum_exp", Uid::SumExp, fe::DataType_t::FLOAT, rows(shape.b, shape.h_q, shape.s_q, 1));
        max->set_output(true);
        sum->set_output(true);
        options.set_logit_max(max).set_score_sum_exp(sum);
    }
    if (shape.option == Option::Paged) page(options, k, v, shape);
    auto [o, stats] = graph->sdpa(q, k, v, options);
    output(o, Uid::O, rows_of_o(shape));
    if (shape.option == Option::Ragged) make_ragged("starts", Uid::Starts, {q, k, v, o}, shape);
    if (stats) row_output(stats, Uid::Stats, shape);
}

void describe_backward(Shape const& shape, TensorPtr const& q, TensorPtr const& k, TensorPtr const& v) {
    auto const o = input("O", Uid::O, rows_of_o(shape));
    auto const d_o = input("dO", Uid::DO, rows_of_o(shape));
    auto const stats = packed("stats", Uid::Stats, fe::DataType_t::FLOAT, rows(shape.b, shape.h_q, shape.s_q, 1));
    auto options = fe::graph::SDPA_backward_attributes().set_name("sdpa").set_attn_scale(0.09f);
    apply_shared(options, shape);
    modify(options, shape);
    if (shape.option == Option::DropoutMask) drop_by_mask(options, shape);
    if (shape.option == Option::BoundedRagged) make_bounded(options, stats, shape);
    if (shape.option == Option::Deterministic) options.set_deterministic_algorithm(true);
    if (shape.option == Option::BiasGradient) {
        auto const gradient =
            packed("dBias", Uid::DBias, fe::DataType_t::BFLOAT16, rows(1, shape.h_q, shape.s_q, shape.s_kv));
        gradient->set_output(true);
        options.set_dbias(gradient);
    }
    if (shape.option == Option::SinkGradient) {
        auto const gradient = packed("dSink", Uid::DSink, fe::DataType_t::FLOAT, rows(1, shape.h_q, 1, 1));
        gradient->set_output(true);
        options.set_dsink_token(gradient);
    }
    auto [d_q, d_k, d_v] = graph->sdpa_backward(q, k, v, o, d_o, stats, options);
    output(d_q, Uid::DQ, rows_of_q(shape));
    output(d_k, Uid::DK, rows_of_k(shape));
    output(d_v, Uid::DV, rows_of_v(shape));
    if (shape.option == Option::Ragged) make_ragged("starts", Uid::Starts, {q, k, v, o, d_o, d_q, d_k, d_v}, shape);
    if (shape.option == Option::BoundedRagged) {
        make_ragged("starts", Uid::Starts, {q, o, d_o, d_q}, shape);
        make_ragged("key_starts", Uid::KeyStarts, {k, v, d_k, d_v}, shape);
    }
}

void describe(Shape const& shape) {
    graph = std::make_unique<fe::graph::Graph>();
    graph->set_io_data_type(shape.io == Io::Fp8 ? fe::DataType_t::FP8_E4M3 : fe::DataType_t::BFLOAT16)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT)
        .set_dynamic_shape_enabled(shape.option == Option::DynamicShapes);
    auto const q = input("Q", Uid::Q, rows_of_q(shape));
    auto const k = input("K", Uid::K, rows_of_k(shape));
    auto const v = input("V", Uid::V, rows_of_v(shape));
    if (shape.io == Io::Fp8) {
        shape.is_backward ? describe_fp8_backward(shape, q, k, v) : describe_fp8_forward(shape, q, k, v);
    } else {
        shape.is_backward ? describe_backward(shape, q, k, v) : describe_forward(shape, q, k, v);
    }
}

bool good(fe::error_object const& error) {
    if (error.is_bad()) std::printf("%s\n", error.err_msg.c_str());
    return error.is_good();
}

bool plan(cudnnContext* handle, Shape const& shape, Cost& cost) {
    double const start = now();
    describe(shape);
    double const described = now();
    if (!good(graph->validate()) || !good(graph->build_operation_graph(handle))) return false;
    double const lowered = now();
    if (!good(graph->create_execution_plans({fe::HeurMode_t::A}))) return false;
    double const asked = now();
    if (!good(graph->build_plans(handle))) return false;
    cost.describe = described - start;
    cost.lower = lowered - described;
    cost.heuristics = asked - lowered;
    cost.build = now() - asked;
    cost.workspace = graph->get_workspace_size();
    pack.clear();
    return true;
}

bool execute(cudnnContext* handle, Memory const& memory) {
    if (pack.empty()) {
        for (std::int64_t uid = Uid::Q; uid < Uid::Count; ++uid) pack[uid] = memory.tensors[uid];
    }
    return good(graph->execute(handle, pack, memory.workspace));
}

}  // namespace

#if defined(SDPA_BENCH_BARE)
// The same plan by a bare backend call on a prepared pack.
namespace bare {

using namespace fe::cudnn;

std::shared_ptr<EnginePlan const> engine;
Bindings bindings;
std::vector<std::int64_t> caller_uids;
Descriptor ready;

bool plan(cudnnContext* handle, Shape const& shape, Cost& cost) {
    ::describe(shape);
    auto const validation = fe::nodes::validate(fe::detail::Graph_access::snapshot(*graph).spec);
    Api const& api = *library().api;
    auto const device = Device::from_handle(api, handle);
    fe::quirks::Capabilities const here{.cudnn_version = api.get_version(), .sm = device.value()->sm()};
    auto const op_graph = fe::cudnn::op_graph_for_cudnn(*validation.graph, here);
    auto lowered = lower(op_graph.value(), api, {});
    auto answer = ask_heuristics(lowered.value().graph, {.modes = {fe::HeurMode_t::A}, .device = device.value().get()});
    auto built = EnginePlan::build(std::move(answer.value().configs.front()), device.value().get(), nullptr);
    if (!good(built.error())) return false;
    engine = built.value();
    bindings = std::move(lowered.value().bindings);
    caller_uids.clear();
    for (auto const& binding : op_graph.value().graph.bindings()) caller_uids.push_back(binding.uid);
    ready = Descriptor();
    cost.workspace = bindings.scratch_bytes + engine->workspace_bytes();
    return true;
}

void make_ready(Memory const& memory) {
    std::vector<std::int64_t> uids;
    std::vector<void*> pointers;
    for (BoundTensor const& tensor : bindings.tensors) {
        auto const at = static_cast<std::size_t>(tensor.at);
        uids.push_back(tensor.uid);
        switch (tensor.source) {
            case MemorySource::Caller: pointers.push_back(memory.tensors[caller_uids[at]]); break;
            case MemorySource::Number: pointers.push_back(&bindings.numbers[at]); break;
            case MemorySource::Table: pointers.push_back(memory.tensors[Uid::ScratchTable]); break;  // it is as large
            case MemorySource::Workspace: pointers.push_back(static_cast<char*>(memory.workspace) + at); break;
        }
    }
    void* const rest = static_cast<char*>(memory.workspace) + bindings.scratch_bytes;
    ready = Descriptor(*library().api, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, "variant pack");
    ready.set_list(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<std::int64_t const>(uids))
        .set_addresses(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, pointers)
        .set_addresses(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {&rest, 1});
    static_cast<void>(good(ready.finalize()));
}

bool execute(cudnnContext* handle, Memory const& memory) {
    if (!ready) make_ready(memory);
    return library().api->execute(handle, engine->descriptor().get(), ready.get()) == CUDNN_STATUS_SUCCESS;
}

}  // namespace bare
#define SIDE_NAMESPACE bare::
#else
#define SIDE_NAMESPACE
#endif

static void keep_graphs([[maybe_unused]] bool are_kept) {
#if __has_include(<cudnn_frontend/process.h>)
    fe::runtime::set_kept_bytes(are_kept ? std::size_t{256} << 20 : 0);
#endif
}

extern "C" __attribute__((visibility("default"))) Side bench_side() {
    return {SIDE_NAMESPACE plan, SIDE_NAMESPACE execute, keep_graphs};
}
