// The engines of the real cuDNN accept every option's graphs, with no GPU; their plans store, load and notice every
// change of a byte.
#include "gpu/cases/gpu_cases.h"
#include "gpu/cases/support_matrix_file.h"
#include "lowering/case_graphs.h"

#include "support/below_modifier.h"
#include "support/catch.h"
#include "support/dynamic_shapes.h"
#include "support/small_graph.h"

#include <cudnn_frontend/process.h>

#include <functional>
#include <map>

using namespace sdpa_test;
using cudnn_frontend::DeviceProperties;
using cudnn_frontend::HeurMode_t;
using Error = cudnn_frontend::error_object;
using Bytes = std::vector<std::uint8_t>;

namespace {

Error find_engines(Graph& graph, char const* device = "h200") {
    Error error = graph.build_operation_graph(Target::offline(device));
    if (error.is_good()) error = graph.create_execution_plans({HeurMode_t::A});
    if (error.is_good()) error = graph.check_support();
    return error;
}

// The kernel's parameters in cuDNN's own text of a plan, with the uids that the kernel gets.
std::string kernel_parameters(Bytes const& plan) {
    std::string const text(plan.begin(), plan.end());
    std::size_t const begin = text.find("\"kernelParams\""), end = text.find("\"rawData\"", begin);
    return end == text.npos ? "" : text.substr(begin, end - begin);
}

// cuDNN's own text of a plan, less the device, and less the parameters' bytes, which have addresses of this process.
std::string kernels_of(Bytes const& plan) {
    std::string text(plan.begin(), plan.end());
    text.erase(0, text.find("{\"cudnnVersion\""));
    auto const cut = [&](std::string const& from, char to) {
        for (auto at = text.find(from); at != text.npos; at = text.find(from, at + 1)) {
            text.erase(at + from.size(), text.find(to, at + from.size()) - at - from.size());
        }
    };
    cut("{\"maxGridSize\"", '}');
    cut("\"rawData\":\"", '"');
    return text;
}

std::shared_ptr<DeviceProperties const> device(char const* name) {
    return std::make_shared<DeviceProperties const>(DeviceProperties::named(name));
}

// Only some releases support dynamic shapes.
std::vector<CaseGroup> groups_of_this_release() {
    std::vector<CaseGroup> groups = gpu_case_groups();
    bool const takes_dynamic_shapes = test::takes_dynamic_shapes();
    std::erase_if(groups,
                  [&](CaseGroup const& group) { return group.cases[3].dynamic_shapes && !takes_dynamic_shapes; });
    return groups;
}

}  // namespace

TEST_CASE("engines take every option, forward and backward", "[offline]") {
    if (!has_cudnn()) return;
    for (CaseGroup const& group : groups_of_this_release()) {
        Graphs graphs(group.cases[3]);
        INFO(group.name << "\n" << describe(group.cases[3]));
        // The library's own engine has other limits.
        for (Session* const session : {&graphs.forward, &graphs.backward})
            session->graph().deselect_engines({"attention"});
        std::string const forward = find_engines(graphs.forward.graph()).get_message();
        if (group.limit.empty()) {
            CHECK(forward == "");
        } else {
            // The limits of the cases are those of 9.19; newer releases support some of them.
            bool const is_lifted = forward.empty() && cudnn_frontend::runtime::cudnn_version() >= 92000;
            CHECK((is_lifted || forward.find(group.limit) != forward.npos));
            continue;
        }
        if (!group.cases[3].has_backward()) continue;
        std::string const backward = find_engines(graphs.backward.graph()).get_message();
        if (group.backward_limit.empty()) CHECK(backward == "");
        else CHECK(backward.find(group.backward_limit) != backward.npos);
    }
}

TEST_CASE("kernels over pages are told the containers, the tables, the lengths and the offsets of packed tables",
          "[offline]") {
    if (!has_cudnn()) return;
    for (CaseGroup const& group : groups_of_this_release()) {
        if (group.name.find("pages") == group.name.npos || !group.limit.empty()) continue;
        if (is_ragged(group.cases[3].input_layout)) continue;  // offsets of Q and O reach another kernel
        INFO(group.name);
        Graphs graphs(group.cases[3]);
        REQUIRE(graphs.forward.build(Target::offline("h200")).get_message() == "");
        Bytes bytes;
        REQUIRE(graphs.forward.graph().serialize(bytes).is_good());
        std::string const parameters = kernel_parameters(bytes);
        for (Session::Entry const& entry : graphs.forward.entries()) {
            INFO(entry.tensor->get_name());
            CHECK(parameters.find("\"uid\":" + std::to_string(entry.tensor->get_uid()) + ",") != parameters.npos);
        }
    }
}

TEST_CASE("a plan stores and loads, and notices changed bytes, other devices and cuts", "[offline]") {
    if (!has_cudnn()) return;
    Graphs graphs(gpu_case_groups()[1].cases[0]);
    Graph& graph = graphs.forward.graph();
    REQUIRE(graph.build(Target::offline("h200")).get_message() == "");
    Bytes bytes;
    REQUIRE(graph.serialize(bytes).is_good());
    std::string name, loaded_name;
    REQUIRE(graph.get_plan_name(name).is_good());
    Graph loaded;
    loaded.set_device_properties(device("h200"));
    REQUIRE(loaded.deserialize(nullptr, bytes).get_message() == "");
    REQUIRE(loaded.get_plan_name(loaded_name).is_good());
    CHECK(loaded_name == name);
    CHECK(loaded.get_workspace_size() == graph.get_workspace_size());
    CHECK(loaded.get_variant_pack_uids_sorted() == graph.get_variant_pack_uids_sorted());
    std::int64_t engine = -1, loaded_engine = -2;
    std::map<cudnn_frontend::KnobType_t, std::int64_t> knobs, loaded_knobs;
    REQUIRE(graph.get_engine_and_knobs_at_index(0, engine, knobs).is_good());
    REQUIRE(loaded.get_engine_and_knobs_at_index(0, loaded_engine, loaded_knobs).is_good());
    CHECK(loaded_engine == engine);
    CHECK(loaded_knobs == knobs);

    for (std::size_t at = 0; at < bytes.size(); at += at < 64 ? 1 : 997) {
        Bytes changed = bytes;
        changed[at] ^= 0x10;
        CAPTURE(at);
        CHECK(loaded.deserialize(nullptr, changed).is_bad());
        Bytes const cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
        CHECK(loaded.deserialize(nullptr, cut).is_bad());
    }
    CHECK(loaded.get_workspace_size() == graph.get_workspace_size());  // the failure changed nothing

    Graph elsewhere;
    elsewhere.set_device_properties(device("a100"));
    CHECK(
        elsewhere.deserialize(nullptr, bytes).get_message() ==
        "the stored plan was made for another GPU, NVIDIA H200; here is NVIDIA A100-SXM4-80GB, with "
        "multiProcessorCount 108 instead of 132, maxSharedMemoryPerBlockOptin 166912 instead of 232448, deviceVer 800 "
        "instead of 900: build the graph again here, or offline for a description of this GPU");
}

TEST_CASE("a plan with a kernel of the library's own stores it, and loads with the same kernel", "[offline]") {
    if (!has_cudnn()) return;
    AttentionCase c = gpu_case_groups()[0].cases[0];
    c.deterministic = true, c.sink = DataType_t::FLOAT, c.d_sink = true;
    Graphs graphs(c);
    Graph& graph = graphs.backward.graph();
    REQUIRE(graph.build(Target::offline("h200")).get_message() == "");
    Bytes bytes, again;
    REQUIRE(graph.serialize(bytes).is_good());
    auto const kernel_in = [](Bytes const& stored) {
        std::string const text(stored.begin(), stored.end());
        std::size_t const at = text.find("sink_gradient X=");
        return at == text.npos ? "" : text.substr(at);
    };
    REQUIRE(kernel_in(bytes) != "");
    Graph loaded;
    loaded.set_device_properties(device("h200"));
    REQUIRE(loaded.deserialize(nullptr, bytes).get_message() == "");
    REQUIRE(loaded.serialize(again).is_good());
    CHECK((kernel_in(again) == kernel_in(bytes)));
    CHECK(loaded.get_variant_pack_uids_sorted() == graph.get_variant_pack_uids_sorted());
}

TEST_CASE("a plan for an H100 has the kernels of one for an H200, and loads there, whatever their names and memory",
          "[offline]") {
    if (!has_cudnn()) return;
    for (std::size_t const index : {0, 1, 2}) {
        AttentionCase const c = gpu_case_groups()[index].cases[0];
        for (bool const is_backward : {false, true}) {
            INFO(gpu_case_groups()[index].name << (is_backward ? ", backward" : ", forward"));
            Bytes plans[2];
            std::string names[2];
            for (int i : {0, 1}) {
                Graphs graphs(c);
                Graph& graph = (is_backward ? graphs.backward : graphs.forward).graph();
                REQUIRE(graph.build(Target::offline(i == 0 ? "h100" : "h200")).get_message() == "");
                REQUIRE(graph.serialize(plans[i]).is_good());
                REQUIRE(graph.get_plan_name(names[i]).is_good());
            }
            CHECK(names[0] == names[1]);
            CHECK((kernels_of(plans[0]) == kernels_of(plans[1]) && !kernels_of(plans[0]).empty()));
            CHECK(plans[0] != plans[1]);
            Graph loaded;
            loaded.set_device_properties(device("h200"));
            CHECK(loaded.deserialize(nullptr, plans[0]).get_message() == "");
        }
    }
}

TEST_CASE("filters bar engines with a reason, and an offline plan does not run", "[offline]") {
    if (!has_cudnn()) return;
    Graphs graphs(gpu_case_groups()[0].cases[0]);
    Graph& graph = graphs.forward.graph();
    REQUIRE(find_engines(graph).is_good());
    Graph limited(graph);
    limited.deselect_shared_mem_greater_than(1000);
    auto const error = limited.check_support();
    CHECK(error.get_message().find("bytes of shared memory, more than the limit of 1000") != std::string::npos);
    Graph without(graph);
    without.deselect_engines({"eng", "attention"});
    CHECK(without.build_plans().get_message().find("has the deselected name 'eng'") != std::string::npos);
    CHECK(graph.build_plan_at_index(99).get_message().find("there is no plan 99") != std::string::npos);
    REQUIRE(graph.build_plans().is_good());
    CHECK(without.get_workspace_size() == 0);
    auto const pack = graphs.forward.pack_by_uid();
    CHECK(graph.execute(nullptr, pack, nullptr).get_message().find("made offline") != std::string::npos);
}

TEST_CASE("dynamic shapes plan forward alone, and a kernel cache keeps graphs of other sizes apart", "[offline]") {
    if (!has_cudnn()) return;
    Graphs graphs(gpu_case_groups()[0].cases[0]);
    graphs.backward.graph().set_dynamic_shape_enabled(true).deselect_engines({"attention"});
    std::string const refusal = graphs.backward.build(Target::offline("h200")).get_message();
    CHECK(refusal.find("[cudnn.s84] node 'attention': found dynamic shapes in backward on compute capability 9.0 with "
                       "cuDNN 9.") != refusal.npos);
    CHECK(refusal.find("; expected dynamic shapes in forward alone, and without the unified operation. Try: leave out "
                       "set_dynamic_shape_enabled() and set_kernel_cache(); for sizes that change call "
                       "set_override_shape_enabled(true), which plans each once.") != refusal.npos);
    AttentionCase fused = gpu_case_groups()[0].cases[0];
    fused.implementation = AttentionImplementation_t::UNIFIED, fused.generate_stats = false;
    Graphs unified(fused);
    unified.forward.graph().set_dynamic_shape_enabled(true).deselect_engines({"attention"});
    CHECK(unified.forward.build(Target::offline("h200"))
              .get_message()
              .find("[cudnn.s84] node 'attention': found dynamic shapes of the unified operation on") != refusal.npos);
    auto const cache = std::make_shared<cudnn_frontend::KernelCache>();
    auto const plan = [&](std::size_t shape) {
        Graphs sized(gpu_case_groups()[0].cases[shape]);
        sized.forward.graph().set_dynamic_shape_enabled(true).set_kernel_cache(cache);
        return sized.forward.build(Target::offline("h200")).get_message();
    };
    if (!test::takes_dynamic_shapes()) {
        CHECK(plan(0).find("found dynamic shapes on compute capability 9.0 with cuDNN 9.") != std::string::npos);
        return;
    }
    for (std::size_t const shape : {std::size_t{0}, std::size_t{2}, std::size_t{0}}) CHECK(plan(shape) == "");
    CHECK(cache->describe() == "kernel cache of 2 graphs");
}

TEST_CASE("cuDNN gives the text of a kernel cache, and takes it back whole", "[offline]") {
    if (!has_cudnn() || !test::takes_dynamic_shapes()) return;
    auto const build = [](std::shared_ptr<cudnn_frontend::KernelCache> const& cache) {
        Graphs graphs(gpu_case_groups()[0].cases[0]);
        graphs.forward.graph().set_dynamic_shape_enabled(true).set_kernel_cache(cache);
        return graphs.forward.build(Target::offline("h200")).get_message();
    };
    auto const first = std::make_shared<cudnn_frontend::KernelCache>();
    CHECK(build(first) == "");
    std::string text, again;
    CHECK(first->to_json(text).get_message() == "");
    CHECK(text.size() > 10'000);  // a kernel is in it
    auto const copy = std::make_shared<cudnn_frontend::KernelCache>();
    CHECK(copy->from_json(text).get_message() == "");
    CHECK(build(copy) == "");
    CHECK(copy->to_json(again).get_message() == "");
    CHECK(again == text);
}

TEST_CASE("a kernel cache keeps devices and numbers of multiprocessors apart", "[offline]") {
    if (!has_cudnn() || !test::takes_dynamic_shapes()) return;
    auto const cache = std::make_shared<cudnn_frontend::KernelCache>();
    auto const plan = [&](char const* device, int sm_count) {
        Graphs graphs(gpu_case_groups()[0].cases[0]);
        graphs.forward.graph().set_dynamic_shape_enabled(true).set_kernel_cache(cache);
        if (sm_count > 0) graphs.forward.graph().set_sm_count(sm_count);
        return graphs.forward.graph().build_operation_graph(Target::offline(device)).get_message();
    };
    CHECK(plan("h200", 0) == "");
    CHECK(plan("h200", 0) == "");
    CHECK(cache->describe() == "kernel cache of 1 graphs");
    CHECK(plan("h100", 0) == "");
    CHECK(plan("h200", 100) == "");
    CHECK(cache->describe() == "kernel cache of 3 graphs");
}

TEST_CASE("a negative number of multiprocessors is refused", "[offline]") {
    if (!has_cudnn()) return;
    for (char const* const device : {"a100", "h100"}) {
        auto small = test::small_graph();
        small.graph.set_io_data_type(DataType_t::HALF).set_sm_count(-3);
        std::string const error = small.graph.build(Target::offline(device)).get_message();
        INFO(device << ": " << error);
        CHECK(error.find("set_sm_count(-3) was called; expected a number of multiprocessors, or 0") != error.npos);
    }
}

TEST_CASE("on other architectures groups are refused where the support matrix says so, and by its limits",
          "[offline]") {
    if (!has_cudnn()) return;
    std::size_t const version = cudnn_frontend::runtime::cudnn_version();
    if (!SupportMatrixColumn::find(version, 80)) {
        sdpa_test::skip("docs/ has no support matrix of this cuDNN");
        return;
    }
    std::vector<CaseGroup> const groups = groups_of_this_release();
    for (auto const& [device, capability] : {std::pair{"a100", 80}, {"l40s", 89}, {"b200", 100}, {"rtx5090", 120}}) {
        auto const column = SupportMatrixColumn::find(version, capability);
        REQUIRE(column);
        for (std::size_t i = 0; i < groups.size(); i += 3) {  // every third, to save time
            Graphs graphs(groups[i].cases[3]);
            for (bool const is_backward : {false, true}) {
                auto const limits = column->limits_of(groups[i].name, is_backward);
                if (!limits) continue;
                INFO(groups[i].name << (is_backward ? ", backward on " : ", forward on ") << device);
                Session& session = is_backward ? graphs.backward : graphs.forward;
                std::string const refusal =
                    session.graph().build_operation_graph(Target::offline(device)).get_message();
                if (limits->empty()) CHECK(refusal == "");
                else CHECK(refusal.find("[cudnn." + limits->substr(0, limits->find(' ')) + "]") != refusal.npos);
            }
        }
    }
}

TEST_CASE("cases of a group are refused by the limits that it names, and by no others", "[offline]") {
    if (!has_cudnn() || cudnn_frontend::runtime::cudnn_version() < 91900) return;
    for (CaseGroup const& group : groups_of_this_release()) {
        for (std::size_t i = 1; i < group.cases.size(); i += 2) {  // of one type, to save time
            AttentionCase const& c = group.cases[i];
            Graphs graphs(c);
            for (Session* const session : {&graphs.forward, &graphs.backward}) {
                bool const is_backward = session == &graphs.backward;
                if (is_backward && !c.has_backward()) continue;
                std::string const refusal =
                    session->graph().build_operation_graph(Target::offline("h200")).get_message();
                INFO(group.name << ", " << describe(c) << (is_backward ? ", backward" : ", forward"));
                if (group.limit.empty() && group.backward_limit.empty()) CHECK(refusal == "");
                bool const is_named = (!group.limit.empty() && refusal.find(group.limit) != refusal.npos) ||
                                      (is_backward && !group.backward_limit.empty() &&
                                       refusal.find(group.backward_limit) != refusal.npos);
                CHECK((refusal.empty() || is_named));
            }
        }
    }
}

TEST_CASE("heads of 20 are refused with what to do, and engines take them in rows of 24", "[offline]") {
    if (!has_cudnn()) return;
    AttentionCase c = gpu_case_groups()[0].cases[0];
    c.d_qk = c.d_v = 20;
    std::string const refusal = Graphs(c).forward.build(Target::offline("h200")).get_message();
    CHECK(refusal.find(
              "[cudnn.s04] node 'attention', tensors 'q', 'k', 'v': found a head dim of 20, where 24 is the next, on "
              "compute capability 9.0 with cuDNN ") != refusal.npos);
    CHECK(
        refusal.find(
            "; expected head dims that are multiples of 8. Try: round the head dim up, with zeros in the added columns "
            "of Q, K, V and dO, and keep attn_scale as it is; or use Target::cpu().") != refusal.npos);
    c.d_qk = c.d_v = 24, c.zero_columns = 4;
    Graphs graphs(c);
    CHECK(find_engines(graphs.forward.graph()).get_message() == "");
    CHECK(find_engines(graphs.backward.graph()).get_message() == "");
}

// Split-KV kernels for decode are faster, and count a sink in each part.
TEST_CASE("a sink of one query bars the kernels that split its keys", "[offline]") {
    if (!has_cudnn()) return;
    AttentionCase c = gpu_case_groups()[0].cases[0];
    c.s_q = 1, c.s_kv = 400, c.generate_stats = false;
    auto const first = [](Graph& graph) {
        std::string name;
        REQUIRE(graph.get_plan_name_at_index(0, name).is_good());
        return name;
    };
    Graphs plain(c);
    std::string chosen;
    REQUIRE(plain.forward.graph().build(Target::offline("h200")).is_good());
    REQUIRE(plain.forward.graph().get_plan_name(chosen).is_good());
    CHECK(chosen == first(plain.forward.graph()));
    c.sink = DataType_t::FLOAT;
    Graphs sunk(c);
    Graph& graph = sunk.forward.graph();
    REQUIRE(graph.build(Target::offline("h200")).is_good());
    REQUIRE(graph.get_plan_name(chosen).is_good());
    CHECK(chosen != first(graph));
    CHECK(graph.build_plan_at_index(0).get_message().find(first(graph) + " may be a split-KV kernel") !=
          std::string::npos);
    // The reason comes before the user's own.
    Graphs barred(c);
    barred.forward.graph().deselect_engines({"eng"});
    std::string const refusal = barred.forward.graph().build(Target::offline("h200")).get_message();
    CHECK(refusal.find(first(graph) + " may be a split-KV kernel") != std::string::npos);
    CHECK(refusal.find(chosen + " has the deselected name") != std::string::npos);
}

TEST_CASE("kernels that keep the keys of one query together are known on each architecture", "[offline]") {
    if (!has_cudnn()) return;
    std::vector<std::function<void(AttentionCase&)>> const wrong_in_parts = {
        [](AttentionCase& c) { c.sink = DataType_t::FLOAT; },
        [](AttentionCase& c) {
            c.bias = Index4{1, c.h_q, 1, 1};
        },
    };
    for (char const* const device : {"a100", "l40s", "h200", "b200", "rtx5090"}) {
        for (std::int64_t const head_dim : {64, 128, 256}) {
            for (auto const& change : wrong_in_parts) {
                AttentionCase c = gpu_case_groups()[0].cases[0];
                c.s_q = 1, c.s_kv = 600, c.d_qk = c.d_v = head_dim;
                change(c);
                CAPTURE(device, head_dim);
                CHECK(find_engines(Graphs(c).forward.graph(), device).get_message() == "");
            }
        }
    }
}

TEST_CASE("a plan tells whether each run gives the same bits", "[offline]") {
    if (!has_cudnn()) return;
    AttentionCase c = gpu_case_groups()[0].cases[0];
    auto const answer = [&](bool is_backward, Target const& target) {
        Graphs graphs(c);
        Graph& graph = (is_backward ? graphs.backward : graphs.forward).graph();
        bool is_deterministic = false;
        CHECK(graph.get_is_deterministic(is_deterministic).is_bad());  // before there is a plan
        REQUIRE(graph.build(target).get_message() == "");
        REQUIRE(graph.get_is_deterministic(is_deterministic).is_good());
        return is_deterministic;
    };
    CHECK(answer(false, Target::offline("h200")));
    CHECK_FALSE(answer(true, Target::offline("h200")));
    CHECK(answer(true, Target::cpu()));
    c.deterministic = true;
    CHECK(answer(true, Target::offline("h200")));
    c.sink = DataType_t::FLOAT, c.d_sink = true;
    CHECK(answer(true, Target::offline("h200")));
    c.sink.reset(), c.d_sink = false;
    c.s_q = 1;
    CHECK_FALSE(answer(false, Target::offline("h200")));  // its Stats
    c.generate_stats = false;
    CHECK(answer(false, Target::offline("h200")));
}

TEST_CASE("backward of packed sequences needs less memory where their rows are bounded", "[offline]") {
    if (!has_cudnn()) return;
    AttentionCase c = gpu_case_groups()[0].cases[1];
    c.b = 8, c.h_q = 4, c.h_k = c.h_v = 2, c.s_q = c.s_kv = 512, c.d_qk = c.d_v = 64;
    c.input_layout = c.output_layout = Layout::Ragged;
    c.len_q = c.len_kv = std::vector<std::int64_t>{512, 32, 32, 32, 32, 32, 32, 32};
    auto const workspace = [&](bool is_bounded, char const* device) {
        c.bounds_rows = is_bounded;
        Graphs graphs(c);
        REQUIRE(graphs.backward.build(Target::offline(device)).get_message() == "");
        return graphs.backward.graph().get_workspace_size();
    };
    // 736 rows of 4,096, of numbers and of heads: a FLOAT each and dQ's 64 of FLOAT, dK's and dV's 64 of BFLOAT16.
    std::int64_t const of_a_row = 4 * (4 + 64 * 4 + 2 * 64 * 2);
    for (char const* const device : {"h200", "b200"}) {
        CHECK(workspace(false, device) - workspace(true, device) >= (4096 - 736) * of_a_row - 4096);
    }
    for (char const* const device : {"a100", "rtx5090"}) CHECK(workspace(false, device) == workspace(true, device));
}

TEST_CASE("limits can be ignored, and then cuDNN answers for itself", "[offline]") {
    if (!has_cudnn()) return;
    AttentionCase c = gpu_case_groups().front().cases[3];
    c.sink = DataType_t::BFLOAT16;  // cudnn.s37: engines accept it, and compute it wrong
    auto const build = [&] {
        Graphs graphs(c);
        graphs.backward.graph().deselect_engines({"attention"});
        return graphs.backward.build(Target::offline("h200")).get_message();
    };
    CHECK(build().find("[cudnn.s37]") != std::string::npos);
    cudnn_frontend::runtime::set_ignores_limits(true);
    Graphs graphs(c);
    graphs.backward.graph().deselect_engines({"attention"});
    CHECK(graphs.backward.build(Target::offline("h200")).get_message() == "");
    Bytes bytes;
    REQUIRE(graphs.backward.graph().serialize(bytes).is_good());
    Graph loaded;
    loaded.set_device_properties(device("h200"));
    CHECK(loaded.deserialize(nullptr, bytes).get_message() == "");
    cudnn_frontend::runtime::set_ignores_limits(false);
    CHECK(loaded.deserialize(nullptr, bytes).get_message().find("[cudnn.s37]") == 0);
    cudnn_frontend::runtime::set_ignores_limits(true);
    c.sink.reset();
    c.d_qk = c.d_v = 20;  // cudnn.s04: no engine accepts it
    std::string const answer = build();
    CHECK(answer != "");
    CHECK(answer.find("cudnn.s") == std::string::npos);
    cudnn_frontend::runtime::set_ignores_limits(false);
    CHECK(build().find("[cudnn.s04]") != std::string::npos);
}

// cuDNN ends the process if it gets the graph as it is written.
TEST_CASE("two attention nodes in one graph have no engine, which a limit says", "[offline]") {
    if (!has_cudnn()) return;
    auto const build = [] {
        Graph graph;
        graph.set_io_data_type(DataType_t::HALF).set_intermediate_data_type(DataType_t::FLOAT);
        graph.set_compute_data_type(DataType_t::FLOAT);
        auto const rows = [&] { return graph.tensor(test::packed_tensor("", 4, 128, 64)); };
        for (char const* const name : {"first", "second"}) {
            auto const options = test::SDPA_attributes().set_name(name).set_generate_stats(false);
            graph.sdpa(rows(), rows(), rows(), options)[0]->set_output(true);
        }
        return graph.build(Target::offline("h200")).get_message();
    };
    CHECK(build().find("[cudnn.s82] node 'second': found an attention node next to 'first'") != std::string::npos);
    cudnn_frontend::runtime::set_ignores_limits(true);
    CHECK(build().find("cuDNN has no engine for this graph") == 0);
    cudnn_frontend::runtime::set_ignores_limits(false);
}

TEST_CASE("backward of a modifier that selects by row < column gets a plan", "[offline]") {
    using namespace cudnn_frontend;
    if (!has_cudnn()) return;
    Graph graph;
    graph.set_io_data_type(DataType_t::HALF).set_intermediate_data_type(DataType_t::FLOAT);
    graph.set_compute_data_type(DataType_t::FLOAT);
    auto const rows = [&](char const* name, std::int64_t width) {
        return graph.tensor(graph::Tensor_attributes()
                                .set_name(name)
                                .set_dim({1, 2, 300, width})
                                .set_stride({600 * width, 300 * width, width, 1}));
    };
    auto const stats = rows("stats", 1);
    stats->set_data_type(DataType_t::FLOAT);
    auto const gradients =
        graph.sdpa_backward(rows("q", 64), rows("k", 64), rows("v", 64), rows("o", 64), rows("dO", 64), stats,
                            graph::SDPA_backward_attributes().set_name("attention").set_score_mod(test::select_below));
    for (auto const& gradient : gradients) gradient->set_output(true);
    CHECK(graph.build(Target::offline("h200")).get_message() == "");
}

TEST_CASE("predicates of INT32, computed and from memory, have engines", "[offline]") {
    using namespace cudnn_frontend;
    using enum PointwiseMode_t;
    if (!has_cudnn()) return;
    for (bool const is_in_memory : {false, true}) {
        for (bool const is_backward : {false, true}) {
            Graph graph;
            graph.set_io_data_type(DataType_t::HALF).set_intermediate_data_type(DataType_t::FLOAT);
            graph.set_compute_data_type(DataType_t::FLOAT);
            auto const rows = [&](std::int64_t width) {
                return graph.tensor(graph::Tensor_attributes()
                                        .set_dim({1, 2, 128, width})
                                        .set_stride({256 * width, 128 * width, width, 1}));
            };
            auto const bits = rows(128);
            auto const modifier = [&](std::shared_ptr<Graph> const& to, auto const& scores) {
                auto const step = [](PointwiseMode_t mode) { return graph::Pointwise_attributes().set_mode(mode); };
                auto predicate = bits;
                if (!is_in_memory) {
                    auto const row = to->pointwise(scores, step(GEN_INDEX).set_axis(2));
                    row->set_data_type(DataType_t::INT32);
                    predicate = to->pointwise(row, to->tensor(std::int32_t{3}), step(MOD));
                }
                predicate->set_data_type(DataType_t::INT32);
                return to->pointwise(scores, to->tensor(-std::numeric_limits<float>::infinity()), predicate,
                                     step(BINARY_SELECT));
            };
            if (is_backward) {
                auto const stats = rows(1);
                stats->set_data_type(DataType_t::FLOAT);
                auto const options = graph::SDPA_backward_attributes().set_name("attention").set_score_mod(modifier);
                for (auto const& gradient :
                     graph.sdpa_backward(rows(64), rows(64), rows(64), rows(64), rows(64), stats, options)) {
                    gradient->set_output(true);
                }
            } else {
                auto const options = graph::SDPA_attributes().set_name("attention").set_score_mod(modifier);
                graph.sdpa(rows(64), rows(64), rows(64), options)[0]->set_output(true);
            }
            CHECK(graph.build(Target::offline("h200")).get_message() == "");
        }
    }
}
