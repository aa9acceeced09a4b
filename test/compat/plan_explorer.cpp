// Plans as samples use them: built without a handle, filtered, listed by index, made from an engine and its knobs,
// timed against each other, stored as bytes and as JSON; and a device described by its bytes.
#include "host_attention.h"

#include <nlohmann/json.hpp>

namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

constexpr int64_t b = 2, h = 4, s = 128, d = 64;

struct Attention {
    fe::graph::Graph graph;
    Tensor Q, K, V, O;
};

Attention describe() {
    Attention a;
    a.graph.set_io_data_type(fe::DataType_t::HALF)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    auto attributes = fe::graph::Tensor_attributes().set_dim({b, h, s, d}).set_stride({h * s * d, s * d, d, 1});
    a.Q = a.graph.tensor(attributes.set_name("Q").set_uid(1));
    a.K = a.graph.tensor(attributes.set_name("K").set_uid(2));
    a.V = a.graph.tensor_like(a.Q, "V");
    a.V->set_uid(3);
    auto options = fe::graph::SDPA_attributes().set_name("sdpa").set_generate_stats(false).set_attn_scale(0.125f);
    options.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT).set_diagonal_band_right_bound(0);
    a.O = a.graph.sdpa(a.Q, a.K, a.V, options)[0];
    a.O->set_output(true).set_dim({b, h, s, d}).set_stride({h * s * d, s * d, d, 1}).set_uid(4);
    return a;
}

bool is_ok(fe::error_t const& error) {
    if (error.is_bad()) std::cout << error.code << ": " << error.err_msg << "\n";
    return error.is_good();
}

std::shared_ptr<fe::DeviceProperties const> h200_from_bytes() {
    std::vector<uint8_t> bytes;
    EXPECT(is_ok(fe::DeviceProperties::named("h200").serialize(bytes)));
    auto device = std::make_shared<fe::DeviceProperties>();
    EXPECT(device->status().is_bad());
    EXPECT(is_ok(device->deserialize(bytes)));
    return device;
}

// Lists every plan.
void explore(fe::graph::Graph& graph) {
    EXPECT(is_ok(graph.check_support()) && is_ok(graph.build_plans(fe::BuildPlanPolicy_t::ALL)));
    EXPECT(graph.get_execution_plan_count() > 1);
    int64_t largest = 0;
    for (int64_t i = 0; i < graph.get_execution_plan_count(); ++i) {
        std::string name, current;
        int64_t bytes = -1;
        EXPECT(is_ok(graph.get_plan_name_at_index(i, name)) && (name.rfind("eng", 0) == 0 || name == "attention"));
        if (graph.build_plan_at_index(i).is_bad()) continue;
        EXPECT(is_ok(graph.get_plan_name(current)) && current == name);
        EXPECT(is_ok(graph.get_workspace_size_plan_at_index(i, bytes)));
        EXPECT(bytes == graph.get_workspace_size_plan_at_index(i) && bytes == graph.get_workspace_size());
        largest = std::max(largest, bytes);
    }
    EXPECT(graph.get_autotune_workspace_size() == largest);
}

// Makes the first plan's kernel again from its engine and knob; a name is like "eng1_k24=6".
void choose_by_hand(fe::graph::Graph& graph) {
    int64_t const count = graph.get_execution_plan_count();
    int64_t engines = 0;
    std::string name, again;
    EXPECT(is_ok(graph.get_engine_count(engines)) && is_ok(graph.get_plan_name_at_index(0, name)));
    EXPECT(graph.create_execution_plan(engines + 1000, {{fe::KnobType_t::STAGES, 1}}).is_bad());
    int64_t const engine = std::stoll(name.substr(3));
    std::vector<fe::Knob> knobs;
    EXPECT(engine < engines && is_ok(graph.get_knobs_for_engine(engine, knobs)));
    auto const at = name.find("_k24=");
    if (at == name.npos || std::count(name.begin(), name.end(), '=') != 1) return;  // more than one knob
    EXPECT(std::any_of(knobs.begin(), knobs.end(), [](auto& k) { return k.type == fe::KnobType_t::KERNEL_CFG; }));
    int64_t const kernel = std::stoll(name.substr(at + 5));
    std::unordered_map<fe::KnobType_t, int64_t> const choices = {{fe::KnobType_t::KERNEL_CFG, kernel}};
    EXPECT(is_ok(graph.create_execution_plan(engine, choices)));
    EXPECT(is_ok(graph.create_execution_plan(engine, {{fe::KnobType_t::KERNEL_CFG, kernel}})));
    EXPECT(graph.get_execution_plan_count() == count + 2);
    EXPECT(is_ok(graph.get_plan_name_at_index(count, again)) && again == name);
}

// Makes a plan that was stored as engine and knobs again, for another graph.
void replay(fe::graph::Graph& graph) {
    int64_t engine = -1;
    std::unordered_map<fe::KnobType_t, int64_t> knobs;
    std::string name, again;
    EXPECT(graph.get_engine_and_knobs_at_index(-1, engine, knobs).is_bad() && engine == -1 && knobs.empty());
    EXPECT(is_ok(graph.get_engine_and_knobs_at_index(0, engine, knobs)) &&
           is_ok(graph.get_plan_name_at_index(0, name)));
    auto a = describe();
    a.graph.set_device_properties(h200_from_bytes());
    EXPECT(is_ok(a.graph.validate()) && is_ok(a.graph.build_operation_graph()));
    EXPECT(is_ok(a.graph.create_execution_plan(engine, knobs)) && a.graph.get_execution_plan_count() == 1);
    EXPECT(is_ok(a.graph.get_plan_name_at_index(0, again)) && again == name);
}

void filters() {
    auto a = describe();
    a.graph.set_device_properties(h200_from_bytes()).set_sm_version(80);
    EXPECT(a.graph.build({fe::HeurMode_t::A}) == fe::error_code_t::INVALID_VALUE);
    a.graph.set_sm_version(90);
    std::string best, other;
    EXPECT(is_ok(a.graph.build({fe::HeurMode_t::A})) && is_ok(a.graph.get_plan_name(best)));
    a.graph.deselect_engines({best});
    EXPECT(is_ok(a.graph.build_plans()) && is_ok(a.graph.get_plan_name(other)) && other != best);
    a.graph.deselect_engines({"eng", "attention"});
    EXPECT(a.graph.check_support() == fe::error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED);
    a.graph.set_kernel_cache(std::make_shared<fe::KernelCache>());
    EXPECT(a.graph.build(nullptr, {fe::HeurMode_t::A}) == fe::error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED);
    EXPECT(is_ok(a.graph.set_dynamic_shape_enabled(true).deselect_engines({}).validate()));
}

void store(fe::graph::Graph& graph) {
    nlohmann::json json;
    graph.serialize(json);
    fe::graph::Graph read;
    EXPECT(is_ok(read.deserialize(json)) && read.key() == graph.key());
    fe::graph::Tensor_attributes found;
    EXPECT(is_ok(read.query_tensor_attributes_of_uid(1, found)) && found.get_name() == "Q");
    EXPECT(read.query_tensor_attributes_of_uid(77, found) == fe::error_code_t::INVALID_VALUE);
}

void run(compat::Machine const& machine) {
    EXPECT(fe::detail::get_backend_version() / 10000 == fe::detail::get_compiled_version() / 10000);
    filters();
    auto a = describe();
    a.graph.set_device_properties(h200_from_bytes());
    EXPECT(is_ok(a.graph.validate()) && is_ok(a.graph.build_operation_graph()));
    EXPECT(is_ok(a.graph.create_execution_plans({fe::HeurMode_t::A})));
    explore(a.graph);
    replay(a.graph);
    choose_by_hand(a.graph);
    store(a.graph);
    if (!machine.has_gpu()) return;
    EXPECT(is_ok(a.graph.build(machine.handle(), {fe::HeurMode_t::A}, fe::BuildPlanPolicy_t::ALL)));
    auto q = compat::random_values<half>(b * h * s * d, 1), k = compat::random_values<half>(b * h * s * d, 2);
    compat::Mirror<half> dq(machine, q), dk(machine, k), dv(machine, k), out(machine, q);
    auto workspace = compat::workspace_of(machine, a.graph.get_autotune_workspace_size());
    std::unordered_map<Tensor, void*> pack = {{a.Q, dq.data()}, {a.K, dk.data()}, {a.V, dv.data()}, {a.O, out.data()}};
    std::vector<void*> sorted = {dq.data(), dk.data(), dv.data(), out.data()};
    auto const is_right = [&] {
        EXPECT(cudaDeviceSynchronize() == cudaSuccess);
        auto o = out.read();
        auto view = [](auto& all) { return compat::View<half>{all.data(), {b, h, s, d}, {h * s * d, s * d, d, 1}}; };
        return compat::is_attention(view(q), view(k), view(k), view(o), 0.125f, compat::causal);
    };
    EXPECT(is_ok(a.graph.autotune(machine.handle(), pack, workspace.data(), nullptr)) && is_right());
    for (int64_t i = 0, bytes = 0; i < a.graph.get_execution_plan_count(); ++i) {
        if (a.graph.get_workspace_size_plan_at_index(i, bytes).is_bad()) continue;  // could not be built
        EXPECT(cudaMemset(out.data(), 0, q.size() * sizeof(half)) == cudaSuccess);
        EXPECT(is_ok(a.graph.execute_plan_at_index(machine.handle(), pack, workspace.data(), i)) && is_right());
    }
    EXPECT(is_ok(a.graph.warmup(machine.handle())));
    EXPECT(is_ok(a.graph.execute(machine.handle(), sorted.data(), 4, workspace.data())) && is_right());
}

}  // namespace

int main() { return compat::main_of(run); }
