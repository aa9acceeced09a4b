// A transformer library: packs keyed by tensors without uids, tuples of tensors kept next to the graph and passed on
// with std::apply, options assigned from a chain of temporaries, both causal setters in a row, sequence lengths.
#include <cudnn_frontend.h>
#include <cudnn_frontend_utils.h>

#include "host_attention.h"

namespace cudnn_frontend {
// Such programs define it whether or not they load cuDNN themselves.
void* cudnn_dlhandle = nullptr;
}

namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;
using Built = std::tuple<std::shared_ptr<fe::graph::Graph>, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor,
                         Tensor, Tensor>;  // Q, K, V, scale, O, stats, two lengths, one that no node uses

constexpr int64_t b = 3, h = 2, s_q = 64, s_kv = 128, d = 64;

struct Descriptor {
    bool is_training, is_causal, is_bottom_right;
    int64_t window;

    bool operator<(Descriptor const& other) const {
        return std::tie(is_training, is_causal, is_bottom_right, window) <
               std::tie(other.is_training, other.is_causal, other.is_bottom_right, other.window);
    }
};

void check(fe::error_t const& error, int line) {
    if (error.is_bad()) std::printf("line %d: %s\n", line, error.err_msg.c_str());
    EXPECT(error.is_good());
}
#define CHECK_FE(expr)             \
    do {                           \
        const auto error = (expr); \
        check(error, __LINE__);    \
    } while (false)

Tensor lengths(fe::graph::Graph& graph, char const* name) {
    return graph.tensor(fe::graph::Tensor_attributes()
                            .set_name(name)
                            .set_dim({b, 1, 1, 1})
                            .set_stride({1, 1, 1, 1})
                            .set_data_type(fe::DataType_t::INT32));
}

Built make(Descriptor const& descriptor, compat::Machine const& machine) {
    auto graph = std::make_shared<fe::graph::Graph>();
    machine.prepare(*graph);
    graph->set_io_data_type(fe::DataType_t::HALF)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    std::vector<int64_t> q_stride = {h * s_q * d, s_q * d, d, 1};
    auto attributes = fe::graph::Tensor_attributes().set_name("Q").set_dim({b, h, s_q, d}).set_stride(q_stride);
    Tensor Q = graph->tensor(attributes);
    attributes.set_dim({b, h, s_kv, d}).set_stride({{h * s_kv * d, s_kv * d, d, 1}});
    Tensor K = graph->tensor(attributes.set_name("K")), V = graph->tensor(attributes.set_name("V"));
    Tensor scale = graph->tensor(fe::graph::Tensor_attributes()
                                     .set_name("attn_scale")
                                     .set_dim({1, 1, 1, 1})
                                     .set_stride({1, 1, 1, 1})
                                     .set_is_pass_by_value(true)
                                     .set_data_type(fe::DataType_t::FLOAT));
    fe::graph::SDPA_attributes options;
    options = fe::graph::SDPA_attributes()
                  .set_name("flash_attention")
                  .set_is_inference(!descriptor.is_training)
                  .set_causal_mask(descriptor.is_causal)
                  .set_causal_mask_bottom_right(descriptor.is_bottom_right)
                  .set_attn_scale(scale);
    if (descriptor.window != -1) options.set_diagonal_band_left_bound(descriptor.window + 1);
    Tensor seq_q = lengths(*graph, "seq_q"), seq_kv = lengths(*graph, "seq_kv"), unused = lengths(*graph, "unused");
    options.set_padding_mask(true).set_seq_len_q(seq_q).set_seq_len_kv(seq_kv);
    auto [O, Stats] = graph->sdpa(Q, K, V, std::move(options));
    O->set_output(true).set_dim({b, h, s_q, d}).set_stride(q_stride);
    if (descriptor.is_training) {
        Stats->set_output(true).set_data_type(fe::DataType_t::FLOAT).set_dim({b, h, s_q, 1});
        Stats->set_stride({h * s_q, s_q, 1, 1});
    }
    auto key_tensors = std::make_tuple(Q, K, V, scale, O);
    auto stats_tensor = std::make_tuple(Stats);
    auto length_tensors = std::make_tuple(seq_q, seq_kv, unused);
    CHECK_FE(graph->validate());
    CHECK_FE(graph->build_operation_graph(machine.handle()));
    CHECK_FE(graph->create_execution_plans({fe::HeurMode_t::A}));
    CHECK_FE(graph->check_support());
    CHECK_FE(graph->build_plans());
    return std::tuple_cat(std::make_tuple(graph), key_tensors, stats_tensor, length_tensors);
}

void run(compat::Machine const& machine) {
    static thread_local std::map<Descriptor, Built> cache;
    auto get = [&](Descriptor const& descriptor) {
        auto it = cache.find(descriptor);
        if (it == cache.end()) it = cache.insert({descriptor, make(descriptor, machine)}).first;
        return it->second;
    };
    EXPECT(std::get<6>(get({false, false, true, -1})) == nullptr);
    auto [graph, Q, K, V, scale, O, Stats, seq_q, seq_kv, unused] = get({true, true, false, 15});
    EXPECT(cache.size() == 2 && !unused->has_uid() && Q->has_uid());
    EXPECT(graph->get_variant_pack_uids_sorted().size() == 8 && graph->get_workspace_size() >= 0);
    if (!machine.has_gpu()) return;
    auto q = compat::random_values<half>(b * h * s_q * d, 1), k = compat::random_values<half>(b * h * s_kv * d, 2);
    auto v = compat::random_values<half>(b * h * s_kv * d, 3);
    std::vector<int32_t> const len_q(b, s_q), len_kv = {128, 60, 50};
    compat::Mirror<half> dQ(machine, q), dK(machine, k), dV(machine, v), dO(machine, q);
    compat::Mirror<int32_t> dLenQ(machine, len_q), dLenKv(machine, len_kv);
    compat::Mirror<float> dStats(machine, std::vector<float>(b * h * s_q));
    auto workspace = compat::workspace_of(machine, graph->get_workspace_size());
    float attn_scale = 0.125f;
    std::unordered_map<Tensor, void*> pack = {{Q, dQ.data()},         {K, dK.data()}, {V, dV.data()},
                                              {scale, &attn_scale},   {O, dO.data()}, {seq_q, dLenQ.data()},
                                              {seq_kv, dLenKv.data()}};
    pack[Stats] = dStats.data();
    pack.insert({unused, nullptr});
    CHECK_FE(graph->execute(machine.handle(), pack, workspace.data()));
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    auto view = [](std::vector<half>& all, int64_t s) {
        return compat::View<half>{all.data(), {b, h, s, d}, {h * s * d, s * d, d, 1}};
    };
    auto o = dO.read();
    auto const offset = [&](int64_t batch, int64_t, int64_t i, int64_t j) {
        return j <= i && j > i - 16 && j < len_kv[std::size_t(batch)] ? 0 : compat::kMasked;
    };
    EXPECT(compat::is_attention(view(q, s_q), view(k, s_kv), view(v, s_kv), view(o, s_q), attn_scale, offset));
}

}  // namespace

int main() { return compat::main_of(run); }
