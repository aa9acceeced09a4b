// Planning for cuDNN with a backend that records: plans stored and loaded, built in threads, and with kernel caches.
#include "cudnn/library/api.h"
#include "cudnn/planning/plan_text.h"
#include "cudnn/planning/planning_device.h"
#include "plan/storage/plan_container.h"
#include "unit/cudnn/planning/recorded_planning.h"

#include <cudnn_frontend/process.h>
#include <cudnn_frontend/runtime.h>

#include "support/listener.h"
#include "support/skip.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

using namespace cudnn_frontend;
using sdpa_test::h200;
using sdpa_test::load_for_h200;
using sdpa_test::RecordedPlanning;
using Bytes = std::vector<std::uint8_t>;

namespace {

Bytes stored_plan(graph::Graph graph) {
    REQUIRE(graph.build(h200()).get_message() == "");
    Bytes bytes;
    REQUIRE(graph.serialize(bytes).get_message() == "");
    return bytes;
}

Bytes stored_plan() { return stored_plan(test::small_graph().graph); }

// Limits are ignored as long as the object lives.
struct IgnoredLimits {
    IgnoredLimits() { runtime::set_ignores_limits(true); }
    ~IgnoredLimits() { runtime::set_ignores_limits(false); }
};

Bytes stored_in_spite_of_limits(graph::Graph graph) {
    IgnoredLimits const ignored;
    return stored_plan(std::move(graph));
}

// One query with a sink, which kernels that split its keys compute wrong.
graph::Graph graph_with_sink() {
    graph::Graph graph;
    graph.set_io_data_type(DataType_t::FLOAT).set_intermediate_data_type(DataType_t::FLOAT);
    graph.set_compute_data_type(DataType_t::FLOAT);
    auto const rows = [&](char const* name, std::int64_t count) {
        return graph.tensor(test::packed_tensor(name, 4, count, 8));
    };
    auto const sink =
        graph.tensor(graph::Tensor_attributes().set_name("sink").set_dim({1, 4, 1, 1}).set_stride({4, 1, 1, 1}));
    auto const options = graph::SDPA_attributes().set_generate_stats(false).set_sink_token(sink);
    graph.sdpa(rows("Q", 1), rows("K", 400), rows("V", 400), options)[0]->set_output(true);
    return graph;
}

plan::PlanContainer container_of(Bytes const& bytes) {
    auto container = plan::read_container(bytes);
    REQUIRE(container.is_good());
    return std::move(container).value();
}

// The result of loading bytes with a changed plan and a checksum that fits.
template <class Change>
std::string answer_to_changed(Bytes const& bytes, Change change) {
    auto container = container_of(bytes);
    auto plan = cudnn::read_plan(container.plan.bytes);
    REQUIRE(plan.is_good());
    change(plan.value());
    container.plan.bytes = cudnn::write_plan(plan.value());
    graph::Graph loaded;
    return load_for_h200(loaded, plan::write_container(container)).get_message();
}

bool points_inside(cudnn::Bindings const& bindings) {
    return std::ranges::all_of(bindings.tensors, [&](cudnn::BoundTensor const& tensor) {
        auto const is_below = [&](auto end) { return tensor.at < static_cast<std::int64_t>(end); };
        switch (tensor.source) {
            case cudnn::MemorySource::Caller: return tensor.at >= 0;  // only the graph knows its end
            case cudnn::MemorySource::Number: return tensor.at >= 0 && is_below(bindings.numbers.size());
            case cudnn::MemorySource::Table: return tensor.at >= 0 && is_below(bindings.tables.size());
            case cudnn::MemorySource::Workspace: return tensor.at >= 0 && is_below(bindings.scratch_bytes);
        }
        return false;
    });
}

}  // namespace

TEST_CASE("cuDNN describes a device once") {
    RecordedPlanning const planning;
    auto const device_of = [](Target const& target) {
        auto const found = cudnn::find_planning_device(target, nullptr);
        REQUIRE(found.is_good());
        return found.value().device;
    };
    auto const first = device_of(h200());
    CHECK(device_of(h200()) == first);
    CHECK(device_of(Target::offline("h100")) != first);
    CHECK(device_of(h200()) == first);
}

TEST_CASE("kernels are named once each, in any text") {
    using Names = std::vector<std::string>;
    CHECK(cudnn::kernels_in("") == Names());
    CHECK(cudnn::kernels_in(
              R"({"engine":{"payload":{"kernels":[{"kernelName":"b"},{"kernelName":"a"},{"kernelName":"b"}]}}})") ==
          Names{"b", "a"});
    CHECK(cudnn::kernels_in(R"({"kernelName":"cut)") == Names{"cut"});
    CHECK(cudnn::kernels_in(R"({"kernelName":")") == Names{""});
    CHECK(cudnn::kernels_in(R"({"kernelName":7})") == Names());
}

namespace {

// How many threads build at once. The first to come waits for a second one as long as it is set to.
class Meeting {
   public:
    void attend(std::chrono::seconds patience) {
        std::unique_lock lock(mutex_);
        most_ = std::max(most_, ++here_);
        came_.notify_all();
        came_.wait_for(lock, patience, [&] { return most_ > 1; });
        --here_;
    }
    int most() const { return most_; }

   private:
    std::mutex mutex_;
    std::condition_variable came_;
    int here_ = 0, most_ = 0;
};

int most_builds_at_once(bool in_parallel, std::chrono::seconds patience) {
    RecordedPlanning planning;
    Meeting meeting;
    planning.fake.while_building = [&] { meeting.attend(patience); };
    auto small = test::small_graph();
    REQUIRE(small.graph.build_operation_graph(h200()).get_message() == "");
    REQUIRE(small.graph.create_execution_plans({HeurMode_t::A}).get_message() == "");
    REQUIRE(small.graph.get_execution_plan_count() == 2);
    CHECK(small.graph.build_plans(BuildPlanPolicy_t::ALL, in_parallel).get_message() == "");
    CHECK(planning.fake.faults().empty());
    return meeting.most();
}

// All steps of planning with a kernel cache, a chosen engine and a stored plan.
error_object plan_with_cache_and_load(std::shared_ptr<KernelCache> const& cache) {
    auto small = test::small_graph();
    small.graph.set_dynamic_shape_enabled(true).set_kernel_cache(cache);
    error_object error = small.graph.build_operation_graph(h200());
    std::vector<Knob> knobs;
    if (error.is_good()) error = small.graph.get_knobs_for_engine(1, knobs);
    if (error.is_good()) error = small.graph.create_execution_plan(1, {{KnobType_t::TILE_SIZE, 9}});
    if (error.is_good()) error = small.graph.build_plans();
    Bytes bytes;
    if (error.is_good()) error = small.graph.serialize(bytes);
    graph::Graph loaded;
    return error.is_good() ? load_for_h200(loaded, bytes) : error;
}

error_object plan_and_store(std::string const& name = "") {
    auto small = test::small_graph();
    small.graph.set_name(name);
    error_object error = small.graph.build(h200());
    Bytes bytes;
    return error.is_good() ? small.graph.serialize(bytes) : error;
}

}  // namespace

TEST_CASE("a stored plan loads with the cuDNN and the kind of GPU that it was made with, and with no others") {
    RecordedPlanning planning;
    Bytes const bytes = stored_plan();
    graph::Graph loaded;
    CHECK(load_for_h200(loaded, bytes).get_message() == "");
    CHECK(loaded.get_workspace_size() == 128);
    planning.fake.version = 91800;
    auto error = load_for_h200(loaded, bytes);
    CHECK(error.get_code() == error_code_t::GRAPH_NOT_SUPPORTED);
    CHECK(error.get_message() ==
          "the stored plan was made with cuDNN 9.19.0; loaded is 9.18.0, which cannot run it: build the graph again");
    planning.fake.version = 91900;
    runtime::forget_graphs();
    planning.fake.device = R"({"deviceName":"Other","deviceVer":890,"multiProcessorCount":58,"cudaDeviceId":0})";
    error = load_for_h200(loaded, bytes);
    CHECK(error.get_code() == error_code_t::GRAPH_NOT_SUPPORTED);
    CHECK(error.get_message() ==
          "the stored plan was made for another GPU, Fake; here is Other, with deviceVer 890 instead of 900, "
          "multiProcessorCount 58 instead of none: build the graph again here, or offline for a description of this "
          "GPU");
    CHECK(loaded.get_workspace_size() == 128);  // the failure changed nothing
}

TEST_CASE("a stored plan loads for another board of the same kind, and the log says what differs") {
    RecordedPlanning planning;
    Bytes const bytes = stored_plan();
    graph::Graph loaded;
    sdpa_test::Listener const listener;
    CHECK(load_for_h200(loaded, bytes).get_message() == "");
    CHECK(listener.text().find("a stored plan for") == std::string::npos);
    runtime::forget_graphs();
    planning.fake.device = R"({"deviceName":"Other","deviceVer":900,"cudaDeviceId":1})";
    CHECK(load_for_h200(loaded, bytes).get_message() == "");
    CHECK(listener.text().find("a stored plan for Fake is loaded for Other, with deviceName Other instead of Fake, "
                               "cudaDeviceId 1 instead of 0, which its kernels do not depend on\n") !=
          std::string::npos);
}

TEST_CASE("a stored plan with a version, a device or bindings written into it is refused") {
    RecordedPlanning planning;
    Bytes const bytes = stored_plan();
    using Plan = cudnn::CudnnStoredPlan;
    CHECK(answer_to_changed(bytes, [](Plan&) {}) == "");
    CHECK(answer_to_changed(bytes, [](Plan& plan) { plan.cudnn_version = 92001; }) ==
          "the stored plan was made with cuDNN 9.20.1; loaded is 9.19.0, which cannot run it: build the graph again");
    CHECK(answer_to_changed(bytes, [](Plan& plan) { plan.device = "{}"; }).find("made for another GPU") !=
          std::string::npos);
    CHECK(answer_to_changed(bytes, [](Plan& plan) { plan.bindings.tensors.front().at = 4; }) ==
          "the stored plan is of another graph; build it again");
    CHECK(answer_to_changed(bytes, [](Plan& plan) { plan.bindings.tensors.front().at = -1; }) ==
          "the stored plan's parts do not fit together");
    CHECK(answer_to_changed(bytes, [](Plan& plan) { plan.choice.engine = -1; }) ==
          "the stored plan's parts do not fit together");
}

TEST_CASE("a stored plan names its engine and knobs, and tells them again when it is loaded") {
    RecordedPlanning planning;
    auto small = test::small_graph();
    REQUIRE(small.graph.build(h200()).get_message() == "");
    Bytes bytes, again;
    REQUIRE(small.graph.serialize(bytes).get_message() == "");
    planning.fake.knob_value = 9;  // as if cuDNN's text had others
    graph::Graph loaded;
    REQUIRE(load_for_h200(loaded, bytes).get_message() == "");
    std::int64_t engine = -1, loaded_engine = -2;
    std::map<KnobType_t, std::int64_t> knobs, loaded_knobs;
    REQUIRE(small.graph.get_engine_and_knobs_at_index(0, engine, knobs).get_message() == "");
    REQUIRE(loaded.get_engine_and_knobs_at_index(0, loaded_engine, loaded_knobs).get_message() == "");
    CHECK(loaded_engine == engine);
    CHECK(loaded_knobs == std::map<KnobType_t, std::int64_t>{{KnobType_t::TILE_SIZE, 7}});
    REQUIRE(loaded.serialize(again).get_message() == "");
    CHECK((container_of(again).plan == container_of(bytes).plan));
}

TEST_CASE("the backend is told the alignment that the user says of an address, in each form of the tensor") {
    RecordedPlanning const planning;
    auto small = test::small_graph();
    small.k->set_alignment(32);
    small.v->set_alignment(8);
    REQUIRE(small.graph.build(h200()).get_message() == "");
    std::string const log = planning.fake.log();
    auto const count = [&](std::string const& bytes) {
        std::size_t found = 0;
        for (auto at = log.find("TENSOR_BYTE_ALIGNMENT " + bytes); at != log.npos;
             at = log.find("TENSOR_BYTE_ALIGNMENT " + bytes, at + 1))
            ++found;
        return found;
    };
    CHECK(count("32\n") + count("32,") == 1);  // K comes only as its transpose
    CHECK(count("8\n") + count("8,") == 1);
    CHECK(count("16\n") + count("16,") > 2);
}

TEST_CASE("a plan that was stored in spite of a limit is refused where limits count") {
    RecordedPlanning planning;
    auto small = test::small_graph();
    small.q->set_dim({2, 4, 6, 12}).set_stride({288, 72, 12, 1});
    small.k->set_dim({2, 2, 10, 12}).set_stride({240, 120, 12, 1});
    Bytes const bytes = stored_in_spite_of_limits(std::move(small.graph));
    graph::Graph loaded;
    auto const error = load_for_h200(loaded, bytes);
    CHECK(error.get_code() == error_code_t::GRAPH_NOT_SUPPORTED);
    CHECK(error.where.rule == "cudnn.s04");
    CHECK(
        error.get_message().find("[cudnn.s04] node 'attention', tensors 'Q', 'K': found a head dim of 12, where 16 is "
                                 "the next, on compute capability 9.0 with cuDNN 9.19.0; expected head dims that are "
                                 "multiples of 8.") == 0);
    IgnoredLimits const ignored;
    CHECK(load_for_h200(loaded, bytes).get_message() == "");
}

TEST_CASE("a stored plan for dynamic shapes is held against the limits of those, whatever the loading graph says") {
    RecordedPlanning planning;
    REQUIRE(runtime::cudnn_version() == 91900);  // loads the library, whose parts are of one version
    planning.fake.version = 91400;
    auto small = test::small_graph();
    small.graph.set_dynamic_shape_enabled(true);
    Bytes const bytes = stored_in_spite_of_limits(std::move(small.graph));
    graph::Graph loaded;
    auto const error = load_for_h200(loaded, bytes);
    CHECK(error.where.rule == "cudnn.s84");
    CHECK(error.get_message().find("found dynamic shapes on compute capability 9.0 with cuDNN 9.14.0; "
                                   "expected cuDNN 9.18 to 9.20 for dynamic shapes") != std::string::npos);
    CHECK(load_for_h200(loaded, stored_plan()).get_message() == "");
}

TEST_CASE("a stored plan of an engine that computes its graph wrong is refused") {
    RecordedPlanning planning;
    planning.fake.knob = CUDNN_KNOB_TYPE_KERNEL_CFG, planning.fake.knob_value = 3;
    Bytes const bytes = stored_plan(graph_with_sink()), without_sink = stored_plan();
    CHECK(answer_to_changed(bytes, [](auto&) {}) == "");
    for (auto const& [knob, text] : {std::pair{cudnn::KnobChoice{CUDNN_KNOB_TYPE_KERNEL_CFG, 35}, "_k24=35"},
                                     {cudnn::KnobChoice{CUDNN_KNOB_TYPE_TILE_SIZE, 7}, "_k2=7"}}) {
        auto const choose = [&, choice = knob](cudnn::CudnnStoredPlan& plan) {
            plan.choice = {.engine = 1, .knobs = {choice}};
        };
        CHECK(answer_to_changed(bytes, choose) == std::string("the engine of the stored plan, eng1") + text +
                                                      ", may be a split-KV kernel, which computes decode with a "
                                                      "sink, generated dropout or a per-head bias wrong "
                                                      "(cudnn.e01): build the graph again");
        CHECK(answer_to_changed(without_sink, choose) == "");
        IgnoredLimits const ignored;  // this is none
        CHECK(answer_to_changed(bytes, choose) != "");
    }
}

TEST_CASE("the text of a plan is refused where it was cut, and changed it never points outside") {
    RecordedPlanning planning;
    std::string const text = container_of(stored_plan()).plan.bytes;
    for (std::size_t at = 0; at < text.size(); ++at) {
        CAPTURE(at);
        CHECK(cudnn::read_plan(std::string_view(text).substr(0, at)).is_bad());
        for (int const mask : {0x01, 0x10, 0x80, 0xff}) {
            std::string changed = text;
            changed[at] = static_cast<char>(changed[at] ^ mask);
            auto const plan = cudnn::read_plan(changed);
            if (plan.is_good()) CHECK(points_inside(plan.value().bindings));
        }
    }
}

TEST_CASE("plans are built at once where that is asked for, and one after the other elsewhere") {
    CHECK(most_builds_at_once(false, std::chrono::seconds(0)) == 1);
    if (std::thread::hardware_concurrency() < 2) {
        sdpa_test::skip("there is one core, for which plans are built one after the other");
        return;
    }
    CHECK(most_builds_at_once(true, std::chrono::seconds(60)) == 2);
}

TEST_CASE("graphs of one size share a part of the kernel cache, and others have their own") {
    RecordedPlanning planning;
    auto const cache = std::make_shared<KernelCache>();
    for (int i = 0; i < 2; ++i) CHECK(plan_with_cache_and_load(cache).get_message() == "");
    CHECK(cache->describe() == "kernel cache of 1 graphs");
    CHECK(planning.fake.log().find("EXECUTION_PLAN_KERNEL_CACHE #") != std::string::npos);
}

TEST_CASE("a kernel cache goes through text: each graph's part to the graphs of its sizes") {
    RecordedPlanning planning;
    auto const plan = [](std::shared_ptr<KernelCache> const& cache, std::int64_t queries) {
        auto small = test::small_graph(test::SDPA_attributes().set_name("attention"), queries);
        small.graph.set_dynamic_shape_enabled(true).set_kernel_cache(cache);
        return small.graph.build_operation_graph(h200()).get_message();
    };
    auto const first = std::make_shared<KernelCache>(), second = std::make_shared<KernelCache>();
    REQUIRE(plan(first, 6) == "");
    REQUIRE(plan(first, 7) == "");
    std::string text, again;
    CHECK(first->to_json(text).get_message() == "");
    CHECK_FALSE(second->is_finalized());
    CHECK(second->from_json(text).get_message() == "");
    CHECK(second->is_finalized());
    CHECK(second->describe() == "kernel cache of 2 graphs");
    CHECK(second->to_json(again).get_message() == "");
    CHECK(again == text);

    CHECK(planning.fake.given_kernels.empty());
    for (std::int64_t const queries : {6, 6, 8}) REQUIRE(plan(second, queries) == "");
    CHECK(planning.fake.given_kernels == std::vector<std::string>{planning.fake.kernels});
    CHECK(second->describe() == "kernel cache of 3 graphs");
    CHECK(second->to_json(again).get_message() == "");
    CHECK(again != text);
    CHECK(planning.fake.faults().empty());
}

TEST_CASE("a kernel cache stays as it is where its text is faulty, of another cuDNN, or cannot be told") {
    RecordedPlanning planning;
    auto const cache = std::make_shared<KernelCache>();
    REQUIRE(plan_with_cache_and_load(cache).get_message() == "");
    std::string text, unchanged;
    REQUIRE(cache->to_json(text).get_message() == "");
    CHECK(cache->from_json("{}").get_code() == error_code_t::UNSUPPORTED_GRAPH_FORMAT);
    planning.fake.version = 91800;
    auto const error = cache->from_json(text);
    CHECK(error.get_code() == error_code_t::GRAPH_NOT_SUPPORTED);
    CHECK(
        error.get_message() ==
        "the kernels were made with version 91900 of cuDNN; loaded is version 91800, which cannot use them: start with "
        "an empty cache");
    planning.fake.version = 91900;
    REQUIRE(cache->to_json(unchanged).get_message() == "");
    CHECK(unchanged == text);

    planning.fake.fail_at(planning.fake.calls());
    CHECK(cache->to_json(unchanged).get_message().find("CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION") !=
          std::string::npos);
    CHECK(unchanged == text);
    KernelCache const moved = std::move(*cache);
    CHECK(moved.describe() == "kernel cache of 1 graphs");
    CHECK(cache->to_json(unchanged).get_message() == "the kernel cache was moved from; store the one that it moved to");
    CHECK(cache->from_json(text).get_message() == "");
    CHECK(cache->describe() == "kernel cache of 1 graphs");
}

TEST_CASE("what cuDNN says of its last failure is told once") {
    RecordedPlanning planning;
    planning.fake.set_last_error("Warning: CUDNN_STATUS_BAD_PARAM; Reason: no such type at: (type == known)\n");
    CHECK(runtime::last_error() == "no such type");
    CHECK(runtime::last_error().empty());
}

TEST_CASE("a kernel cache that was moved from is refused, and the one that it was moved to serves") {
    RecordedPlanning planning;
    auto const cache = std::make_shared<KernelCache>();
    auto const moved = std::make_shared<KernelCache>(std::move(*cache));
    auto const error = plan_with_cache_and_load(cache);
    CHECK(error.code == error_code_t::INVALID_VALUE);
    CHECK(error.err_msg.starts_with(
        "the kernel cache was moved from; pass the one that it moved to, or a new one, to set_kernel_cache()\n"));
    CHECK(plan_with_cache_and_load(moved).get_message() == "");
}

TEST_CASE("whichever call fails while a graph is planned: an error that names it, and nothing left behind") {
    int calls = 0, succeeded = 0;
    {
        RecordedPlanning planning;
        REQUIRE(plan_with_cache_and_load(std::make_shared<KernelCache>()).get_message() == "");
        calls = planning.fake.calls();
        runtime::forget_graphs();  // and the device
        CHECK(planning.fake.alive() == 0);
    }
    REQUIRE(calls > 200);
    for (int call = 0; call < calls; ++call) {
        CAPTURE(call);
        RecordedPlanning planning;
        planning.fake.fail_at(call);
        auto const cache = std::make_shared<KernelCache>();
        auto const error = plan_with_cache_and_load(cache);
        runtime::forget_graphs();
        CHECK(planning.fake.alive() == (cache->is_finalized() ? 1 : 0));
        CHECK(planning.fake.faults().empty());
        succeeded += error.is_good() ? 1 : 0;
        if (error.is_bad()) CHECK(error.get_message().find(" failed: CUDNN_STATUS_") != std::string::npos);
    }
    // Engines' answers about themselves may be unknown, and the device's figures too, which other engines need as well.
    CHECK(succeeded <= 32 + CUDNN_KNOB_TYPE_COUNTS);
}

TEST_CASE("a graph that is built again makes no call that lowers, asks or compiles") {
    RecordedPlanning planning;
    REQUIRE(plan_and_store().get_message() == "");
    int const first = planning.fake.calls();
    REQUIRE(plan_and_store("of the same work").get_message() == "");
    CHECK(planning.fake.calls() - first < first / 4);  // calls that describe the device, and store the plan
    runtime::forget_graphs();
    CHECK(planning.fake.alive() == 0);
}

TEST_CASE("a known graph is built without a call of cuDNN, from its device to its plan") {
    RecordedPlanning planning;
    auto const build = [] {
        auto small = test::small_graph();
        return small.graph.build(h200());
    };
    REQUIRE(build().get_message() == "");
    int const first = planning.fake.calls();
    REQUIRE(build().get_message() == "");
    CHECK(planning.fake.calls() == first);
}

TEST_CASE("a graph that was built in spite of a limit is refused once limits count again") {
    RecordedPlanning planning;
    auto const build = [] {
        auto small = test::small_graph();
        small.q->set_dim({2, 4, 6, 12}).set_stride({288, 72, 12, 1});
        small.k->set_dim({2, 2, 10, 12}).set_stride({240, 120, 12, 1});
        return small.graph.build(h200());
    };
    {
        IgnoredLimits const ignored;
        CHECK(build().get_message() == "");
    }
    CHECK(build().where.rule == "cudnn.s04");
}

TEST_CASE("what was compiled for one list of heuristic modes serves every other that names the engine") {
    RecordedPlanning planning;
    planning.fake.has_one_engine = true;
    int compiled = 0;
    planning.fake.while_building = [&] { ++compiled; };
    std::vector<HeurMode_t> const lists[] = {
        {HeurMode_t::A}, {HeurMode_t::FALLBACK}, {HeurMode_t::A, HeurMode_t::FALLBACK}, {HeurMode_t::B, HeurMode_t::A}};
    for (auto const& modes : lists) {
        auto small = test::small_graph();
        REQUIRE(small.graph.build_operation_graph(h200()).get_message() == "");
        REQUIRE(small.graph.create_execution_plans(modes).get_message() == "");
        CHECK(small.graph.get_execution_plan_count() == 1);
        REQUIRE(small.graph.build_plans().get_message() == "");
        CHECK(compiled == 1);
    }
    auto chosen = test::small_graph();
    REQUIRE(chosen.graph.build_operation_graph(h200()).get_message() == "");
    REQUIRE(chosen.graph.create_execution_plan(0, {{KnobType_t::TILE_SIZE, 7}}).get_message() == "");
    REQUIRE(chosen.graph.build_plans().get_message() == "");
    CHECK(compiled == 1);
}

TEST_CASE("whichever call fails where graphs are kept: nothing broken is kept, and nothing left behind") {
    for (bool const has_one_engine : {false, true}) {
        int calls = 0;
        {
            RecordedPlanning planning;
            planning.fake.has_one_engine = has_one_engine;
            REQUIRE(plan_and_store().get_message() == "");
            calls = planning.fake.calls();
        }
        for (int call = 0; call < calls; ++call) {
            CAPTURE(call, has_one_engine);
            RecordedPlanning planning;
            planning.fake.has_one_engine = has_one_engine;
            planning.fake.fail_at(call);
            auto const failed = plan_and_store();
            if (failed.is_bad()) CHECK(plan_and_store().get_message() == "");
            runtime::forget_graphs();
            CHECK(planning.fake.alive() == 0);
            CHECK(planning.fake.faults().empty());
        }
    }
}
