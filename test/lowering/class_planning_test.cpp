// Graphs planned by real cuDNN for their class of shapes, for an H100 on machines without a GPU.
#include "lowering/has_cudnn.h"
#include "support/catch.h"
#include "support/kept_bytes.h"
#include "support/program_graphs.h"
#include "support/random.h"
#include "support/shape_stream.h"

#include <cudnn_frontend/stored_plan.h>

#include <chrono>
#include <map>

using namespace cudnn_frontend;
using test::Graph;
using test::ProgramGraph;

namespace {

// Forward or backward of heads that lie outside of the rows.
ProgramGraph attention(bool is_backward, std::int64_t batches, std::int64_t length) {
    ProgramGraph all(DataType_t::BFLOAT16);
    ProgramGraph::Sizes const rows = {batches, 4, length, 64}, of_stats = {batches, 4, length, 1};
    auto const q = all.input("Q", rows), k = all.input("K", rows), v = all.input("V", rows);
    if (is_backward) {
        auto const o = all.input("O", rows), d_o = all.input("dO", rows), stats = all.input("Stats", of_stats);
        stats->set_data_type(DataType_t::FLOAT);
        auto const options = graph::SDPA_backward_attributes().set_name("attention").set_causal_mask(true);
        for (auto const& gradient : all.graph.sdpa_backward(q, k, v, o, d_o, stats, options))
            all.output(gradient, rows);
        return all;
    }
    auto const options = graph::SDPA_attributes().set_name("attention").set_causal_mask(true).set_generate_stats(true);
    auto const results = all.graph.sdpa(q, k, v, options);
    all.output(results[0], rows), all.output(results[1], of_stats);
    results[1]->set_data_type(DataType_t::FLOAT);
    return all;
}

std::string built(Graph& graph, Target const& target) {
    graph.set_shape_policy(ShapePolicy_t::CLASSES);
    REQUIRE(graph.build(target).get_message() == "");
    std::string name;
    REQUIRE(graph.get_plan_name(name).get_message() == "");
    return name;
}

// The graphs that the process has lowered for cuDNN, each of which is then planned.
runtime::Kept_statistics lowered_graphs() {
    for (auto const& kind : runtime::kept_statistics()) {
        if (std::string(kind.kind) == "lowered graphs") return kind;
    }
    return {};
}

}  // namespace

TEST_CASE("each class is planned by the same engine, of which later shapes only need the program", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    using Clock = std::chrono::steady_clock;
    Target const target = Target::offline("h100");
    for (bool const is_backward : {false, true}) {
        auto const build = [&](std::int64_t batches, std::int64_t length) {
            ProgramGraph all = attention(is_backward, batches, length);
            auto const begin = Clock::now();
            std::string const name = built(all.graph, target);
            return std::pair(name, Clock::now() - begin);
        };
        auto const [name, first] = build(3, 200);
        CHECK(name.starts_with("program classes: eng"));
        for (auto const& [batches, length] : {std::pair(1, 130), {2, 256}, {4, 199}}) {
            auto const [later_name, later] = build(batches, length);
            CHECK(later_name == name);
            CHECK(later * 4 < first);  // it compiles nothing
        }
    }
}

TEST_CASE("random shapes by eight threads need a plan for each class, and no more memory once these are there",
          "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    constexpr long kBudgetKibibytes = 48 * 1024;  // which the shapes fill, next to the plans of the classes
    sdpa_test::Kept const kept(kBudgetKibibytes * 1024);
    Target const target = Target::offline("h100");
    auto const before = lowered_graphs();
    std::atomic<int> refused{0};
    sdpa_test::StreamFigures const figures = sdpa_test::run_stream([&](int number) {
        sdpa_test::Random random(static_cast<std::uint64_t>(number));
        std::int64_t const batches = random.between(1, 4), bound = std::int64_t{128} << random.between(0, 5);
        std::int64_t const length = random.between(bound / 2 + 1, bound);
        ProgramGraph all = attention(number % 2 == 1, batches, length);
        all.graph.set_shape_policy(ShapePolicy_t::CLASSES);
        if (all.graph.build(target).is_bad()) ++refused;
    });
    // Forward and backward: 4 slots for each length up to 128, 256, 512, 1024 and 2048, 2 or 4 up to 4096.
    constexpr std::int64_t kClasses = 2 * (5 + 2);
    auto const after = lowered_graphs();
    std::int64_t const lowered = after.builds - before.builds;
    figures.print("plans for an H100", kClasses, lowered);
    CHECK(refused == 0);
    CAPTURE(after.evictions - before.evictions);
    CHECK(lowered == kClasses);
    CHECK(figures.is_memory_flat(kBudgetKibibytes));
}

TEST_CASE("a stored plan of a class has the code of its tables, and is loaded for a graph of its shape", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    ProgramGraph all = attention(false, 3, 100);
    std::string const name = built(all.graph, Target::offline("h100"));
    std::vector<std::uint8_t> bytes;
    REQUIRE(all.graph.serialize(bytes).get_message() == "");
    CHECK(std::string(bytes.begin(), bytes.end()).find("rows X=half sm_90") != std::string::npos);
    Graph loaded;
    loaded.set_device_properties(std::make_shared<DeviceProperties const>(DeviceProperties::named("h100")));
    REQUIRE(loaded.deserialize(nullptr, bytes).get_message() == "");
    std::string loaded_name;
    REQUIRE(loaded.get_plan_name(loaded_name).get_message() == "");
    CHECK(loaded_name == name);
    CHECK(loaded.get_workspace_size() == all.graph.get_workspace_size());
}

TEST_CASE("a limit of workspace that a class exceeds says so", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    ProgramGraph all = attention(true, 3, 100);
    all.graph.set_shape_policy(ShapePolicy_t::CLASSES).deselect_workspace_greater_than(1024);
    std::string const error = all.graph.build(Target::offline("h100")).get_message();
    CHECK(error.find("the filters let no engine pass:\n  program classes: eng") != error.npos);
}

TEST_CASE("a plan of cuDNN's refuses a stream in place of a handle", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    ProgramGraph all = attention(false, 1, 128);
    REQUIRE(all.graph.build(Target::offline("h100")).is_good());
    std::map<std::int64_t, void*> const pack;
    auto const refusal = all.graph.execute(Cuda_stream(nullptr), pack, nullptr);
    CHECK(refusal.code == error_code_t::INVALID_VALUE);
    CHECK(refusal.get_message() ==
          "the plan was built for a cuDNN handle, and the call has a Cuda_stream; pass a handle, whose stream "
          "runtime::set_stream() sets");
}
