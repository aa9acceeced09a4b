// Calls that build graphs.
#include "fuzz/calls/machine.h"

namespace fuzz {
namespace {

using cudnn_frontend::DataType_t;

constexpr std::uint64_t kTypes = 23;  // some are not enumerators

Graph& graph_of(Machine& m, Numbers const& n) { return *n.in(m.graphs, 0); }

// Stores the results of a node where the caller wants them, also null ones.
template <class List>
void keep(Machine& m, Numbers const& n, std::size_t number, List const& results) {
    for (std::size_t i = 0; i < results.size(); ++i) {
        m.tensors[(static_cast<std::uint64_t>(n[number]) + i) % m.tensors.size()] = results[i];
    }
}

void set_types(Machine& m, Numbers const& n) {
    graph_of(m, n)
        .set_io_data_type(n.as<DataType_t>(1, kTypes))
        .set_intermediate_data_type(n.as<DataType_t>(2, kTypes))
        .set_compute_data_type(n.as<DataType_t>(3, kTypes));
}

void set_usual_types(Machine& m, Numbers const& n) {
    graph_of(m, n)
        .set_io_data_type(n.flag(1) ? DataType_t::HALF : DataType_t::FLOAT)
        .set_intermediate_data_type(DataType_t::FLOAT)
        .set_compute_data_type(DataType_t::FLOAT);
}

void take_tensor(Machine& m, Numbers const& n) {
    Tensor_ptr const& tensor = n.in(m.tensors, 1);
    if (tensor) n.in(m.tensors, 2) = graph_of(m, n).tensor(*tensor);
}

void take_like(Machine& m, Numbers const& n) {
    n.in(m.tensors, 2) = graph_of(m, n).tensor_like(n.in(m.tensors, 1), n.flag(3) ? "like" : "");
}

// A packed tensor as in most programs, with few elements.
Tensor_ptr packed(Graph& graph, char const* name, std::int64_t rows, std::int64_t columns) {
    return graph.tensor(Tensor_attributes()
                            .set_name(name)
                            .set_dim({2, 2, rows, columns})
                            .set_stride({2 * rows * columns, rows * columns, columns, 1}));
}

void take_packed(Machine& m, Numbers const& n) {
    auto const size = [&](std::size_t i) { return 1 + static_cast<std::int64_t>(n.as<std::uint64_t>(i, 6)); };
    n.in(m.tensors, 1) = packed(graph_of(m, n), "packed", size(2), size(3));
}

void add_forward(Machine& m, Numbers const& n) {
    keep(m, n, 3, graph_of(m, n).sdpa(n.in(m.tensors, 1), n.in(m.tensors, 2), n.in(m.tensors, 3), m.forward));
}

void add_backward(Machine& m, Numbers const& n) {
    Tensor_ptr const &a = n.in(m.tensors, 1), &b = n.in(m.tensors, 2), &c = n.in(m.tensors, 3);
    keep(m, n, 2, graph_of(m, n).sdpa_backward(a, b, b, a, a, c, m.backward));
}

void add_fp8(Machine& m, Numbers const& n) {
    Tensor_ptr const &q = n.in(m.tensors, 1), &k = n.in(m.tensors, 2), &f = n.in(m.tensors, 3);
    Graph& graph = graph_of(m, n);
    if (n.flag(1)) keep(m, n, 2, graph.sdpa_fp8(q, k, k, f, f, f, f, f, f, m.forward));
    else keep(m, n, 2, graph.sdpa_fp8_backward(q, k, k, q, q, f, f, f, f, f, f, f, f, f, f, f, f, f, m.fp8_backward));
}

void add_pointwise(Machine& m, Numbers const& n) {
    Tensor_ptr const a = n.in(m.tensors, 1), b = n.in(m.tensors, 2);
    n.in(m.tensors, 3) =
        n.flag(3) ? graph_of(m, n).pointwise(a, m.pointwise) : graph_of(m, n).pointwise(a, b, m.pointwise);
}

void add_matmul(Machine& m, Numbers const& n) {
    n.in(m.tensors, 3) = graph_of(m, n).matmul(n.in(m.tensors, 1), n.in(m.tensors, 2), m.matmul);
}

void add_reduction(Machine& m, Numbers const& n) {
    n.in(m.tensors, 2) = graph_of(m, n).reduction(n.in(m.tensors, 1), m.reduction);
}

void add_move(Machine& m, Numbers const& n) {
    Tensor_ptr const x = n.in(m.tensors, 1);
    Graph& graph = graph_of(m, n);
    Tensor_ptr& y = n.in(m.tensors, 2);
    switch (n.as<int>(3, 3)) {
        case 0: y = graph.slice(x, m.slice); return;
        case 1: y = graph.reshape(x, m.reshape); return;
        default: y = graph.transpose(x, m.transpose);
    }
}

void add_neighborhood(Machine& m, Numbers const& n) {
    Tensor_ptr const a = n.in(m.tensors, 1), b = n.in(m.tensors, 2), c = n.in(m.tensors, 3);
    Graph& graph = graph_of(m, n);
    switch (n.as<int>(3, 4)) {
        case 0: keep(m, n, 2, graph.neighborhood_attention(a, b, b, m.neighborhood)); return;
        case 1: keep(m, n, 2, graph.neighborhood_attention_backward(a, b, b, a, a, c, m.neighborhood_backward)); return;
        case 2: n.in(m.tensors, 3) = graph.neighborhood_qk(a, b, m.neighborhood_qk); return;
        default: n.in(m.tensors, 3) = graph.neighborhood_av(a, b, m.neighborhood_av);
    }
}

// Whole graphs, valid unless an option breaks a rule, for other calls to break.
void add_small_attention(Machine& m, Numbers const& n) {
    set_usual_types(m, n);
    Graph& graph = graph_of(m, n);
    Tensor_ptr const q = packed(graph, "Q", 3, 4), k = packed(graph, "K", 5, 4), v = packed(graph, "V", 5, 4);
    auto const results = graph.sdpa(q, k, v, m.forward);
    for (Tensor_ptr const& result : results) {
        if (result) result->set_output(true);
    }
    m.tensors[0] = q, m.tensors[1] = k, m.tensors[2] = v, m.tensors[3] = results[0], m.tensors[4] = results[1];
}

void add_small_backward(Machine& m, Numbers const& n) {
    set_usual_types(m, n);
    Graph& graph = graph_of(m, n);
    Tensor_ptr const q = packed(graph, "Q", 3, 4), k = packed(graph, "K", 5, 4), v = packed(graph, "V", 5, 4);
    Tensor_ptr const o = packed(graph, "O", 3, 4), d_o = packed(graph, "dO", 3, 4),
                     stats = packed(graph, "Stats", 3, 1);
    stats->set_data_type(DataType_t::FLOAT);
    auto const results = graph.sdpa_backward(q, k, v, o, d_o, stats, m.backward);
    for (Tensor_ptr const& result : results) {
        if (result) result->set_output(true);
    }
    m.tensors[0] = q, m.tensors[1] = k, m.tensors[2] = results[0], m.tensors[3] = results[1], m.tensors[4] = stats;
}

void add_small_neighborhood(Machine& m, Numbers const& n) {
    set_usual_types(m, n);
    Graph& graph = graph_of(m, n);
    auto const line = Tensor_attributes().set_dim({1, 6, 2, 4}).set_stride({48, 8, 4, 1});
    Tensor_ptr const q = graph.tensor(line), k = graph.tensor(line), v = graph.tensor(line);
    auto const results = graph.neighborhood_attention(q, k, v, m.neighborhood);
    for (Tensor_ptr const& result : results) {
        if (result) result->set_output(true);
    }
    m.tensors[0] = q, m.tensors[1] = k, m.tensors[2] = v, m.tensors[3] = results[0], m.tensors[4] = results[1];
}

void set_planning(Machine& m, Numbers const& n) {
    Graph& graph = graph_of(m, n);
    switch (n.as<int>(1, 7)) {
        case 0:
            graph.set_sm_count(static_cast<std::int32_t>(n[2])).set_sm_version(static_cast<std::int32_t>(n[3]));
            return;
        case 1: graph.set_dynamic_shape_enabled(n.flag(2)).set_override_shape_enabled(n.flag(3)); return;
        case 2: graph.set_kernel_cache(n.in(m.caches, 2)); return;
        case 3: graph.set_device_properties(nullptr); return;
        case 4: graph.deselect_workspace_greater_than(n[2]).deselect_shared_mem_greater_than(n[3]); return;
        case 5: graph.deselect_engines({std::string(static_cast<std::size_t>(n[2] & 7), 'e'), ""}); return;
        default: graph.select_behavior_notes({n.as<cudnn_frontend::BehaviorNote_t>(2, 9)});
    }
}

void rename(Machine& m, Numbers const& n) {
    graph_of(m, n).set_name(std::string(static_cast<std::size_t>(n[1] & 0xfff), 'g'));
}

// A moved-from object must remain usable.
void change_cache(Machine& m, Numbers const& n) {
    auto& cache = n.in(m.caches, 0);
    if (!cache || n.flag(1)) cache = std::make_shared<cudnn_frontend::KernelCache>();
    else if (n.flag(2)) cudnn_frontend::KernelCache taken(std::move(*cache));
    m.note(cache->status());
    m.expect(!cache->describe().empty(), "a kernel cache can be described");
    std::string& text = n.in(m.documents, 3);
    m.note(n.flag(2) ? cache->to_json(text) : cache->from_json(text));
}

constexpr Call kCalls[] = {
    {"graph.set_types", set_types},
    {"graph.set_usual_types", set_usual_types},
    {"graph.take_tensor", take_tensor},
    {"graph.take_like", take_like},
    {"graph.take_packed", take_packed},
    {"graph.add_forward", add_forward},
    {"graph.add_backward", add_backward},
    {"graph.add_fp8", add_fp8},
    {"graph.add_pointwise", add_pointwise},
    {"graph.add_matmul", add_matmul},
    {"graph.add_reduction", add_reduction},
    {"graph.add_move", add_move},
    {"graph.add_neighborhood", add_neighborhood},
    {"graph.add_small_attention", add_small_attention},
    {"graph.add_small_backward", add_small_backward},
    {"graph.add_small_neighborhood", add_small_neighborhood},
    {"graph.set_planning", set_planning},
    {"graph.rename", rename},
    {"graph.change_cache", change_cache},
};

}  // namespace

std::span<Call const> graph_calls() { return kCalls; }

}  // namespace fuzz
