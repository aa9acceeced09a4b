// A tensor framework that keys graphs by a struct of plain numbers: grouped heads, a bias, uids as integers, an
// unordered map as the pack, the header included again inside a namespace, and a branch on the version macro.
#include <cudnn_frontend.h>

#include "host_attention.h"

#include <cstring>

namespace framework {
namespace native {

#include <cudnn_frontend.h>

namespace fe = cudnn_frontend;

#define FRAMEWORK_CHECK(call)                              \
    do {                                                   \
        auto error_object = (call);                        \
        if (!error_object.is_good()) {                     \
            std::puts(error_object.get_message().c_str()); \
            EXPECT(false);                                 \
        }                                                  \
    } while (false)

constexpr int Q = 1, K = 2, V = 3, O = 4, BIAS = 5, LSE = 6, SCALE = 7, SEED = 8, OFFSET = 9;

struct MHAParams {
    int64_t b, h_q, h_kv, s_q, s_kv, d;
    double dropout;
    bool has_bias, is_causal, return_stats;
};

MHAParams params_of(int64_t b, int64_t h_q, int64_t h_kv, int64_t s, double dropout) {
    MHAParams params;
    std::memset(static_cast<void*>(&params), 0, sizeof(params));
    params.b = b, params.h_q = h_q, params.h_kv = h_kv, params.s_q = params.s_kv = s, params.d = 64;
    params.dropout = dropout;
    params.has_bias = dropout == 0, params.is_causal = true, params.return_stats = true;
    return params;
}

struct BytesHash {
    std::size_t operator()(MHAParams const& params) const {
        auto const* bytes = reinterpret_cast<unsigned char const*>(&params);
        std::size_t hash = 2166136261u;
        for (std::size_t i = 0; i < sizeof(params); ++i) hash = (hash ^ bytes[i]) * 16777619u;
        return hash;
    }
};

bool operator==(MHAParams const& a, MHAParams const& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

auto scalar(int uid, char const* name, fe::DataType_t type) {
    return fe::graph::Tensor_attributes()
        .set_uid(uid)
        .set_name(name)
        .set_dim({1, 1, 1, 1})
        .set_stride({1, 1, 1, 1})
        .set_data_type(type);
}

std::vector<int64_t> rows_first(int64_t h, int64_t s, int64_t d) { return {s * h * d, d, h * d, 1}; }

std::unique_ptr<fe::graph::Graph> build_graph(MHAParams const& params, compat::Machine const& machine) {
    auto const& [b, h_q, h_kv, s_q, s_kv, d, dropout, has_bias, is_causal, return_stats] = params;
    auto graph = std::make_unique<fe::graph::Graph>();
    machine.prepare(*graph);
    graph->set_io_data_type(fe::DataType_t::HALF)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    auto scale = graph->tensor(scalar(SCALE, "attn_scale", fe::DataType_t::FLOAT).set_is_pass_by_value(true));
#if CUDNN_FRONTEND_VERSION <= 11200
    auto options = fe::graph::SDPA_attributes().set_name("MHA").set_is_inference(return_stats == false);
#else
    auto options = fe::graph::SDPA_attributes().set_name("MHA").set_generate_stats(return_stats);
#endif
    options.set_causal_mask(is_causal).set_attn_scale(scale);
    if (dropout != 0.0) {
        auto seed = graph->tensor(scalar(SEED, "seed", fe::DataType_t::INT64));
        auto offset = graph->tensor(scalar(OFFSET, "offset", fe::DataType_t::INT64));
        options.set_dropout(dropout, seed, offset);
    }
    auto tensor = [&](char const* name, int uid, int64_t h, int64_t s) {
        return graph->tensor(fe::graph::Tensor_attributes()
                                 .set_name(name)
                                 .set_uid(uid)
                                 .set_dim({params.b, h, s, params.d})
                                 .set_stride(rows_first(h, s, params.d)));
    };
    auto q = tensor("Q", Q, h_q, s_q), k = tensor("K", K, h_kv, s_kv), v = tensor("V", V, h_kv, s_kv);
    if (has_bias) {
        options.set_bias(graph->tensor(fe::graph::Tensor_attributes()
                                           .set_uid(BIAS)
                                           .set_name("bias")
                                           .set_dim({1, h_q, s_q, s_kv})
                                           .set_stride({INT_MAX, s_q * s_kv, s_kv, 1})));
    }
    auto [o, stats] = graph->sdpa(q, k, v, options);
    o->set_uid(O).set_output(true).set_dim({b, h_q, s_q, d}).set_stride(rows_first(h_q, s_q, d));
    if (stats) stats->set_uid(LSE).set_output(true).set_data_type(fe::DataType_t::FLOAT);
    FRAMEWORK_CHECK(graph->validate());
    FRAMEWORK_CHECK(graph->build_operation_graph(machine.handle()));
    FRAMEWORK_CHECK(graph->create_execution_plans({fe::HeurMode_t::A}));
    FRAMEWORK_CHECK(graph->check_support(machine.handle()));
    FRAMEWORK_CHECK(graph->build_plans(machine.handle()));
    return graph;
}

void run(compat::Machine const& machine) {
    static thread_local std::unordered_map<MHAParams, std::unique_ptr<fe::graph::Graph>, BytesHash> cache;
    auto find = [&](MHAParams const& params) -> fe::graph::Graph const& {
        auto [entry, is_new] = cache.try_emplace(params);
        if (is_new) entry->second = build_graph(params, machine);
        return *entry->second;
    };
    auto const& graph = find(params_of(2, 4, 2, 128, 0.0));
    auto const& with_dropout = find(params_of(2, 4, 2, 128, 0.1));
    EXPECT(&graph == &find(params_of(2, 4, 2, 128, 0.0)) && cache.size() == 2);
    EXPECT(graph.get_variant_pack_uids_sorted() == std::vector<int64_t>{Q, K, V, O, BIAS, LSE, SCALE});
    EXPECT(with_dropout.get_variant_pack_uids_sorted() == std::vector<int64_t>{Q, K, V, O, LSE, SCALE, SEED, OFFSET});
    if (!machine.has_gpu()) return;
    int64_t const b = 2, s = 128, d = 64;
    auto q = compat::random_values<half>(b * 4 * s * d, 1), k = compat::random_values<half>(b * 2 * s * d, 2), v = k;
    auto bias = compat::random_values<half>(4 * s * s, 3);
    compat::Mirror<half> dq(machine, q), dk(machine, k), dv(machine, v), dbias(machine, bias), dout(machine, q);
    compat::Mirror<float> lse(machine, std::vector<float>(b * 4 * s));
    auto workspace = compat::workspace_of(machine, graph.get_workspace_size());
    float scale = 0.125f;
    std::unordered_map<int64_t, void*> pack = {{Q, dq.data()},   {K, dk.data()},       {V, dv.data()},
                                               {O, dout.data()}, {BIAS, dbias.data()}, {LSE, lse.data()},
                                               {SCALE, &scale},  {99, nullptr}};
    FRAMEWORK_CHECK(graph.execute(machine.handle(), pack, workspace.data()));
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    auto view = [&](std::vector<half>& all, int64_t h) {
        return compat::View<half>{all.data(), {b, h, s, d}, rows_first(h, s, d)};
    };
    auto o = dout.read();
    auto const offset = [&](int64_t batch, int64_t h, int64_t i, int64_t j) {
        return float(bias[std::size_t((h * s + i) * s + j)]) + compat::causal(batch, h, i, j);
    };
    EXPECT(compat::is_attention(view(q, 4), view(k, 2), view(v, 2), view(o, 4), scale, offset, lse.read()));
}

}  // namespace native
}  // namespace framework

int main() { return compat::main_of(framework::native::run); }
