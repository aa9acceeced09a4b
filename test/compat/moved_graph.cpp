// A compiler's runtime: a graph on the stack that moves into a class, notes and keys queried through const references,
// a macro that evaluates its call again for the text, plans by index, the built graph as bytes, members as scalars.
#include "host_attention.h"

namespace {

namespace fe = cudnn_frontend;
using fe::graph::Graph;
using fe::graph::Tensor_attributes;

#define RETURN_FALSE_IF_FE_ERROR(expr)                                  \
    do {                                                                \
        if ((expr).is_bad()) {                                          \
            std::cout << #expr << ": " << (expr).get_message() << "\n"; \
            return false;                                               \
        }                                                               \
    } while (false)

constexpr int64_t kBatch = 2, kHeads = 2, kRows = 64, kSize = 128;
constexpr double kScale = 0.088388347648318447;

class CudnnGraph {
   public:
    explicit CudnnGraph(Graph&& graph) : graph_(std::move(graph)) {}

    bool Prepare(cudnnHandle_t handle) {
        RETURN_FALSE_IF_FE_ERROR(graph_.validate());
        RETURN_FALSE_IF_FE_ERROR(graph_.build_operation_graph(handle));
        RETURN_FALSE_IF_FE_ERROR(graph_.create_execution_plans({fe::HeurMode_t::A}));
        graph_.select_behavior_notes({fe::BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API});
        graph_.deselect_numeric_notes({fe::NumericalNote_t::TENSOR_CORE});
        EXPECT(graph_.check_support(handle).is_bad());
        return true;
    }
    bool Build(cudnnHandle_t handle, std::optional<int64_t> plan_id) {
        if (plan_id.has_value()) {
            RETURN_FALSE_IF_FE_ERROR(graph_.build_plan_at_index(handle, *plan_id));
        } else {
            RETURN_FALSE_IF_FE_ERROR(graph_.build_plans(handle));
        }
        return true;
    }
    Graph const& Get() const { return graph_; }
    Graph& Get() { return graph_; }

   private:
    Graph graph_;
};

Graph describe(compat::Machine const& machine) {
    Graph graph;
    machine.prepare(graph);
    graph.set_compute_data_type(fe::DataType_t::FLOAT)
        .set_io_data_type(fe::DataType_t::HALF)
        .set_intermediate_data_type(fe::DataType_t::FLOAT);
    auto next_uid = [uid = 0]() mutable -> int64_t { return ++uid; };
    auto tensor = [&](char const* name) {
        return graph.tensor(Tensor_attributes()
                                .set_name(name)
                                .set_dim({kBatch, kHeads, kRows, kSize})
                                .set_stride({kHeads * kRows * kSize, kRows * kSize, kSize, 1})
                                .set_uid(next_uid()));
    };
    auto scalar = [&](char const* name) {
        return graph.tensor(Tensor_attributes()
                                .set_name(name)
                                .set_dim({1, 1, 1, 1})
                                .set_stride({1, 1, 1, 1})
                                .set_is_pass_by_value(true)
                                .set_data_type(fe::DataType_t::INT64)
                                .set_uid(next_uid()));
    };
    auto q = tensor("q"), k = tensor("k"), v = tensor("v");
    auto options =
        fe::graph::SDPA_attributes().set_name("flash_attention").set_is_inference(true).set_attn_scale(kScale);
    options.set_causal_mask(true).set_sliding_window_length(20);
    double const no_dropout = 0.0;
    auto seed = scalar("seed"), offset = scalar("offset");
    options.set_dropout(no_dropout, seed, offset);
    auto [o, stats] = graph.sdpa(q, k, v, options);
    o->set_output(true).set_is_virtual(false).set_name("output").set_uid(next_uid());
    o->set_dim({kBatch, kHeads, kRows, kSize}).set_stride({kHeads * kRows * kSize, kRows * kSize, kSize, 1});
    return graph;
}

bool supports_cuda_graphs(Graph const& graph) {
    std::vector<fe::BehaviorNote_t> notes;
    RETURN_FALSE_IF_FE_ERROR(graph.get_behavior_notes(notes));
    return std::find(notes.begin(), notes.end(), fe::BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API) != notes.end();
}

struct Runner {
    int64_t seed = 7, offset = 1;  // host memory that the pack points to
    compat::Machine const& machine;

    void operator()(Graph const& graph) {
        auto q = compat::random_values<half>(kBatch * kHeads * kRows * kSize, 1), k = q, v = q;
        std::rotate(k.begin(), k.begin() + 777, k.end());
        compat::Mirror<half> dq(machine, q), dk(machine, k), dv(machine, v), out(machine, k);
        auto workspace = compat::workspace_of(machine, graph.get_workspace_size());
        std::unordered_map<int64_t, void*> pack = {{1, dq.data()}, {2, dk.data()}, {3, dv.data()},
                                                   {4, &seed},     {5, &offset},   {6, out.data()}};
        auto const error = graph.execute(machine.handle(), pack, workspace.data());
        if (error.is_bad()) std::cout << error.err_msg << "\n";
        EXPECT(error.is_good() && cudaDeviceSynchronize() == cudaSuccess);
        auto view = [](std::vector<half>& all) {
            return compat::View<half>{
                all.data(), {kBatch, kHeads, kRows, kSize}, {kHeads * kRows * kSize, kRows * kSize, kSize, 1}};
        };
        auto o = out.read();
        auto const offset_of = [](int64_t, int64_t, int64_t i, int64_t j) {
            return j <= i && j > i - 20 ? 0 : compat::kMasked;
        };
        EXPECT(compat::is_attention(view(q), view(k), view(v), view(o), float(kScale), offset_of));
    }
};

void run(compat::Machine const& machine) {
    CudnnGraph strict(describe(machine)), compiled(describe(machine));
    EXPECT(strict.Prepare(machine.handle()) && !strict.Build(machine.handle(), std::nullopt));
    EXPECT(compiled.Get().key() == strict.Get().key());
    EXPECT(compiled.Get().build(machine.handle(), {fe::HeurMode_t::A}).is_good());
    EXPECT(compiled.Build(machine.handle(), 0) && supports_cuda_graphs(compiled.Get()));
    std::vector<uint8_t> bytes;
    EXPECT(compiled.Get().serialize(bytes).is_good() && !bytes.empty());
    Graph restored;
    machine.prepare(restored);
    auto const read = restored.deserialize(machine.handle(), std::vector<uint8_t>(bytes.begin(), bytes.end()));
    EXPECT(read.is_good() && restored.get_workspace_size() == compiled.Get().get_workspace_size());
    bytes.resize(bytes.size() / 2);
    EXPECT(Graph().deserialize(machine.handle(), bytes) == fe::error_code_t::UNSUPPORTED_GRAPH_FORMAT);
    std::ostringstream text;
    text << compiled.Get();
    EXPECT(text.str().find("flash_attention") != std::string::npos && text.str() == compiled.Get().print());
    if (!machine.has_gpu()) return;
    Runner{7, 1, machine}(compiled.Get());
    Runner{7, 1, machine}(restored);
}

}  // namespace

int main() { return compat::main_of(run); }
