// Programs of real cuDNN's engines, planned for an H200 on machines without a GPU.
#include "lowering/has_cudnn.h"
#include "support/catch.h"
#include "support/dynamic_shapes.h"
#include "support/program_graphs.h"

#include <cudnn_frontend/runtime.h>
#include <cudnn_frontend/stored_plan.h>

#include <algorithm>
#include <map>

using namespace cudnn_frontend;
using test::few_queries_graph;
using test::Graph;
using test::ProgramGraph;
using test::slices_graph;

namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr auto kType = DataType_t::BFLOAT16;

std::vector<std::string> names_of(Graph const& graph) {
    std::vector<std::string> names(static_cast<std::size_t>(graph.get_execution_plan_count()));
    for (std::size_t i = 0; i < names.size(); ++i) {
        REQUIRE(graph.get_plan_name_at_index(static_cast<std::int64_t>(i), names[i]).get_message() == "");
    }
    return names;
}

std::string name_of(Graph const& graph) {
    std::string name;
    CHECK(graph.get_plan_name(name).get_message() == "");
    return name;
}

std::int64_t index_of(Graph const& graph, std::string const& start_of_name) {
    auto const names = names_of(graph);
    auto const found = std::ranges::find_if(names, [&](std::string const& n) { return n.starts_with(start_of_name); });
    REQUIRE(found != names.end());
    return found - names.begin();
}

ProgramGraph planned(ProgramGraph all, std::vector<Rewrite_t> const& rewrites) {
    all.graph.set_rewrites(rewrites);
    REQUIRE(all.graph.build_operation_graph(Target::offline("h200")).get_message() == "");
    REQUIRE(all.graph.create_execution_plans({HeurMode_t::A}).get_message() == "");
    return all;
}

}  // namespace

TEST_CASE("programs are candidates before the engines of the graph as it is, which keep their numbers", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    ProgramGraph const plain = planned(few_queries_graph(kType), {});
    ProgramGraph all = planned(few_queries_graph(kType), {Rewrite_t::FEW_QUERIES});
    auto const of_plain = names_of(plain.graph), of_all = names_of(all.graph);
    REQUIRE(of_all.size() == of_plain.size() + 2);  // few_queries(1) and (2), the faster one first
    CHECK(of_all[0].starts_with("program few_queries("));
    CHECK(of_all[1].starts_with("program few_queries("));
    CHECK(std::equal(of_plain.begin(), of_plain.end(), of_all.begin() + 2));

    std::int64_t engine = -1;
    std::map<KnobType_t, std::int64_t> knobs;
    CHECK(all.graph.get_engine_and_knobs_at_index(0, engine, knobs).get_message() ==
          "plan 0, " + of_all[0] +
              ", has no engine number for create_execution_plan(); keep the plan itself with "
              "serialize()");
    REQUIRE(all.graph.get_engine_and_knobs_at_index(2, engine, knobs).get_message() == "");
    REQUIRE(all.graph.create_execution_plan(engine, knobs).get_message() == "");
    CHECK(names_of(all.graph).back() == of_all[2]);
    std::vector<BehaviorNote_t> notes;
    REQUIRE(all.graph.get_behavior_notes_for_plan_at_index(0, notes).is_good());
    CHECK(std::ranges::find(notes, BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API) != notes.end());
}

TEST_CASE("a deselected name bars programs of that name, and engines of that name for their attentions", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    ProgramGraph all = planned(few_queries_graph(kType), {Rewrite_t::FEW_QUERIES});
    std::string const program = names_of(all.graph)[0];
    std::string const engine = program.substr(program.find(": ") + 2);
    auto const name_without = [&](std::string const& part) {
        Graph barred(all.graph);
        REQUIRE(barred.deselect_engines({part}).build_plans().get_message() == "");
        return name_of(barred);
    };
    for (char const* const part : {"program ", "few_queries"}) CHECK(!name_without(part).starts_with("program "));
    std::string const other = name_without(engine);
    CHECK(other.starts_with(program.substr(0, program.find(": "))));
    CHECK(other.find(engine) == other.npos);
    CHECK(!name_without("eng").starts_with("program few_queries(2): eng"));
    REQUIRE(all.graph.build_plans().get_message() == "");
    CHECK(name_of(all.graph) == program);
}

TEST_CASE("all programs and engines of a graph are built side by side", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    ProgramGraph all = planned(slices_graph(kType), {Rewrite_t::SLICES});
    REQUIRE(all.graph.build_plans(BuildPlanPolicy_t::ALL, true).get_message() == "");
    CHECK(name_of(all.graph).starts_with("program slices(2): eng"));
    for (std::int64_t i = 0; i < 3; ++i) {
        std::int64_t bytes = 0;
        CHECK(all.graph.get_workspace_size_plan_at_index(i, bytes).get_message() == "");
    }
}

TEST_CASE("a stored program has its kernels' code, and loads where a GPU of the kind is", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    for (bool const is_backward : {false, true}) {
        ProgramGraph all = is_backward ? planned(slices_graph(kType), {Rewrite_t::SLICES})
                                       : planned(few_queries_graph(kType), {Rewrite_t::FEW_QUERIES});
        char const* const name = is_backward ? "program slices(8): " : "program few_queries(2): ";  // 8 sum dK and dV
        REQUIRE(all.graph.build_plan_at_index(index_of(all.graph, name)).get_message() == "");
        Bytes bytes;
        REQUIRE(all.graph.serialize(bytes).get_message() == "");
        std::string const text(bytes.begin(), bytes.end());
        std::string const code =
            std::string(is_backward ? "sum" : "merge") + " X=bfloat16 Y=bfloat16 INDEX=unsigned sm_90 ";
        auto const at = text.find(code);
        REQUIRE(at != text.npos);
        CHECK(text.find(code, at + 1) == text.npos);

        Graph loaded;
        loaded.set_device_properties(std::make_shared<DeviceProperties const>(DeviceProperties::named("h200")));
        REQUIRE(loaded.deserialize(nullptr, bytes).get_message() == "");
        CHECK(name_of(loaded) == name_of(all.graph));
        CHECK(loaded.get_workspace_size() == all.graph.get_workspace_size());
        CHECK(loaded.get_variant_pack_uids_sorted() == all.graph.get_variant_pack_uids_sorted());
        Bytes again;
        REQUIRE(loaded.serialize(again).get_message() == "");
        CHECK(std::string(again.begin(), again.end()).find(code) != text.npos);

        Graph elsewhere;
        elsewhere.set_device_properties(std::make_shared<DeviceProperties const>(DeviceProperties::named("a100")));
        CHECK(elsewhere.deserialize(nullptr, bytes).get_message().find("the stored plan was made for another GPU") ==
              0);
    }
}

TEST_CASE("a program that was planned offline does not run, and says so in every way of running it", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    ProgramGraph all = planned(few_queries_graph(kType), {Rewrite_t::FEW_QUERIES});
    REQUIRE(all.graph.build_plans().get_message() == "");
    std::string const refusal = "the plan was made offline for NVIDIA H200, which is not here";
    auto const pack = all.pack();
    std::vector<double> workspace(static_cast<std::size_t>(all.graph.get_workspace_size()) / sizeof(double) + 2);
    int graph = 0;
    auto* const recording = reinterpret_cast<CUgraph_st*>(&graph);
    for (auto const& error :
         {all.graph.execute(nullptr, pack, workspace.data()), all.graph.autotune(nullptr, pack, workspace.data()),
          all.graph.warmup(nullptr), all.graph.populate_cuda_graph(nullptr, pack, workspace.data(), recording),
          all.graph.update_cuda_graph(nullptr, pack, workspace.data(), recording)}) {
        CHECK(error.get_message().find(refusal) == 0);
    }
}

TEST_CASE("a limit of workspace that no slices keep to names the least that would do", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    ProgramGraph all = slices_graph(kType);
    all.graph.set_workspace_limit(16);
    REQUIRE(all.graph.build_operation_graph(Target::offline("h200")).get_message() == "");
    REQUIRE(all.graph.create_execution_plans({HeurMode_t::A, HeurMode_t::FALLBACK}).get_message() == "");
    std::string const error = all.graph.check_support().get_message();
    CHECK(error.find("the filters let no engine pass:\n  eng") == 0);
    auto const at = error.find("\nthe least workspace is ");
    REQUIRE(at != error.npos);
    CHECK(error.find(" bytes, by program slices(8): eng", at) != error.npos);
    all.graph.set_workspace_limit(std::stoll(error.substr(at + 24)));
    REQUIRE(all.graph.build_plans().get_message() == "");
    CHECK(name_of(all.graph).starts_with("program slices(8): eng"));
}

TEST_CASE("programs are planned with dynamic shapes and a kernel cache where cuDNN has engines for them", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    ProgramGraph all = few_queries_graph(kType);
    auto const cache = std::make_shared<KernelCache>();
    all.graph.set_rewrites({Rewrite_t::FEW_QUERIES}).set_dynamic_shape_enabled(true).set_kernel_cache(cache);
    std::string const error = all.graph.build(Target::offline("h200")).get_message();
    if (test::takes_dynamic_shapes()) CHECK((error + name_of(all.graph)).starts_with("program few_queries("));
    else CHECK(error.starts_with("[cudnn.s84] "));
}

TEST_CASE("slices are planned of tensors beyond 2^31 elements", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    ProgramGraph all = slices_graph(kType, 0, std::int64_t{1} << 23);
    all.graph.set_rewrites({Rewrite_t::SLICES});
    REQUIRE(all.graph.build(Target::offline("h200")).get_message() == "");
    CHECK(name_of(all.graph).starts_with("program slices(2): eng"));
    REQUIRE(all.graph.build_plan_at_index(index_of(all.graph, "program slices(8): ")).get_message() == "");
}

namespace {

// The names of the candidates that cuDNN runs, in their order, with AUTO unless another implementation is set.
std::vector<std::string> candidates_on(ProgramGraph& all, char const* device) {
    REQUIRE(all.graph.build_operation_graph(Target::offline(device)).get_message() == "");
    REQUIRE(all.graph.create_execution_plans({HeurMode_t::A}).get_message() == "");
    auto names = names_of(all.graph);
    std::erase(names, "attention");
    return names;
}

bool is_deterministic_program(std::string const& name) { return name.starts_with("program deterministic: "); }

}  // namespace

TEST_CASE("backward of 192 and 128 columns is offered by the deterministic algorithm where that was measured as faster",
          "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    for (char const* const device : {"h100", "h200"}) {
        CAPTURE(device);
        ProgramGraph all = test::backward_graph(192, 128), given = test::backward_graph(192, 128);
        auto const names = candidates_on(all, device);
        given.graph.set_rewrites(RewritePolicy_t::OFF);
        auto const as_given = candidates_on(given, device);
        REQUIRE(names.size() == as_given.size() + 1);
        CHECK(is_deterministic_program(names.front()));
        CHECK(std::equal(as_given.begin(), as_given.end(), names.begin() + 1));
        std::string text;
        REQUIRE(all.graph.print_candidates(text).is_good());
        INFO(text);
        CHECK(text.find("\n  deterministic: about ") != std::string::npos);
    }
    // The times are those of an H100, which the estimates give back.
    ProgramGraph all = test::backward_graph(192, 128);
    static_cast<void>(candidates_on(all, "h100"));
    std::string text;
    REQUIRE(all.graph.print_candidates(text).is_good());
    CHECK(text.find("deterministic: about 1830 us, as given: about 2100 us") != std::string::npos);
}

TEST_CASE("backward is left as given where the deterministic algorithm was not measured, or needs too much memory",
          "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    ProgramGraph equal = test::backward_graph(128, 128), asked = test::backward_graph(192, 128, true);
    ProgramGraph unknown = test::backward_graph(192, 128), longer = test::backward_graph(192, 128, false, 4096);
    CHECK_FALSE(is_deterministic_program(candidates_on(equal, "h100").front()));
    CHECK_FALSE(is_deterministic_program(candidates_on(asked, "h100").front()));
    CHECK_FALSE(is_deterministic_program(candidates_on(unknown, "b200").front()));
    CHECK_FALSE(is_deterministic_program(candidates_on(longer, "h100").front()));
}

TEST_CASE("the deterministic program keeps to limits of workspace, and is stored and loaded", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    ProgramGraph all = test::backward_graph(192, 128), limited = test::backward_graph(192, 128);
    for (ProgramGraph* const graph : {&all, &limited}) graph->graph.deselect_engines({"attention"});
    REQUIRE(all.graph.build(Target::offline("h100")).get_message() == "");
    CHECK(is_deterministic_program(name_of(all.graph)));
    bool is_deterministic = false;
    REQUIRE(all.graph.get_is_deterministic(is_deterministic).is_good());
    CHECK(is_deterministic);
    CHECK(all.graph.get_workspace_size() >= std::int64_t{512} << 20);
    Bytes bytes;
    REQUIRE(all.graph.serialize(bytes).get_message() == "");
    Graph loaded;
    loaded.set_device_properties(std::make_shared<DeviceProperties const>(DeviceProperties::named("h100")));
    REQUIRE(loaded.deserialize(nullptr, bytes).get_message() == "");
    CHECK(name_of(loaded) == name_of(all.graph));
    CHECK(loaded.get_workspace_size() == all.graph.get_workspace_size());
    limited.graph.set_workspace_limit(std::int64_t{200} << 20);
    REQUIRE(limited.graph.build(Target::offline("h100")).get_message() == "");
    CHECK_FALSE(name_of(limited.graph).starts_with("program"));
    CHECK(limited.graph.get_workspace_size() <= std::int64_t{200} << 20);
}

namespace {

// Read in the process that planned it, which has no GPU.
Stored_plan stored(ProgramGraph& all, char const* device) {
    REQUIRE(all.graph.build(Target::offline(device)).get_message() == "");
    Bytes bytes;
    REQUIRE(all.graph.serialize(bytes).get_message() == "");
    Stored_plan plan;
    REQUIRE(read_stored_plan(bytes, plan).get_message() == "");
    CHECK(plan.target == Target::Kind::OFFLINE);
    CHECK(plan.cudnn_version == runtime::cudnn_version());
    CHECK(plan.name == name_of(all.graph));
    CHECK(plan.workspace_bytes == all.graph.get_workspace_size());
    return plan;
}

}  // namespace

TEST_CASE("a stored plan tells its device, cuDNN, engine, workspace and kernels", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    ProgramGraph backward = test::backward_graph(128, 128, false, 1024);
    Stored_plan const plan = stored(backward, "h200");
    CHECK(plan.device == "NVIDIA H200");
    CHECK(plan.workspace_bytes > 0);
    REQUIRE(!plan.kernels.empty());
    CHECK(plan.kernels.front().find("sm90") != std::string::npos);
    CHECK(plan.to_text().find("\n  kernel " + plan.kernels.front() + "\n") != std::string::npos);
}

TEST_CASE("a stored program tells the kernels of all its steps, in their order", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    ProgramGraph all = few_queries_graph(kType, 65536);
    Stored_plan const plan = stored(all, "h100");
    CHECK(plan.name.starts_with("program few_queries("));
    CHECK(plan.device.find("H100") != std::string::npos);
    REQUIRE(plan.kernels.size() >= 2);
    CHECK(plan.kernels.front().find("sm90") != std::string::npos);
    CHECK(plan.kernels.back() == "merge");
}

namespace {

// The graph has two entries with lengths of 64 bits, and in forward Stats of 16 bits.
ProgramGraph graph_to_convert(bool is_backward) {
    ProgramGraph all(kType);
    ProgramGraph::Sizes const dim = {2, 4, 128, 64}, rows = {2, 4, 128, 1};
    auto const q = all.input("Q", dim), k = all.input("K", dim), v = all.input("V", dim);
    auto const lengths = [&](char const* name) {
        auto tensor = all.input(name, {2, 1, 1, 1});
        tensor->set_data_type(DataType_t::INT64);
        return tensor;
    };
    auto const of_queries = lengths("len_q"), of_keys = lengths("len_kv");
    if (is_backward) {
        auto const o = all.input("O", dim), d_o = all.input("dO", dim), stats = all.input("Stats", rows);
        stats->set_data_type(DataType_t::FLOAT);
        auto options = cudnn_frontend::graph::SDPA_backward_attributes().set_name("attention").set_padding_mask(true);
        options.set_seq_len_q(of_queries).set_seq_len_kv(of_keys);
        for (auto const& gradient : all.graph.sdpa_backward(q, k, v, o, d_o, stats, options)) all.output(gradient, dim);
        return all;
    }
    auto options = cudnn_frontend::graph::SDPA_attributes().set_name("attention").set_padding_mask(true);
    options.set_seq_len_q(of_queries).set_seq_len_kv(of_keys).set_generate_stats(true);
    auto const [o, stats] = all.graph.sdpa(q, k, v, options);
    all.output(o, dim);
    all.output(stats, rows);
    stats->set_data_type(kType);
    return all;
}

}  // namespace

TEST_CASE("lengths of 64 bits and Stats of 16 are planned as a program that converts them", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    for (bool const is_backward : {false, true}) {
        ProgramGraph all = graph_to_convert(is_backward);
        REQUIRE(all.graph.build(Target::offline("h200")).get_message() == "");
        CHECK(name_of(all.graph).starts_with("program converted: eng"));
        Bytes bytes;
        REQUIRE(all.graph.serialize(bytes).get_message() == "");
        std::string const text(bytes.begin(), bytes.end());
        CHECK(text.find("split_lengths ") != text.npos);
        CHECK((text.find("sum X=float Y=bfloat16 ") != text.npos) == !is_backward);
        Graph loaded;
        loaded.set_device_properties(std::make_shared<DeviceProperties const>(DeviceProperties::named("h200")));
        REQUIRE(loaded.deserialize(nullptr, bytes).get_message() == "");
        CHECK(loaded.get_workspace_size() == all.graph.get_workspace_size());
    }
}

TEST_CASE("what cannot be converted is refused with what to do", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    ProgramGraph all = graph_to_convert(true);
    auto const extra = all.graph.pointwise(
        all.input("X", {2, 4, 128, 64}), cudnn_frontend::graph::Pointwise_attributes().set_mode(PointwiseMode_t::NEG));
    all.output(extra, {2, 4, 128, 64});
    std::string const error = all.graph.build(Target::offline("h200")).get_message();
    INFO(error);
    CHECK(error.find("[cudnn.s95] node 'attention', tensors 'len_q', 'len_kv': found the data type INT64 on ") == 0);
    CHECK(error.find("; expected INT32 for lengths. Try: set_data_type() on it with this type; where attention is the "
                     "graph's only node, the tensor is not packed by lengths and kernels can be compiled, this library "
                     "converts it.") != error.npos);
}
