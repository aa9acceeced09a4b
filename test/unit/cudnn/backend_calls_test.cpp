// The calls that the backend gets, and the effects of its failures, with a backend that records.
#include "cudnn/library/api.h"
#include "cudnn/library/engine_config.h"
#include "cudnn/library/execution.h"
#include "cudnn/library/lowered_graph.h"
#include "cudnn/planning/lowering.h"
#include "ir/builder.h"
#include "unit/expand/attention_graphs.h"

#include "support/catch.h"
#include "unit/cudnn/fakes/fake_cudnn.h"

#include <algorithm>
#include <cstring>

using namespace cudnn_frontend;
using Error = cudnn_frontend::error_object;
using sdpa_test::FakeCudnn;
using test::AttentionGraph;
using Port = nodes::attention::Port;

namespace {

AttentionGraph every_option() {
    return AttentionGraph::backward()
        .scale(0.5f)
        .bias({1, 1, 6, 5})
        .padding()
        .dropout(0.25f)
        .band(DiagonalAlignment_t::TOP_LEFT, 3, 0);
}

cudnn::LegalGraph legal(ir::OpGraph const& graph) {
    return cudnn::legal_graph({graph}, {.cudnn_version = 91900, .sm = 90}).value();
}

// Makes all calls from a device to a run, as a planner does. After a stage that fails the later ones are left out.
Error plan_and_run(FakeCudnn const& fake, ir::OpGraph const& graph) {
    auto const device = cudnn::Device::from_id(fake.api(), 0);
    if (device.is_bad()) return device.error();
    auto const lowered = cudnn::lower(legal(graph), fake.api(), {});
    if (lowered.is_bad()) return lowered.error();
    auto answer = cudnn::ask_heuristics(lowered.value().graph, {{HeurMode_t::A}, device.value().get()});
    if (answer.is_bad()) return answer.error();
    if (answer.value().configs.empty()) return {error_code_t::HEURISTIC_QUERY_FAILED, answer.value().reason};
    auto const plan =
        cudnn::EnginePlan::build(std::move(answer.value().configs.front()), device.value().get(), nullptr);
    if (plan.is_bad()) return plan.error();
    if (auto const stored = plan.value()->serialize(); stored.is_bad()) return stored.error();
    cudnn::KeptPack kept;
    std::vector<void*> const memory(graph.bindings().size());
    cudnn::RunMemory const run{.caller = memory, .tables = {}, .workspace = nullptr};
    return cudnn::execute(nullptr, *plan.value(), lowered.value().bindings, run, &kept);
}

// The steps of planners beyond that: an engine and its knobs chosen by hand, a kernel cache, a plan stored and loaded,
// and CUDA graphs.
Error choose_load_and_fill(FakeCudnn const& fake, ir::OpGraph const& graph) {
    auto const device = cudnn::Device::from_json(fake.api(), "{}");
    if (device.is_bad()) return device.error();
    auto const lowered = cudnn::lower(legal(graph), fake.api(), {.dynamic_shapes = true});
    if (lowered.is_bad()) return lowered.error();
    auto const knobs = cudnn::knobs_of_engine(lowered.value().graph, device.value().get(), 1);
    if (knobs.is_bad()) return knobs.error();
    auto config = cudnn::make_config(lowered.value().graph, device.value().get(), 1,
                                     {{knobs.value().front().knob, knobs.value().front().maximum}});
    if (config.is_bad()) return config.error();
    cudnn::Descriptor cache(fake.api(), CUDNN_BACKEND_KERNEL_CACHE_DESCRIPTOR, "the kernel cache");
    cache.set(CUDNN_ATTR_KERNEL_CACHE_OPERATION_GRAPH, lowered.value().graph);
    if (Error const error = cache.finalize(); error.is_bad()) return error;
    auto const built = cudnn::EnginePlan::build(std::move(config).value(), device.value().get(), &cache);
    if (built.is_bad()) return built.error();
    auto const stored = built.value()->serialize();
    if (stored.is_bad()) return stored.error();
    auto const plan = cudnn::EnginePlan::load(fake.api(), {.engine = 1}, stored.value(), nullptr, device.value().get());
    if (plan.is_bad()) return plan.error();
    std::vector<void*> const memory(graph.bindings().size());
    cudnn::RunMemory const run{.caller = memory, .tables = {}, .workspace = nullptr};
    cudnn::Bindings const& bindings = lowered.value().bindings;
    Error error = cudnn::populate_cuda_graph(nullptr, *plan.value(), bindings, run, nullptr);
    if (error.is_good()) error = cudnn::update_cuda_graph(nullptr, *plan.value(), bindings, run, nullptr);
    return error;
}

// Runs the path once for each of its calls, which fails. The path may compensate for a few.
template <class Path>
void check_each_failure(Path path, ir::OpGraph const& graph, int allowed_to_succeed) {
    int calls = 0;
    {
        FakeCudnn fake;
        REQUIRE(path(fake, graph).is_good());
        calls = fake.calls();
    }
    REQUIRE(calls > 200);
    int succeeded = 0;
    for (int call = 0; call < calls; ++call) {
        FakeCudnn fake;
        fake.fail_at(call);
        fake.set_last_error("Warning: X; Reason: the cause at: (condition)\n");
        CAPTURE(call);
        Error const error = path(fake, graph);
        CHECK(fake.alive() == 0);
        CHECK(fake.faults().empty());
        if (error.is_good()) {
            ++succeeded;
            continue;
        }
        CHECK(error.err_msg.find(" failed: CUDNN_STATUS_") != std::string::npos);
    }
    CHECK(succeeded <= allowed_to_succeed);
}

int count_of(std::string const& text, std::string const& part) {
    int count = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE("the backend is told each tensor's type, dims, strides, uid and alignment") {
    FakeCudnn fake;
    ir::OpGraph const graph = test::composite(AttentionGraph::forward().scale(0.5f));
    REQUIRE(cudnn::lower(legal(graph), fake.api(), {}).is_good());
    INFO(fake.log());
    std::int64_t const uid = test::find_value(graph, "Q").uid;
    std::string const q = "uid " + std::to_string(uid);
    CHECK(fake.log().find("TENSOR " + q +
                          ": TENSOR_DATA_TYPE 2, TENSOR_DIMENSIONS 2 4 6 8, TENSOR_STRIDES 192 48 8 1, "
                          "TENSOR_UNIQUE_ID " +
                          std::to_string(uid) + ", TENSOR_BYTE_ALIGNMENT 16\n") != std::string::npos);
    CHECK(fake.log().find("TENSOR_IS_VIRTUAL 1") != std::string::npos);
    CHECK(fake.log().find("TENSOR_IS_BY_VALUE 1") != std::string::npos);
    CHECK(fake.log().find("OPERATION_MATMUL_ADESC " + q + ", ") != std::string::npos);
    CHECK(fake.log().find("(not finalized)") == std::string::npos);
    CHECK(fake.faults().empty());
}

TEST_CASE("every operation becomes one descriptor, in order, and the graph names them all") {
    FakeCudnn fake;
    cudnn::LegalGraph const legalized = legal(test::composite(every_option()));
    ir::OpGraph const& graph = legalized.graph;
    REQUIRE(cudnn::lower(legalized, fake.api(), {}).is_good());
    INFO(fake.log());
    CHECK(count_of(fake.log(), "\nOPERATION_") == static_cast<int>(graph.ops().size()));
    std::string const line = fake.log().substr(fake.log().find("OPERATIONGRAPH "));
    CHECK(count_of(line, " #") == static_cast<int>(graph.ops().size()) + 1);  // and itself
    CHECK(count_of(fake.log(), "RNG_BERNOULLI_DIST_PROBABILITY 0.75") == 1);
    CHECK(fake.alive() == 0);
}

TEST_CASE("steps that engines take unasked are no operations, and what they read and write is one tensor") {
    auto attention = AttentionGraph::backward();
    attention.connect(Port::SinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
    attention.connect(Port::DSinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
    FakeCudnn fake;
    cudnn::LegalGraph const legalized = legal(test::composite(attention));
    REQUIRE(legalized.implied.size() == 1);
    REQUIRE(cudnn::lower(legalized, fake.api(), {}).is_good());
    INFO(fake.log());
    CHECK(count_of(fake.log(), "\nOPERATION_") == static_cast<int>(legalized.graph.ops().size()) - 1);
    std::string const gradient = "uid " + std::to_string(test::find_value(legalized.graph, "dSink_token").uid);
    CHECK(count_of(fake.log(), "OPERATION_REDUCTION_YDESC " + gradient) == 1);
    CHECK(fake.alive() == 0);
}

TEST_CASE("the backend is told to unfuse multiplication in its one operation where the graph asks for that") {
    auto const unfused = [](bool asks) {
        FakeCudnn fake;
        ir::OpGraph const graph = test::fused(AttentionGraph::forward());
        REQUIRE(cudnn::lower(legal(graph), fake.api(), {.unfuses_multiplication = asks}).is_good());
        return count_of(fake.log(), "UNFUSE_FMA 1");
    };
    CHECK(unfused(true) == 1);
    CHECK(unfused(false) == 0);
}

TEST_CASE("the backend is told of pages: container, table, lengths and result of each load") {
    FakeCudnn fake;
    ir::OpGraph const graph = test::composite(AttentionGraph::forward().padding().pages());
    REQUIRE(cudnn::lower(legal(graph), fake.api(), {}).is_good());
    INFO(fake.log());
    for (char const* const part : {"CONTAINER_DESC", "YDESC", "SEQUENCE_DESC", "PAGE_TABLE_DESC"}) {
        CHECK(count_of(fake.log(), std::string("PAGED_CACHE_LOAD_") + part) == 2);
    }
    CHECK(count_of(fake.log(), "TENSOR_DIMENSIONS 2 4 8 5, TENSOR_STRIDES 160 40 1 8") == 1);  // K^T, and no other K
    CHECK(fake.alive() == 0);
}

TEST_CASE("the backend gets the memory for packed sums that bounds on rows say, with the offsets of the results") {
    struct Lowered {
        std::int64_t scratch_bytes;
        int of_queries, of_keys, of_stats;  // tensors with their offset
    };
    auto const lowered = [](AttentionGraph attention) -> Lowered {
        FakeCudnn fake;
        auto const graph = cudnn::lower(legal(test::composite(attention)), fake.api(), {});
        REQUIRE(graph.is_good());
        auto const like = [&](int port) {
            auto const offset = static_cast<std::size_t>(attention.tensor(port).ragged_offset);
            return count_of(fake.log(),
                            "RAGGED_OFFSET_DESC uid " + std::to_string(*attention.spec.tensors[offset].uid) + "\n");
        };
        return {graph.value().bindings.scratch_bytes, like(Port::DQ), like(Port::DK), like(Port::Stats)};
    };
    AttentionGraph const bounded = test::packed_backward();
    AttentionGraph dense = bounded;
    auto& fields = std::get<nodes::SdpaBackwardFields>(dense.node().fields);
    fields.max_total_seq_len_q.reset(), fields.max_total_seq_len_kv.reset();
    Lowered const packed = lowered(bounded), roomy = lowered(dense);
    // FLOAT has a number and an element of dQ for each of 8 rows of 4 heads, which are 2 of 6 rows without a bound.
    // HALF, which needs memory with a bound alone, has elements of dK and dV for 7 rows of 4 heads.
    CHECK(packed.scratch_bytes == 8 * 4 * 4 + 128 + 8 * 4 * 16 * 4 + 2 * (7 * 4 * 16 * 2 + 128));
    CHECK(roomy.scratch_bytes == 12 * 4 * 4 + 64 + 12 * 4 * 16 * 4);
    CHECK(packed.of_queries == roomy.of_queries + 1);
    CHECK(packed.of_keys == roomy.of_keys + 2);
    CHECK(packed.of_stats == roomy.of_stats + 1);
}

TEST_CASE("the backend finds the offsets that a dense tensor is given in a table of this library's") {
    auto attention = AttentionGraph::forward().padding();
    test::pack_rows(attention, {Port::Q, Port::K, Port::V});
    FakeCudnn fake;
    auto const lowered = cudnn::lower(legal(test::composite(attention)), fake.api(), {});
    REQUIRE(lowered.is_good());
    INFO(fake.log());
    auto const& [tensors, numbers, tables, scratch_bytes] = lowered.value().bindings;
    REQUIRE(tables.size() == 1);
    std::int32_t starts[3] = {};
    REQUIRE(tables[0].bytes.size() == sizeof starts);
    std::memcpy(starts, tables[0].bytes.data(), sizeof starts);
    CHECK(starts[1] == 6 * 4 * 16);
    CHECK(starts[2] == 2 * starts[1]);
    auto const table = std::ranges::find(tensors, cudnn::MemorySource::Table, &cudnn::BoundTensor::source);
    REQUIRE(table != tensors.end());
    CHECK(count_of(fake.log(), "RAGGED_OFFSET_DESC uid " + std::to_string(table->uid) + "\n") == 1);
}

TEST_CASE("the backend is told nothing of a sink's gradient that this library computes") {
    auto const told = [](bool is_deterministic) {
        auto attention = AttentionGraph::backward();
        attention.connect(Port::SinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
        attention.connect(Port::DSinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
        if (is_deterministic) attention.deterministic();
        FakeCudnn fake;
        auto const lowered = cudnn::lower(legal(test::composite(attention)), fake.api(), {});
        REQUIRE(lowered.is_good());
        std::int64_t const uid = *attention.tensor(Port::DSinkToken).uid;
        return std::ranges::count(lowered.value().bindings.tensors, uid, &cudnn::BoundTensor::uid);
    };
    CHECK(told(false) == 1);
    CHECK(told(true) == 0);
}

TEST_CASE("the backend is told that a sum is deterministic from 9.11 on, which first has a word for it") {
    auto const marks = [](std::size_t version) {
        FakeCudnn fake;
        fake.version = version;
        ir::OpGraph const graph = test::composite(AttentionGraph::backward().heads(2, 2).deterministic());
        REQUIRE(cudnn::lower(legal(graph), fake.api(), {}).is_good());
        return count_of(fake.log(), "REDUCTION_IS_DETERMINISTIC 1");
    };
    CHECK(marks(91002) == 0);
    CHECK(marks(91100) == 2);
}

TEST_CASE(
    "the backend is told cumulative lengths and the multiplier of offsets in its one operation, and in no other") {
    auto attention = AttentionGraph::forward().padding();
    test::pack_rows(attention, {Port::Q, Port::K, Port::V, Port::O});
    for (int const port : {Port::Q, Port::K, Port::V, Port::O}) attention.tensor(port).ragged_offset_multiplier = 32;
    attention.node().ports[Port::SeqLenQ] = nodes::kNoTensor;
    attention.connect(Port::CuSeqLenQ, DataType_t::INT32, {3, 1, 1, 1});
    ir::OpGraph const graph = test::fused(attention);
    FakeCudnn fake;
    REQUIRE(cudnn::lower(legal(graph), fake.api(), {}).is_good());
    INFO(fake.log());
    std::string const sums = "uid " + std::to_string(test::find_value(graph, "cu_seq_len_q").uid);
    std::string const lengths = "uid " + std::to_string(test::find_value(graph, "seq_len_kv").uid);
    CHECK(count_of(fake.log(), "OPERATION_SDPA_FWD_CU_SEQ_LEN_QDESC " + sums) == 1);
    CHECK(count_of(fake.log(), "OPERATION_SDPA_FWD_SEQ_LEN_KVDESC " + lengths) == 1);
    CHECK(count_of(fake.log(), "SEQ_LEN_QDESC") == 1);
    CHECK(count_of(fake.log(), "TENSOR_RAGGED_OFFSET_MULTIPLIER 32") == 4);
    CHECK(fake.alive() == 0);
    auto const primitive = cudnn::lower(legal(test::composite(attention)), fake.api(), {});
    CHECK(primitive.error().get_code() == error_code_t::GRAPH_NOT_SUPPORTED);
    CHECK(primitive.error().get_message().find("::steps' holds cumulative lengths") != std::string::npos);
}

TEST_CASE(
    "the backend is told what to move: of a slice, a transpose, and a reshape whose order is not that of memory") {
    ir::Builder builder;
    auto const value = [&](ir::Role role, std::int64_t uid, core::Dims dim, core::Dims stride) {
        ir::Value made{.name = "x", .dim = std::move(dim), .stride = std::move(stride), .role = role, .uid = uid};
        return builder.add(made);
    };
    auto const x = value(ir::Role::Input, 1, {4, 6}, {6, 1}), part = value(ir::Role::Virtual, -1, {2, 3}, {3, 1});
    auto const turned = value(ir::Role::Virtual, -1, {3, 2}, {1, 3});
    auto const row = value(ir::Role::Virtual, -1, {6}, {1}), same = value(ir::Role::Output, 2, {2, 3}, {3, 1});
    builder.add({"slice", DataType_t::FLOAT, ir::SliceOp{.x = x, .y = part, .start = {2, 1}, .step = {1, 2}}});
    builder.add({"transpose", DataType_t::FLOAT, ir::TransposeOp{.x = part, .y = turned, .permutation = {1, 0}}});
    constexpr auto kLogical = ReshapeMode_t::LOGICAL;
    builder.add({"moved", DataType_t::FLOAT, ir::ReshapeOp{.x = turned, .y = row, .mode = kLogical}});
    builder.add({"kept", DataType_t::FLOAT, ir::ReshapeOp{.x = row, .y = same, .mode = kLogical}});
    auto const graph = std::move(builder).finish();
    REQUIRE(graph.error().get_message() == "");
    FakeCudnn fake;
    REQUIRE(cudnn::lower(legal(graph.value()), fake.api(), {}).is_good());
    INFO(fake.log());
    for (char const* const told :
         {"OPERATION_SLICE_START_INDICES 2 1", "OPERATION_SLICE_LIMIT_INDICES 4 6", "OPERATION_SLICE_STRIDES 1 2",
          "OPERATION_TRANSPOSE_PERMUTATION 1 0", "OPERATION_RESHAPE_MODE "}) {
        CHECK(count_of(fake.log(), told) == 1);
    }
    CHECK(count_of(fake.log(), "OPERATION_RESHAPE_XDESC") == 2);
    CHECK(fake.alive() == 0);
}

TEST_CASE("the backend is told of block scales: elements, scales and their order, blocks of 32, result") {
    FakeCudnn fake;
    ir::OpGraph const graph = test::composite(AttentionGraph::forward().block_scaled().scale(0.5f));
    REQUIRE(cudnn::lower(legal(graph), fake.api(), {}).is_good());
    INFO(fake.log());
    for (char const* const part : {"XDESC", "SCALE_DESC", "YDESC", "MATH_PREC", "BLOCK_SIZE 32"}) {
        CHECK(count_of(fake.log(), std::string("BLOCK_SCALE_DEQUANTIZE_") + part) == 3);
    }
    for (auto const& [tensor, scale] : {std::pair("Q", "descale_q"), std::pair("V", "descale_v")}) {
        std::string const elements = "uid " + std::to_string(test::find_value(graph, tensor).uid);
        std::string const scales = "uid " + std::to_string(test::find_value(graph, scale).uid);
        CHECK(count_of(fake.log(), "DEQUANTIZE_XDESC " + elements + ", ") == 1);
        CHECK(count_of(fake.log(), "DEQUANTIZE_SCALE_DESC " + scales + ", ") == 1);
    }
    CHECK(count_of(fake.log(), "TENSOR_REORDERING_MODE 3") == 3);
    CHECK(fake.alive() == 0);
}

TEST_CASE("a pack is made once for runs on the same memory, and anew for others") {
    FakeCudnn fake;
    ir::OpGraph const graph = test::composite(AttentionGraph::forward());
    auto const lowered = cudnn::lower(legal(graph), fake.api(), {});
    auto answer = cudnn::ask_heuristics(lowered.value().graph, {{HeurMode_t::A}, nullptr});
    auto const plan = cudnn::EnginePlan::build(std::move(answer.value().configs.front()), nullptr, nullptr);
    REQUIRE(plan.is_good());
    std::vector<void*> memory(graph.bindings().size());
    int place = 0;
    cudnn::KeptPack kept;
    auto const run = [&](cudnn::KeptPack* store) {
        cudnn::RunMemory const arguments{.caller = memory, .tables = {}, .workspace = &place};
        REQUIRE(cudnn::execute(nullptr, *plan.value(), lowered.value().bindings, arguments, store).is_good());
        return count_of(fake.log(), "VARIANT_PACK #");
    };
    CHECK(run(&kept) == 1);
    CHECK(run(&kept) == 1);
    memory.front() = &place;
    CHECK(run(&kept) == 2);
    CHECK(run(&kept) == 2);
    CHECK(run(nullptr) == 3);
    fake.fail_at(fake.calls());
    cudnn::RunMemory const arguments{.caller = memory, .tables = {}, .workspace = &place};
    auto const error = cudnn::execute(nullptr, *plan.value(), lowered.value().bindings, arguments, &kept);
    CHECK(error.get_code() == error_code_t::GRAPH_EXECUTION_FAILED);
    CHECK(run(&kept) == 4);  // a pack that failed is not used again
    CHECK(fake.faults().empty());
}

TEST_CASE("a stored plan is not loaded without a handle and a device, which would end the process") {
    FakeCudnn fake;
    auto const plan = cudnn::EnginePlan::load(fake.api(), {}, "{}", nullptr, nullptr);
    CHECK(plan.error().get_message() == "loading a plan needs a cuDNN handle or a device description");
    CHECK(fake.calls() == 0);
}

TEST_CASE("whichever call fails: an error that names it, and nothing left behind") {
    for (ir::OpGraph const& graph :
         {test::composite(AttentionGraph::forward().scale(0.5f).stats()), test::composite(every_option())}) {
        check_each_failure(plan_and_run, graph, 10);  // notes and sizes of engines, which may be unknown
    }
}

TEST_CASE("the same with chosen engines, kernel caches, loaded plans and CUDA graphs") {
    for (ir::OpGraph const& graph :
         {test::composite(AttentionGraph::forward().scale(0.5f).stats()), test::composite(every_option())}) {
        // The same, and the answers of a loaded plan about its engine, for which as many choices are made as there are
        // knobs.
        check_each_failure(choose_load_and_fill, graph, 16 + CUDNN_KNOB_TYPE_COUNTS);
    }
}

TEST_CASE("an engine chosen by hand is told its index, its knobs and the device") {
    FakeCudnn fake;
    REQUIRE(choose_load_and_fill(fake, test::composite(AttentionGraph::forward())).is_good());
    INFO(fake.log());
    CHECK(count_of(fake.log(), "ENGINE_GLOBAL_INDEX 1, ENGINE_DEVICEPROP #") == 2);
    CHECK(count_of(fake.log(), "KNOB_CHOICE_KNOB_VALUE 9") == 1);
    CHECK(count_of(fake.log(), "ENGINECFG_KNOB_CHOICES #") == 1);
    CHECK(count_of(fake.log(), "KERNEL_CACHE_OPERATION_GRAPH #") == 1);
    CHECK(count_of(fake.log(), "EXECUTION_PLAN_KERNEL_CACHE #") == 1);
    CHECK(count_of(fake.log(), "EXECUTION_PLAN_JSON_REPRESENTATION text") == 1);
    CHECK(count_of(fake.log(), "(not finalized)") == 0);
}

TEST_CASE("a failure names the descriptor, the attribute, the operation or tensor, and the backend's cause") {
    FakeCudnn fake;
    fake.fail_at(4);
    fake.set_last_error("Warning: CUDNN_STATUS_BAD_PARAM; Reason: no such type at: (type == known)\nWarning: outer\n");
    auto const lowered = cudnn::lower(legal(test::composite(AttentionGraph::forward())), fake.api(), {});
    INFO(lowered.error().err_msg);
    CHECK(lowered.error().err_msg ==
          "setting CUDNN_ATTR_TENSOR_DATA_TYPE of tensor 'Q' failed: CUDNN_STATUS_BAD_PARAM: no such type");
}

TEST_CASE("each engine's own cause is told, and the text is read once") {
    FakeCudnn fake;
    fake.set_last_error(
        "{\"engineId\":3}\nWarning: A; Reason: head dim too large at: x\nWarning: B; Reason: engine failed at: y\n"
        "{\"engineId\":12}\nWarning: A; Reason: no such type at: z\n");
    CHECK(cudnn::last_error_text(fake.api()) == "engine 3: head dim too large; engine 12: no such type");
    CHECK(cudnn::last_error_text(fake.api()).empty());
    fake.set_last_error("a text of another form");
    CHECK(cudnn::last_error_text(fake.api()) == "a text of another form");
    fake.set_last_error(std::string(100000, 'x'));
    CHECK(cudnn::last_error_text(fake.api()).size() == 65535);
    CHECK(cudnn::version_text(91900) == "9.19.0");
}
