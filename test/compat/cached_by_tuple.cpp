// A trainer that keeps its graphs in a static map by sizes: packed QKV in bfloat16, uids from an unscoped enum that
// starts at 0, the scale passed by value, stage after stage, a forward and a backward graph.
#include "host_attention.h"

#include <map>
#include <tuple>

namespace {

namespace fe = cudnn_frontend;
using compat::View;
using Element = __nv_bfloat16;
using CacheKey = std::tuple<int, int, int, int, int>;
using GraphPointer = std::shared_ptr<fe::graph::Graph>;
enum Uid { QUid, KUid, VUid, ScaleUid, OUid, StatsUid, DOUid, DQUid, DKUid, DVUid };

void check(fe::error_object const& status, int line) {
    if (status.is_good()) return;
    std::printf("line %d: %s\n", line, status.err_msg.c_str());
    EXPECT(false);
}
#define CHECK_FE(call) check(call, __LINE__)

struct Sizes {
    int B, H, T, HS;
};

auto attention_tensor(GraphPointer const& graph, char const* name, int uid, Sizes s, int parts) {
    auto [B, H, T, HS] = s;
    return graph->tensor(fe::graph::Tensor_attributes()
                             .set_name(name)
                             .set_dim({B, H, T, HS})
                             .set_stride({parts * H * HS * T, HS, parts * H * HS, 1})
                             .set_uid(uid));
}

auto scale_tensor(GraphPointer const& graph) {
    return graph->tensor(fe::graph::Tensor_attributes()
                             .set_name("scale")
                             .set_dim({1, 1, 1, 1})
                             .set_stride({1, 1, 1, 1})
                             .set_uid(ScaleUid)
                             .set_is_pass_by_value(true)
                             .set_data_type(fe::DataType_t::FLOAT));
}

GraphPointer new_graph(compat::Machine const& machine) {
    auto graph = std::make_shared<fe::graph::Graph>();
    graph->set_io_data_type(fe::DataType_t::BFLOAT16)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    machine.prepare(*graph);
    return graph;
}

void build(GraphPointer const& graph, cudnnHandle_t handle) {
    CHECK_FE(graph->validate());
    CHECK_FE(graph->build_operation_graph(handle));
    auto plans = graph->create_execution_plans({fe::HeurMode_t::A});
    CHECK_FE(graph->check_support(handle));
    CHECK_FE(graph->build_plans(handle));
    assert(plans.is_good() && graph->get_workspace_size() >= 0);
}

GraphPointer lookup_forward(compat::Machine const& machine, Sizes s, bool is_inference) {
    static std::map<CacheKey, GraphPointer> cache;
    auto [B, H, T, HS] = s;
    auto const key = std::make_tuple(B, H, T, HS, static_cast<int>(is_inference));
    if (auto it = cache.find(key); it != cache.end()) return it->second;
    auto graph = new_graph(machine);
    auto options = fe::graph::SDPA_attributes().set_name("flash_attention");
    options.set_is_inference(is_inference).set_attn_scale(scale_tensor(graph)).set_causal_mask(true);
    auto [O, stats] = graph->sdpa(attention_tensor(graph, "Q", QUid, s, 3), attention_tensor(graph, "K", KUid, s, 3),
                                  attention_tensor(graph, "V", VUid, s, 3), options);
    O->set_output(true).set_dim({B, H, T, HS}).set_stride({H * HS * T, HS, H * HS, 1}).set_uid(OUid);
    if (!is_inference) {
        stats->set_output(true).set_data_type(fe::DataType_t::FLOAT);
        stats->set_dim({B, H, T, 1}).set_stride({H * T, T, 1, 1}).set_uid(StatsUid);
    }
    build(graph, machine.handle());
    return cache[key] = graph;
}

GraphPointer lookup_backward(compat::Machine const& machine, Sizes s) {
    auto [B, H, T, HS] = s;
    auto graph = new_graph(machine);
    auto stats = graph->tensor(fe::graph::Tensor_attributes()
                                   .set_name("stats")
                                   .set_dim({B, H, T, 1})
                                   .set_stride({H * T, T, 1, 1})
                                   .set_uid(StatsUid)
                                   .set_data_type(fe::DataType_t::FLOAT));
    auto const [dQ, dK, dV] =
        graph->sdpa_backward(attention_tensor(graph, "Q", QUid, s, 3), attention_tensor(graph, "K", KUid, s, 3),
                             attention_tensor(graph, "V", VUid, s, 3), attention_tensor(graph, "O", OUid, s, 1),
                             attention_tensor(graph, "dO", DOUid, s, 1), stats,
                             fe::graph::SDPA_backward_attributes()
#if CUDNN_FRONTEND_MAJOR_VERSION == 1 && CUDNN_FRONTEND_MINOR_VERSION >= 5
                                 .set_name("flash_attention_backward")
                                 .set_deterministic_algorithm(true)
#endif
                                 .set_causal_mask(true)
                                 .set_attn_scale(scale_tensor(graph)));
    for (auto [gradient, uid] : {std::pair(dQ, DQUid), {dK, DKUid}, {dV, DVUid}}) {
        gradient->set_output(true).set_dim({B, H, T, HS}).set_stride({3 * H * HS * T, HS, 3 * H * HS, 1}).set_uid(uid);
    }
    build(graph, machine.handle());
    return graph;
}

void run(compat::Machine const& machine) {
    Sizes const s{2, 4, 64, 64};
    auto [B, H, T, HS] = s;
    auto forward = lookup_forward(machine, s, false), backward = lookup_backward(machine, s);
    EXPECT(forward == lookup_forward(machine, s, false) && forward != lookup_forward(machine, s, true));
    EXPECT(backward->get_variant_pack_uids_sorted().size() == 10);
    if (!machine.has_gpu()) return;
    std::size_t const count = std::size_t(B) * T * H * HS;
    auto qkv = compat::random_values<Element>(3 * count, 1), o = compat::random_values<Element>(count, 2), dO = o;
    compat::Mirror<Element> inp(machine, qkv), out(machine, o), dout(machine, dO), dinp(machine, qkv);
    compat::Mirror<float> stats(machine, std::vector<float>(std::size_t(B) * H * T));
    auto workspace = compat::workspace_of(machine, forward->get_workspace_size() + backward->get_workspace_size());
    float scale = 1.0f / std::sqrt(float(HS));
    Element *q = inp.data(), *dq = dinp.data();
    std::unordered_map<int64_t, void*> pack = {{QUid, q},
                                               {KUid, q + H * HS},
                                               {VUid, q + 2 * H * HS},
                                               {ScaleUid, &scale},
                                               {OUid, out.data()},
                                               {StatsUid, stats.data()},
                                               {DOUid, dout.data()},
                                               {DQUid, dq},
                                               {DKUid, dq + H * HS},
                                               {DVUid, dq + 2 * H * HS}};
    CHECK_FE(forward->execute(machine.handle(), pack, workspace.data()));
    CHECK_FE(backward->execute(machine.handle(), pack, workspace.data()));
    auto part = [&](std::vector<Element>& all, int n, int parts) {
        return View<Element>{all.data() + n * H * HS, {B, H, T, HS}, {parts * H * HS * T, HS, parts * H * HS, 1}};
    };
    auto result = out.read(), dqkv = dinp.read();
    auto const Q = part(qkv, 0, 3), K = part(qkv, 1, 3), V = part(qkv, 2, 3);
    EXPECT(compat::is_attention(Q, K, V, part(result, 0, 1), scale, compat::causal, stats.read()));
    auto const expected = compat::gradients(Q, K, V, part(dO, 0, 1), scale, compat::causal);
    for (int i = 0; i < 3; ++i) EXPECT(compat::are_values(part(dqkv, i, 3), expected[std::size_t(i)]));
}

}  // namespace

int main() { return compat::main_of(run); }
