// An inference engine: make_shared graphs, all stages in one call, a switch over error codes and a template specialized
// for the error type, a causal mask that may become bottom-right, lengths and a window.
#include "host_attention.h"

namespace {

namespace fe = cudnn_frontend;
using uid_t_of_graph = fe::graph::Tensor_attributes::uid_t;

template <typename Error>
char const* name_of(Error const& error);

template <>
char const* name_of<fe::error_t>(fe::error_t const& e) {
    fe::error_t error = e;
    switch (error.get_code()) {
        case fe::error_code_t::OK: return "OK";
        case fe::error_code_t::ATTRIBUTE_NOT_SET: return "ATTRIBUTE_NOT_SET";
        case fe::error_code_t::SHAPE_DEDUCTION_FAILED: return "SHAPE_DEDUCTION_FAILED";
        case fe::error_code_t::INVALID_TENSOR_NAME: return "INVALID_TENSOR_NAME";
        case fe::error_code_t::INVALID_VARIANT_PACK: return "INVALID_VARIANT_PACK";
        case fe::error_code_t::GRAPH_NOT_SUPPORTED: return "GRAPH_NOT_SUPPORTED";
        case fe::error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED: return "GRAPH_EXECUTION_PLAN_CREATION_FAILED";
        case fe::error_code_t::GRAPH_EXECUTION_FAILED: return "GRAPH_EXECUTION_FAILED";
        case fe::error_code_t::HEURISTIC_QUERY_FAILED: return "HEURISTIC_QUERY_FAILED";
        case fe::error_code_t::UNSUPPORTED_GRAPH_FORMAT: return "UNSUPPORTED_GRAPH_FORMAT";
        case fe::error_code_t::CUDA_API_FAILED: return "CUDA_API_FAILED";
        case fe::error_code_t::CUDNN_BACKEND_API_FAILED: return "CUDNN_BACKEND_API_FAILED";
        case fe::error_code_t::INVALID_CUDA_DEVICE: return "INVALID_CUDA_DEVICE";
        case fe::error_code_t::HANDLE_ERROR: return "HANDLE_ERROR";
        default: return "?";
    }
}

template <typename Error, typename Code>
bool succeeded(Error error, Code success, char const* call, std::string const& about) {
    if (error != success) {
        std::ostringstream text;
        text << call << " failed with " << static_cast<int>(error.get_code()) << " " << name_of(error) << ": "
             << error.get_message() << about;
        std::puts(text.str().c_str());
        return false;
    }
    return true;
}
#define FE_CALL(expr, about) EXPECT(succeeded((expr), fe::error_code_t::OK, #expr, about))

enum UIDs { QUid, KUid, VUid, OUid, SeqLenQUid, SeqLenKvUid };

struct GraphParams {
    int batch, heads, kv_heads, rows, keys, size;
    float scale;
    bool is_causal;
    int window;
};

std::vector<int64_t> strides(int64_t heads, int64_t rows, int64_t size) {
    return {rows * heads * size, size, heads * size, 1};
}

std::shared_ptr<fe::graph::Graph> build_graph(GraphParams const& p, compat::Machine const& machine) {
    auto graph = std::make_shared<fe::graph::Graph>();
    machine.prepare(*graph);
    graph->set_io_data_type(fe::DataType_t::BFLOAT16)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    auto tensor = [&](char const* name, int uid, int heads, int rows) {
        return graph->tensor(fe::graph::Tensor_attributes()
                                 .set_name(name)
                                 .set_uid(uid)
                                 .set_dim({p.batch, heads, rows, p.size})
                                 .set_stride(strides(heads, rows, p.size)));
    };
    auto q = tensor("Q", QUid, p.heads, p.rows), k = tensor("K", KUid, p.kv_heads, p.keys);
    auto v = tensor("V", VUid, p.kv_heads, p.keys);
    auto attributes = fe::graph::SDPA_attributes()
                          .set_name("SDPA")
                          .set_is_inference(true)
                          .set_causal_mask(p.is_causal)
                          .set_causal_mask_bottom_right(p.is_causal && p.rows != p.keys)
                          .set_attn_scale(p.scale);
    if (p.window > 0) attributes.set_sliding_window_length(p.window);
    auto lengths = [&](char const* name, int uid) {
        return graph->tensor(fe::graph::Tensor_attributes()
                                 .set_name(name)
                                 .set_uid(uid)
                                 .set_dim({p.batch, 1, 1, 1})
                                 .set_stride({1, 1, 1, 1})
                                 .set_data_type(fe::DataType_t::INT32));
    };
    attributes.set_padding_mask(true)
        .set_seq_len_q(lengths("SEQ_LEN_Q", SeqLenQUid))
        .set_seq_len_kv(lengths("SEQ_LEN_KV", SeqLenKvUid));
    auto [O, Stats] = graph->sdpa(q, k, v, attributes);
    O->set_output(true).set_dim({p.batch, p.heads, p.rows, p.size}).set_stride(strides(p.heads, p.rows, p.size));
    O->set_uid(OUid);
    std::ostringstream text;
    text << *graph;
    FE_CALL(graph->build(machine.handle(), {fe::HeurMode_t::A}), text.str());
    return graph;
}

void check_errors(GraphParams p, compat::Machine const& machine) {
    fe::graph::Graph graph;
    machine.prepare(graph);
    auto q = graph.tensor(fe::graph::Tensor_attributes().set_name("q"));
    auto outputs = graph.sdpa(q, q, q, fe::graph::SDPA_attributes());
    auto const error = graph.build(machine.handle(), {fe::HeurMode_t::A});
    EXPECT(std::string(name_of(error)) == "ATTRIBUTE_NOT_SET");
    auto built = build_graph(p, machine);
    std::unordered_map<uid_t_of_graph, void*> incomplete = {{QUid, nullptr}};
    auto status = built->execute(machine.handle(), incomplete, nullptr);
    EXPECT(status.is_bad() && status.get_message().size() > 10);
    EXPECT(std::string(name_of(status)) == (machine.has_gpu() ? "INVALID_VARIANT_PACK" : "GRAPH_EXECUTION_FAILED"));
}

void run(compat::Machine const& machine) {
    GraphParams const p{2, 4, 2, 64, 192, 64, 0.125f, true, 100};
    auto graph = build_graph(p, machine);
    check_errors(p, machine);
    EXPECT(graph->get_variant_pack_uids_sorted() == std::vector<int64_t>{0, 1, 2, 3, 4, 5});
    if (!machine.has_gpu()) return;
    std::size_t const rows = 2 * 4 * 64 * 64, keys = 2 * 2 * 192 * 64;
    auto q = compat::random_values<__nv_bfloat16>(rows, 1), k = compat::random_values<__nv_bfloat16>(keys, 2), v = k;
    compat::Mirror<__nv_bfloat16> dq(machine, q), dk(machine, k), dv(machine, v), dout(machine, q);
    compat::Mirror<int> len_q(machine, {64, 64}), len_kv(machine, {192, 130});
    auto workspace = compat::workspace_of(machine, graph->get_workspace_size());
    std::unordered_map<uid_t_of_graph, void*> pack = {{QUid, dq.data()},          {KUid, dk.data()},
                                                      {VUid, dv.data()},          {OUid, dout.data()},
                                                      {SeqLenQUid, len_q.data()}, {SeqLenKvUid, len_kv.data()}};
    FE_CALL(graph->execute(machine.handle(), pack, workspace.data()), "");
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    auto o = dout.read();
    auto view = [&](auto& all, int64_t heads, int64_t s) {
        return compat::View<__nv_bfloat16>{all.data(), {2, heads, s, 64}, strides(heads, s, 64)};
    };
    auto const offset = [](int64_t b, int64_t, int64_t i, int64_t j) {
        int64_t const last = i + (b == 0 ? 192 : 130) - 64;
        return j <= last && j > last - 100 ? 0 : compat::kMasked;
    };
    EXPECT(compat::is_attention(view(q, 4, 64), view(k, 2, 192), view(v, 2, 192), view(o, 4, 64), p.scale, offset));
}

}  // namespace

int main() { return compat::main_of(run); }
