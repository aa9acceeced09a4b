// The CUDA graph of a program's steps, and of work before and after an engine's, on a driver that only keeps graphs.
#include "kernels/launch/recorded_steps.h"
#include "cuda/cuda_graph.h"
#include "cuda/driver.h"
#include "cudnn/planning/steps/extra_step.h"
#include "ir/builder.h"
#include "kernels/launch/kernel_chain.h"
#include "support/catch.h"

#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <new>
#include <span>

using namespace cudnn_frontend;
using kernels::GraphSteps;
using rewrite::Lane;
using Error = cudnn_frontend::error_t;

namespace {

// A step is recognized by the number of nodes in its graph.
constexpr char kFirst = 'a';

CUgraph graph_of(plan::Recording recording) { return static_cast<CUgraph>(recording); }

std::string name_of(CUgraph step) { return {static_cast<char>(kFirst + cuda::node_count(step).value() - 1)}; }

std::string name_of(CUgraphNode node) {
    bool const is_step = cuda::type_of(node).value() == CU_GRAPH_NODE_TYPE_GRAPH;
    return is_step ? name_of(cuda::child_of(node).value()) : "start";
}

// "a > b" where b waits for a, sorted; a node that waits for none comes alone.
std::string edges_of(CUgraph graph) {
    std::vector<std::string> lines;
    std::vector<CUgraphNode> open = cuda::nodes_after(graph, nullptr).value();
    for (CUgraphNode const root : open) lines.push_back(name_of(root));
    for (std::size_t i = 0; i < open.size(); ++i) {
        std::vector<CUgraphNode> const after = cuda::nodes_after(graph, open[i]).value();
        for (CUgraphNode const next : after) {
            lines.push_back(name_of(open[i]) + " > " + name_of(next));
            if (std::ranges::find(open, next) == open.end()) open.push_back(next);
        }
    }
    std::ranges::sort(lines);
    std::string text;
    for (std::string const& line : lines) text += (text.empty() ? "" : ", ") + line;
    return text;
}

using Lanes = std::vector<Lane>;
constexpr Lane kMain = Lane::Main, kSide = Lane::Side;

// The messages of the errors, if there are any.
std::string record(CUgraph graph, Lanes const& lanes) {
    GraphSteps steps(graph);
    std::string errors;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        auto const nodes = [&](plan::Recording step) {
            Error failure;
            for (std::size_t n = 0; n <= i && failure.is_good(); ++n) {
                failure = cuda::add_empty_node(graph_of(step)).error();
            }
            return failure;
        };
        errors += steps.add(nodes, lanes[i]).err_msg;
    }
    return errors;
}

// The steps in the order in which an update finds them, or why it ends.
std::string update(CUgraph graph, Lanes const& lanes) {
    GraphSteps steps(graph);
    std::string found;
    for (Lane const lane : lanes) {
        auto const note = [&](plan::Recording step) {
            found += name_of(graph_of(step));
            return Error();
        };
        Error const failure = steps.update(note, lane);
        if (failure.is_bad()) return found + ": " + failure.err_msg;
    }
    return found;
}

void* open_driver_of_graphs() {
    static void* const driver = dlopen(SDPA_TEST_DRIVER_OF_GRAPHS, RTLD_NOW | RTLD_GLOBAL);
    REQUIRE(driver != nullptr);
    return driver;
}

std::shared_ptr<cuda::CudaGraph const> make_graph() {
    open_driver_of_graphs();
    return cuda::make_cuda_graph().value();
}

// Edges, and the nodes that updates find in the graph and in a copy of it.
std::string recorded(Lanes const& lanes) {
    auto const graph = make_graph(), other = make_graph();
    std::string const errors = record(graph->graph, lanes);
    CUgraphNode const copy = cuda::add_child(other->graph, {}, graph->graph).value();
    return errors + edges_of(graph->graph) + "; " + update(graph->graph, lanes) + ", " +
           update(cuda::child_of(copy).value(), lanes);
}

}  // namespace

TEST_CASE("steps of one lane are recorded as a chain, in whose order an update finds them") {
    CHECK(recorded({kMain, kMain, kMain}) == "a, a > b, b > c; abc, abc");
}

TEST_CASE("a step of the side lane waits for no step of the main lane, of which the next one waits for it") {
    CHECK(recorded({kMain, kSide, kMain}) == "a, a > c, b > c, start, start > b; abc, abc");
    CHECK(recorded({kMain, kMain, kSide}) == "a, a > b, start, start > c; abc, abc");
}

TEST_CASE("steps of the side lane are a chain too, and are waited for once") {
    // bands: the window, a border and its sum, the other border and its two sums.
    CHECK(recorded({kMain, kSide, kMain, kSide, kMain, kMain}) ==
          "a, a > c, b > c, b > d, c > e, d > e, e > f, start, start > b; abcdef, abcdef");
    CHECK(recorded({kMain, kSide, kSide, kMain, kMain, kSide}) ==
          "a, a > d, b > c, c > d, c > f, d > e, start, start > b; abcdef, abcdef");
}

TEST_CASE("a graph with nodes is not recorded into, and one of other lanes not updated") {
    auto const filled = make_graph(), chain = make_graph(), sides = make_graph();
    REQUIRE(record(filled->graph, {kMain}) == "");
    CHECK(record(filled->graph, {kMain}) == "the CUDA graph has 1 nodes; populate_cuda_graph() needs an empty one");
    std::string const advice =
        " nodes where the plan's has one; pass the graph that populate_cuda_graph() filled with this plan";
    REQUIRE(record(chain->graph, {kMain, kMain}) == "");
    CHECK(update(chain->graph, {kMain, kSide, kMain}) == "a: the CUDA graph has 0" + advice);
    REQUIRE(record(sides->graph, {kMain, kSide, kMain}) == "");
    CHECK(update(sides->graph, {kMain, kMain, kMain}) == "ac: the CUDA graph has 0" + advice);
}

TEST_CASE("a step that cannot be recorded adds no node") {
    auto const graph = make_graph();
    GraphSteps steps(graph->graph);
    CHECK(steps.add([](plan::Recording) { return Error(); }, kMain).is_good());
    auto const fail = [](plan::Recording) { return Error(error_code_t::GRAPH_EXECUTION_FAILED, "out of paper"); };
    for (Lane const lane : {kMain, kSide}) CHECK(steps.add(fail, lane).err_msg == "out of paper");
    CHECK(cuda::node_count(graph->graph).value() == 1);
}

TEST_CASE("a program that starts with the library's own kernels is recorded step by step") {
    auto const graph = make_graph();
    kernels::ChainEngine engine({}, {}, std::make_shared<plan::PackLayout const>(), std::nullopt);
    auto const executable = engine.build();
    REQUIRE(executable.is_good());
    auto const steps = executable.value()->steps_of(graph->graph);
    REQUIRE(steps.is_good());
    auto const add_node = [](plan::Recording step) { return cuda::add_empty_node(graph_of(step)).error(); };
    for (int i = 0; i < 2; ++i) CHECK(steps.value()->add(add_node, kMain).is_good());
    CHECK(cuda::node_count(graph->graph).value() == 2);
}

namespace {

// An input with the uid 1, and two results of 2 x 8 numbers: FLOAT with the uid 2, HALF with the uid 3. These are given
// offsets.
cudnn::LegalGraph graph_with_given_offsets() {
    ir::Builder builder;
    auto const add = [&](ir::Role role, DataType_t type, std::int64_t uid) {
        return builder.add({.type = type, .dim = {2, 8}, .stride = {8, 1}, .role = role, .uid = uid});
    };
    ir::ValueId const table = builder.add({.type = DataType_t::INT32,
                                           .dim = {3, 1},
                                           .stride = {1, 1},
                                           .role = ir::Role::Constant,
                                           .table = {0.0, 8.0, 16.0}});
    ir::ValueId const in = add(ir::Role::Input, DataType_t::FLOAT, 1);
    cudnn::GivenOffsets offsets{{in, table}};
    for (auto const& [type, uid] : {std::pair(DataType_t::FLOAT, 2), std::pair(DataType_t::HALF, 3)}) {
        ir::ValueId const out = add(ir::Role::Output, type, uid);
        ir::PointwiseOp const copy{{.mode = PointwiseMode_t::IDENTITY}, {in, ir::kNoValue, ir::kNoValue}, out};
        builder.add({"copy", DataType_t::FLOAT, copy});
        offsets.emplace(out, table);
    }
    cudnn::LegalGraph legal{std::move(builder).finish().value()};
    legal.offsets = std::move(offsets);
    return legal;
}

// The bytes that nodes fill, one after the other, as distances from an address: "16+64 ".
std::string cleared(CUgraph graph, std::byte const* from) {
    using Read = CUresult (*)(CUgraphNode, CUDA_MEMSET_NODE_PARAMS*);
    auto const read = reinterpret_cast<Read>(dlsym(open_driver_of_graphs(), "cuGraphMemsetNodeGetParams"));
    std::string text;
    CUgraphNode last = nullptr;
    for (std::size_t left = cuda::node_count(graph).value(); left > 0; --left) {
        last = cuda::node_after(graph, last).value();
        CUDA_MEMSET_NODE_PARAMS fill{};
        REQUIRE(read(last, &fill) == CUDA_SUCCESS);
        CHECK((fill.value == 0 && fill.elementSize == 1 && fill.height == 1));
        text += std::to_string(fill.dst - std::bit_cast<CUdeviceptr>(from)) + "+" + std::to_string(fill.width) + " ";
    }
    return text;
}

}  // namespace

TEST_CASE("dense results that were given offsets are cleared, one after the other, and an update clears others") {
    cudnn::LegalGraph const legal = graph_with_given_offsets();
    auto const layout = plan::make_pack_layout({}, legal.graph);
    auto const clearing = cudnn::clearing_of(legal, layout).value();
    REQUIRE(clearing);
    std::vector<std::byte> memory(1024);
    auto const launch_on = [&](std::vector<void*>& pointers, std::size_t shift) {
        for (std::size_t i = 0; i < 3; ++i) pointers.push_back(memory.data() + shift + 100 * i);
        return plan::Launch{.pointers = pointers};
    };
    std::vector<void*> pointers, others;
    auto const graph = make_graph();
    CHECK(clearing->record(launch_on(pointers, 0), graph->graph).err_msg == "");
    CHECK(cleared(graph->graph, memory.data()) == "100+64 200+32 ");
    CHECK(clearing->update(launch_on(others, 8), graph->graph).err_msg == "");
    CHECK(cleared(graph->graph, memory.data()) == "108+64 208+32 ");
    CHECK(clearing->update(plan::Launch{.pointers = others}, make_graph()->graph)
              .err_msg.starts_with("the CUDA graph has 0 nodes where the plan's has one"));

    cudnn::LegalGraph without = graph_with_given_offsets();
    without.offsets.clear();
    CHECK(cudnn::clearing_of(without, layout).value() == nullptr);
}

TEST_CASE("a result that packs have no pointer to is not cleared behind the last pointer") {
    cudnn::LegalGraph const legal = graph_with_given_offsets();
    auto const clearing = cudnn::clearing_of(legal, plan::PackLayout());
    REQUIRE(clearing.is_bad());
    CHECK(clearing.error().err_msg.ends_with("call set_output(true) on it if it is a result"));
}

TEST_CASE("a run on a stream is recorded as one node, and runs nothing") {
    auto const graph = make_graph();
    std::vector<std::byte> memory(100, std::byte{1});
    std::vector<std::byte> const before = memory;
    auto* const stream = reinterpret_cast<CUstream>(&memory);
    auto const clear = [&](CUstream on, std::size_t first, std::size_t count) {
        return cuda::clear(on, std::span(memory).subspan(first, count));
    };
    auto const run = [&] {
        Error const failure = clear(stream, 10, 20);
        return failure.is_good() ? clear(stream, 50, 7) : failure;
    };
    REQUIRE(cuda::record_run(stream, graph->graph, run).get_message() == "");
    CHECK(memory == before);
    CUgraphNode const node = cuda::node_after(graph->graph, nullptr).value();
    CHECK(cleared(cuda::child_of(node).value(), memory.data()) == "10+20 50+7 ");
    CHECK(cuda::record_run(stream, graph->graph, run).get_message() ==
          "the CUDA graph has 1 nodes; populate_cuda_graph() needs an empty one");
    REQUIRE(clear(stream, 0, 5).is_good());
    CHECK(memory != before);
}

TEST_CASE("a run that fails or throws while it is recorded adds no node, and the stream is not captured any more") {
    auto const graph = make_graph();
    std::byte memory{1};
    auto* const stream = reinterpret_cast<CUstream>(&memory);
    auto const fail = [&] { return Error(error_code_t::GRAPH_EXECUTION_FAILED, "out of paper"); };
    auto const throw_it = [&]() -> Error { throw std::bad_alloc(); };
    CHECK(cuda::record_run(stream, graph->graph, fail).err_msg == "out of paper");
    CHECK(cuda::record_run(stream, graph->graph, throw_it).is_bad());
    CHECK(cuda::node_count(graph->graph).value() == 0);
    REQUIRE(cuda::clear(stream, std::span(&memory, 1)).is_good());
    CHECK(memory == std::byte{0});
    auto const record_again = [&] { return cuda::record_run(stream, graph->graph, [] { return Error(); }); };
    CHECK(cuda::record_run(stream, graph->graph, record_again)
              .get_message()
              .find("beginning to capture a stream failed") != std::string::npos);
}
