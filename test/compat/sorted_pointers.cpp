// An inference engine with types, buffers and tables of its own: sizes in bits, ports keyed by the frontend's names,
// cuDNN's enumerators for its other kernels, and runs on pointers in the order of uids, prepared once for each graph.
#include <cudnn_frontend.h>

#include "host_attention.h"

namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;
using Input = fe::graph::SDPA_attributes::input_names;
using Outputs = fe::graph::SDPA_attributes::SDPA_outputs;

constexpr int64_t b = 2, h = 2, s_q = 64, s_kv = 128, d = 64;

void check(fe::error_t const& error, int line) {
    if (error.is_good()) return;
    std::printf("line %d: %s (%s)\n", line, error.err_msg.c_str(), fe::detail::get_last_error_string_().c_str());
    EXPECT(error.is_good());
}
#define CHECK_FE(expr) check((expr), __LINE__)

std::size_t bytes_of(Tensor const& tensor) {
    return (std::size_t(tensor->get_volume()) * fe::detail::get_element_size_in_bits(tensor->get_data_type()) + 7) / 8;
}

struct Engine {
    fe::graph::Graph graph;
    std::map<Input, Tensor> inputs;
    Outputs outputs;

    explicit Engine(compat::Machine const& machine) {
        machine.prepare(graph);
        graph.set_io_data_type(fe::DataType_t::HALF)
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT);
        add(Input::Q, "Q", {b, h, s_q, d});
        add(Input::K, "K", {b, h, s_kv, d});
        add(Input::V, "V", {b, h, s_kv, d});
        add(Input::Bias, "Bias", {1, h, s_q, s_kv});
        auto options = fe::graph::SDPA_attributes().set_name("engine").set_attn_scale(0.125f).set_generate_stats(true);
        options.set_bias(inputs.at(Input::Bias));
        auto [O, Stats] = graph.sdpa(inputs.at(Input::Q), inputs.at(Input::K), inputs.at(Input::V), options);
        outputs.O = O, outputs.Stats = Stats;
        EXPECT(!outputs.Max && !outputs.RNG_DUMP);
        for (Tensor const& output : {outputs.O, outputs.Stats}) output->set_output(true);
        EXPECT(graph.prepare_variant_pack_template() == fe::error_code_t::GRAPH_EXECUTION_FAILED);
        CHECK_FE(graph.build(machine.handle(), {fe::HeurMode_t::A}));
        CHECK_FE(graph.prepare_variant_pack_template());
    }

    void add(Input port, char const* name, std::vector<int64_t> const& dim) {
        inputs[port] = graph.tensor(fe::graph::Tensor_attributes()
                                        .set_name(name)
                                        .set_uid(int64_t(port))
                                        .set_dim(dim)
                                        .set_stride({dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1}));
    }
};

void check_enumerators() {
    cudnnDataType_t type = CUDNN_DATA_INT8;
    EXPECT(fe::detail::convert_to_cudnn_type(fe::DataType_t::BFLOAT16, type) == CUDNN_STATUS_SUCCESS);
    EXPECT(type == CUDNN_DATA_BFLOAT16);
    EXPECT(fe::detail::convert_to_cudnn_type(fe::DataType_t::NOT_SET, type) == CUDNN_STATUS_NOT_SUPPORTED);
    EXPECT(type == CUDNN_DATA_BFLOAT16);
    cudnnPointwiseMode_t mode{};
    EXPECT(fe::detail::convert_to_cudnn_type(fe::PointwiseMode_t::BINARY_SELECT, mode) == CUDNN_STATUS_SUCCESS);
    EXPECT(mode == CUDNN_POINTWISE_BINARY_SELECT);
    cudnnReduceTensorOp_t sum{};
    EXPECT(fe::detail::convert_to_cudnn_type(fe::ReductionMode_t::AMAX, sum) == CUDNN_STATUS_SUCCESS);
    EXPECT(sum == CUDNN_REDUCE_TENSOR_AMAX);
    cudnnBackendHeurMode_t heuristic{};
    EXPECT(fe::detail::convert_to_cudnn_type(fe::HeurMode_t::FALLBACK, heuristic) == CUDNN_STATUS_SUCCESS);
    EXPECT(heuristic == CUDNN_HEUR_MODE_FALLBACK);
    EXPECT(fe::detail::convert_to_cudnn_type(fe::HeurMode_t::OPENSOURCE, heuristic) == CUDNN_STATUS_NOT_SUPPORTED);
    cudnnBackendKnobType_t knob{};
    EXPECT(fe::detail::convert_to_cudnn_type(fe::KnobType_t::KERNEL_CFG, knob) == CUDNN_STATUS_SUCCESS);
    EXPECT(knob == CUDNN_KNOB_TYPE_KERNEL_CFG);
    cudnnBackendBehaviorNote_t behavior{};
    EXPECT(fe::detail::convert_to_cudnn_type(fe::BehaviorNote_t::RUNTIME_COMPILATION, behavior) == 0);
    EXPECT(behavior == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION);
    cudnnBackendNumericalNote_t numerical{};
    EXPECT(fe::detail::convert_to_cudnn_type(fe::NumericalNote_t::TENSOR_CORE, numerical) == 0);
    EXPECT(numerical == CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
}

template <class E>
compat::View<E const> view(std::vector<E> const& values, Tensor const& tensor) {
    return {values.data(), tensor->get_dim(), tensor->get_stride()};
}

void run(compat::Machine const& machine) {
    check_enumerators();
    Engine engine(machine);
    Tensor const q = engine.inputs.at(Input::Q), k = engine.inputs.at(Input::K), v = engine.inputs.at(Input::V);
    auto const& [O, Stats, Max, Sum_exp, dump, Amax_S, Amax_O] = engine.outputs;
    EXPECT(bytes_of(q) == b * h * s_q * d * sizeof(half) && bytes_of(Stats) == b * h * s_q * sizeof(float));
    EXPECT(!Max && !Sum_exp && !dump && !Amax_S && !Amax_O);
    auto const uids = engine.graph.get_variant_pack_uids_sorted();
    EXPECT(uids.size() == 6);
    if (!machine.has_gpu()) return;
    auto const hq = compat::random_values<half>(bytes_of(q) / 2, 1),
               hk = compat::random_values<half>(bytes_of(k) / 2, 2);
    auto const hv = compat::random_values<half>(bytes_of(v) / 2, 3),
               bias = compat::random_values<half>(h * s_q * s_kv, 4);
    compat::Mirror<half> dQ(machine, hq), dK(machine, hk), dV(machine, hv), dBias(machine, bias), dO(machine, hq);
    compat::Mirror<float> dStats(machine, std::vector<float>(bytes_of(Stats) / 4));
    std::map<int64_t, void*> const memory = {{q->get_uid(), dQ.data()}, {k->get_uid(), dK.data()},
                                             {v->get_uid(), dV.data()}, {int64_t(Input::Bias), dBias.data()},
                                             {O->get_uid(), dO.data()}, {Stats->get_uid(), dStats.data()}};
    std::vector<void*> pointers;
    for (int64_t const uid : uids) pointers.push_back(memory.at(uid));
    auto workspace = compat::workspace_of(machine, engine.graph.get_workspace_size());
    CHECK_FE(engine.graph.execute(machine.handle(), pointers.data(), int(pointers.size()), workspace.data()));
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    auto const offset = [&](int64_t, int64_t head, int64_t i, int64_t j) {
        return float(bias[std::size_t((head * s_q + i) * s_kv + j)]);
    };
    auto const o = dO.read();
    EXPECT(compat::is_attention(view(hq, q), view(hk, k), view(hv, v), view(o, O), 0.125f, offset, dStats.read()));
}

}  // namespace

int main() { return compat::main_of(run); }
