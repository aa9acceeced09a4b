#include "side.h"

#include <cudnn_frontend.h>

#if defined(SDPA_BENCH_BARE)
#include "cudnn/engine_plan.h"
#include "cudnn/heuristics.h"
#include "cudnn/library.h"
#include "cudnn/lower.h"
#include "expand/expand.h"
#include "graph/graph_impl.h"
#endif

#include <chrono>
#include <cstdio>

namespace {

namespace fe = cudnn_frontend;
using Tensor = fe::graph::Tensor_attributes;
using TensorPtr = std::shared_ptr<Tensor>;

enum Uid { kQ, kK, kV, kO, kStats, kDO, kDQ, kDK, kDV };

std::unique_ptr<fe::graph::Graph> graph;
std::unordered_map<std::int64_t, void*> pack;

double now() {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<std::int64_t> rows(std::int64_t b, std::int64_t h, std::int64_t s, std::int64_t d) { return {b, h, s, d}; }
std::vector<std::int64_t> by_rows(std::int64_t h, std::int64_t s, std::int64_t d) { return {s * h * d, d, h * d, 1}; }

TensorPtr input(char const* name, Uid uid, std::int64_t h, std::int64_t s, Shape const& shape) {
    return graph->tensor(
        Tensor().set_name(name).set_uid(uid).set_dim(rows(shape.b, h, s, shape.d)).set_stride(by_rows(h, s, shape.d)));
}

void output(TensorPtr const& tensor, Uid uid, std::int64_t h, std::int64_t s, Shape const& shape) {
    tensor->set_output(true).set_uid(uid).set_dim(rows(shape.b, h, s, shape.d)).set_stride(by_rows(h, s, shape.d));
}

void describe(Shape const& shape) {
    graph = std::make_unique<fe::graph::Graph>();
    graph->set_io_data_type(fe::DataType_t::BFLOAT16)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    auto const q = input("Q", kQ, shape.h_q, shape.s_q, shape);
    auto const k = input("K", kK, shape.h_kv, shape.s_kv, shape);
    auto const v = input("V", kV, shape.h_kv, shape.s_kv, shape);
    std::vector<std::int64_t> const row_dim{shape.b, shape.h_q, shape.s_q, 1};
    std::vector<std::int64_t> const row_stride{shape.h_q * shape.s_q, shape.s_q, 1, 1};
    if (!shape.is_backward) {
        auto options = fe::graph::SDPA_attributes().set_name("sdpa").set_generate_stats(true).set_attn_scale(0.09f);
        if (shape.is_causal) options.set_causal_mask(true);
        auto [o, stats] = graph->sdpa(q, k, v, options);
        output(o, kO, shape.h_q, shape.s_q, shape);
        stats->set_output(true)
            .set_uid(kStats)
            .set_data_type(fe::DataType_t::FLOAT)
            .set_dim(row_dim)
            .set_stride(row_stride);
        return;
    }
    auto const o = input("O", kO, shape.h_q, shape.s_q, shape);
    auto const d_o = input("dO", kDO, shape.h_q, shape.s_q, shape);
    auto const stats = graph->tensor(Tensor()
                                         .set_name("stats")
                                         .set_uid(kStats)
                                         .set_dim(row_dim)
                                         .set_stride(row_stride)
                                         .set_data_type(fe::DataType_t::FLOAT));
    auto options = fe::graph::SDPA_backward_attributes().set_name("sdpa").set_attn_scale(0.09f);
    if (shape.is_causal) options.set_causal_mask(true);
    auto [d_q, d_k, d_v] = graph->sdpa_backward(q, k, v, o, d_o, stats, options);
    output(d_q, kDQ, shape.h_q, shape.s_q, shape);
    output(d_k, kDK, shape.h_kv, shape.s_kv, shape);
    output(d_v, kDV, shape.h_kv, shape.s_kv, shape);
}

bool good(fe::error_object const& error) {
    if (error.is_bad()) std::printf("%s\n", error.err_msg.c_str());
    return error.is_good();
}

bool plan(cudnnContext* handle, Shape const& shape, Cost& cost) {
    double const start = now();
    describe(shape);
    if (!good(graph->validate()) || !good(graph->build_operation_graph(handle))) return false;
    double const lowered = now();
    if (!good(graph->create_execution_plans({fe::HeurMode_t::A}))) return false;
    double const asked = now();
    if (!good(graph->build_plans(handle))) return false;
    cost.describe_and_lower = lowered - start;
    cost.heuristics = asked - lowered;
    cost.build = now() - asked;
    cost.workspace = graph->get_workspace_size();
    pack.clear();
    return true;
}

bool execute(cudnnContext* handle, Memory const& memory) {
    if (pack.empty()) {
        for (std::int64_t uid = kQ; uid <= kDV; ++uid) pack[uid] = memory.tensors[uid];
    }
    return good(graph->execute(handle, pack, memory.workspace));
}

}  // namespace

#if defined(SDPA_BENCH_BARE)
// The same plan by one call of the backend on a pack that is ready.
namespace bare {

using namespace fe::cudnn;

std::shared_ptr<EnginePlan const> engine;
Bindings bindings;
std::vector<std::int64_t> caller_uids;
Descriptor ready;

bool plan(cudnnContext* handle, Shape const& shape, Cost& cost) {
    ::describe(shape);
    auto const validation = fe::nodes::validate(fe::detail::Graph_access::snapshot(*graph).spec);
    fe::expand::Capabilities const capabilities{.full_lengths_in_backward = true};
    auto const op_graph = fe::expand::expand(*validation.graph, capabilities);
    Api const& api = *library().api;
    auto lowered = lower(op_graph.value(), api, {});
    auto const device = Device::from_handle(api, handle);
    auto answer = ask_heuristics(lowered.value().graph, {.modes = {fe::HeurMode_t::A}, .device = device.value().get()});
    auto built = EnginePlan::build(std::move(answer.value().configs.front()), device.value().get(), nullptr);
    if (!good(built.error())) return false;
    engine = built.value();
    bindings = std::move(lowered.value().bindings);
    caller_uids.clear();
    for (auto const& binding : op_graph.value().bindings()) caller_uids.push_back(binding.uid);
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
            case Source::Caller: pointers.push_back(memory.tensors[caller_uids[at]]); break;
            case Source::Number: pointers.push_back(&bindings.numbers[at]); break;
            case Source::Table: pointers.push_back(memory.tensors[15]); break;  // not used by these shapes
            case Source::Workspace: pointers.push_back(static_cast<char*>(memory.workspace) + at); break;
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

extern "C" __attribute__((visibility("default"))) Side bench_side() {
    return {SIDE_NAMESPACE plan, SIDE_NAMESPACE execute};
}
