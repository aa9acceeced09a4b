// An array library: a class derived from Graph that hides its members, exceptions of the backend caught around the
// stages, and the plan as part of a CUDA graph that an object of its own owns.
#include "host_attention.h"

namespace {

namespace fe = cudnn_frontend;

// Converts to the CUDA graph that it owns.
class CudaGraph {
   public:
    CudaGraph() { EXPECT(cudaGraphCreate(&graph_, 0) == cudaSuccess); }
    ~CudaGraph() { cudaGraphDestroy(graph_); }
    CudaGraph(CudaGraph const&) = delete;
    operator cudaGraph_t() const { return graph_; }

   private:
    cudaGraph_t graph_ = nullptr;
};

struct Array {
    std::vector<int64_t> shape, strides;
};

Array rows(int64_t b, int64_t h, int64_t s, int64_t d) { return {{b, h, s, d}, {h * s * d, s * d, d, 1}}; }

class DnnGraph : public fe::graph::Graph {
   public:
    DnnGraph(compat::Machine const& machine, fe::DataType_t io_type) : machine_(machine) {
        machine.prepare(*this);
        set_io_data_type(io_type);
        set_intermediate_data_type(fe::DataType_t::FLOAT);
        set_compute_data_type(fe::DataType_t::FLOAT);
    }

    auto& tensor(fe::graph::Tensor_attributes& attributes, int64_t uid, Array const& x) {
        return attributes.set_uid(uid).set_alignment(16).set_dim(x.shape).set_stride(x.strides);
    }
    auto tensor(char const* name, int64_t uid, Array const& x) {
        auto attributes = fe::graph::Tensor_attributes().set_name(name);
        tensor(attributes, uid, x);
        return Graph::tensor(attributes);
    }
    auto scalar(char const* name, int64_t uid, fe::DataType_t type) {
        return Graph::tensor(fe::graph::Tensor_attributes()
                                 .set_name(name)
                                 .set_uid(uid)
                                 .set_dim({1, 1, 1, 1})
                                 .set_stride({1, 1, 1, 1})
                                 .set_is_pass_by_value(true)
                                 .set_data_type(type));
    }

    fe::error_t prepare() {
        if (auto error = validate(); error.is_bad()) return error;
        try {
            if (auto error = build_operation_graph(machine_.handle()); error.is_bad()) return error;
        } catch (fe::cudnnException const& error) {
            return {fe::error_code_t::CUDNN_BACKEND_API_FAILED, error.what()};
        }
        return create_execution_plans({fe::HeurMode_t::A});
    }
    fe::error_t build() {
        if (auto error = check_support(machine_.handle()); error.is_bad()) return error;
        if (auto error = build_plans(machine_.handle()); error.is_bad()) return error;
        return {};
    }

    fe::error_t encode_graph(std::unordered_map<int64_t, void*> pack, bool is_update, CudaGraph const& graph) {
        int64_t bytes = 0;
        if (auto error = get_workspace_size(bytes); error.is_bad()) return error;
        if (!workspace_)
            workspace_ = std::make_shared<compat::Mirror<char>>(machine_, std::vector<char>(size_t(bytes) + 1));
        return is_update ? update_cuda_graph(machine_.handle(), pack, workspace_->data(), graph)
                         : populate_cuda_graph(machine_.handle(), pack, workspace_->data(), graph);
    }

   private:
    compat::Machine const& machine_;
    std::shared_ptr<compat::Mirror<char>> workspace_;
};

enum UIDS { Q, K, V, Scale, O, Stats };

DnnGraph sdpa_graph(compat::Machine const& machine, Array const& q, Array const& k) {
    DnnGraph graph(machine, fe::DataType_t::HALF);
    auto q_ = graph.tensor("Q", Q, q), k_ = graph.tensor("K", K, k), v_ = graph.tensor("V", V, k);
    auto options = fe::graph::SDPA_attributes()
                       .set_name("sdpa_cudnn")
                       .set_attn_scale(graph.scalar("Scale", Scale, fe::DataType_t::FLOAT))
                       .set_generate_stats(true);
    options.set_causal_mask_bottom_right(true);
    auto [o_, stats_] = graph.sdpa(q_, k_, v_, options);
    graph.tensor(*o_, O, q).set_output(true);
    graph.tensor(*stats_, Stats, {{2, 4, 64, 1}, {256, 64, 1, 1}})
        .set_output(true)
        .set_data_type(fe::DataType_t::FLOAT);
    return graph;
}

void launch(cudaGraph_t graph) {
    cudaGraphExec_t executable = nullptr;
    EXPECT(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
    EXPECT(cudaGraphLaunch(executable, nullptr) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
    cudaGraphExecDestroy(executable);
}

void run(compat::Machine const& machine) {
    auto const q_shape = rows(2, 4, 64, 64), k_shape = rows(2, 4, 128, 64);
    DnnGraph graph = sdpa_graph(machine, q_shape, k_shape);
    int64_t bytes = -1;
    EXPECT(graph.get_workspace_size(bytes).is_bad() && bytes == -1);
    auto error = graph.prepare();
    if (error.is_good()) error = graph.build();
    if (error.is_bad()) std::puts(error.get_message().c_str());
    EXPECT(error.is_good() && graph.get_workspace_size(bytes).is_good() && bytes >= 0);
    std::vector<fe::BehaviorNote_t> notes;
    EXPECT(graph.get_behavior_notes(notes).is_good() && !notes.empty());
    if (!machine.has_gpu()) {
        EXPECT(graph.populate_cuda_graph(nullptr, std::unordered_map<int64_t, void*>(), nullptr, nullptr).is_bad());
        return;
    }
    auto q = compat::random_values<half>(2 * 4 * 64 * 64, 1), k = compat::random_values<half>(2 * 4 * 128 * 64, 2),
         v = k;
    compat::Mirror<half> dq(machine, q), dk(machine, k), dv(machine, v), first(machine, q), second(machine, q);
    compat::Mirror<float> stats(machine, std::vector<float>(2 * 4 * 64));
    float scale = 0.125f;
    CudaGraph cuda_graph;
    for (auto* const out : {&first, &second}) {
        std::unordered_map<int64_t, void*> pack = {{Q, dq.data()},  {K, dk.data()},   {V, dv.data()},
                                                   {Scale, &scale}, {O, out->data()}, {Stats, stats.data()}};
        auto const status = graph.encode_graph(pack, out == &second, cuda_graph);
        if (status.is_bad()) std::puts(status.err_msg.c_str());
        EXPECT(status.is_good());
        launch(cuda_graph);
        auto o = out->read();
        auto view = [](auto& all, Array const& x) { return compat::View<half>{all.data(), x.shape, x.strides}; };
        auto const offset = [](int64_t, int64_t, int64_t i, int64_t j) { return j <= i + 64 ? 0 : compat::kMasked; };
        EXPECT(compat::is_attention(view(q, q_shape), view(k, k_shape), view(v, k_shape), view(o, q_shape), scale,
                                    offset, stats.read()));
    }
}

}  // namespace

int main() { return compat::main_of(run); }
