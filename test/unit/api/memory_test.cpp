// Calls on a graph when memory runs out: each allocation of each call fails, alone or with all later ones, and nothing
// is thrown. Then exceptions of a program's own code within a call.
#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/runtime.h>

#include "support/catch.h"
#include "support/small_graph.h"

#include <array>
#include <cstdlib>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

using namespace cudnn_frontend;

namespace {

enum class Failing { Once, FromThenOn };

thread_local int allocations_left = -1;  // until one fails; negative: none fails
thread_local bool has_failed = false;
thread_local Failing failing = Failing::Once;

bool fails_now() {
    if (allocations_left != 0) {
        allocations_left -= allocations_left > 0 ? 1 : 0;
        return false;
    }
    has_failed = true;
    if (failing == Failing::Once) allocations_left = -1;
    return true;
}

void fail_after(int allocations, Failing how = Failing::Once) {
    failing = how;
    has_failed = false;
    allocations_left = allocations;
}

// Stops failing; returns whether an allocation failed.
bool stop_failing() {
    allocations_left = -1;
    return has_failed;
}

}  // namespace

void* operator new(std::size_t size) {
    void* const memory = fails_now() ? nullptr : std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
    return fails_now() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
// These are not inlined: the compiler would see free() on a result of operator new.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

// Repeats the call, each time with a later allocation failing, until none fails.
int failures_until_done(std::function<void()> const& call, Failing how = Failing::Once) {
    for (int failures = 0;; ++failures) {
        fail_after(failures, how);
        bool has_thrown = false;
        try {
            call();
        } catch (std::bad_alloc const&) {
            has_thrown = true;
        }
        bool const is_done = !stop_failing();
        CAPTURE(failures);
        REQUIRE_FALSE(has_thrown);
        if (is_done) return failures;
    }
}

// The same for a call that returns an error: out of memory or none, and none at the end. Returns the number of errors.
int refusals_until_done(std::function<error_object()> const& call, Failing how) {
    int refusals = 0;
    error_object status;
    auto const count = [&] {
        status = call();
        refusals += status.is_bad() ? 1 : 0;
    };
    failures_until_done(count, how);
    INFO(status.err_msg);
    CHECK(status.is_good());
    return refusals;
}

}  // namespace

TEST_CASE("calls that ask for a description of the graph do not throw when memory runs out") {
    test::SmallGraph small = test::small_graph();
    std::string const text = small.graph.print();
    std::size_t const key = small.graph.key();
    std::string printed;
    CHECK(failures_until_done([&] { printed = small.graph.print(); }) > 10);
    CHECK(printed == text);
    std::size_t hash = 0;
    CHECK(failures_until_done([&] { hash = small.graph.key(); }) > 10);
    CHECK(hash == key);
}

TEST_CASE("calls that return an error return one when memory runs out") {
    test::SmallGraph small = test::small_graph();
    error_object status;
    std::string operations;
    graph::Tensor_attributes tensor;
    auto const validate_anew = [&] {
        runtime::forget_graphs();
        status = small.graph.validate();
    };
    CHECK(failures_until_done(validate_anew) > 2);
    CHECK(status.is_good());
    CHECK(failures_until_done([&] { status = small.graph.print_operations(operations); }) > 10);
    CHECK(status.is_good());
    int refusals = 0;
    int const failures = failures_until_done([&] {
        status = small.graph.query_tensor_attributes_of_uid(1, tensor);
        refusals += status.is_bad() ? 1 : 0;
    });
    CHECK(failures > 2);
    CHECK(refusals == failures);
    CHECK(status.is_good());
    CHECK(tensor.get_name() == "Q");
}

// Builder calls are noexcept: an exception would end the process.
TEST_CASE("a graph that memory runs out for while it is described says so in every stage") {
    using graph::SDPA_attributes;
    using graph::SDPA_backward_attributes;
    std::string const long_name = "a name that is long enough for memory of its own";
    std::vector<std::string> const barred{long_name};
    std::vector<std::int64_t> const dim{2, 4, 6, 8}, stride{192, 48, 8, 1};
    int failures = 0;
    for (bool is_done = false; !is_done; ++failures) {
        test::Graph graph;
        fail_after(failures);
        auto const q = graph.tensor(graph::Tensor_attributes().set_name(long_name).set_dim(dim).set_stride(stride));
        auto const k = graph.tensor_like(q, long_name);
        auto const scale = graph.tensor(graph::Tensor_attributes(0.5f).set_name("scale"));
        auto options = SDPA_attributes().set_name(long_name);
        auto const copy = options.set_causal_mask(true).set_attn_scale(scale).set_generate_stats(true);
        auto const [o, stats] = graph.sdpa(q, k, k, copy);
        auto const square = graph::Pointwise_attributes().set_mode(PointwiseMode_t::MUL);
        auto const d_o = graph.pointwise(o, o, square);
        auto const gradients = graph.sdpa_backward(q, k, k, o, d_o, stats, SDPA_backward_attributes());
        for (auto const& tensor : {o, stats, gradients[0], gradients[1], gradients[2]}) tensor->set_output(true);
        graph.set_name(long_name).deselect_engines(barred);
        is_done = !stop_failing();
        CAPTURE(failures);
        graph.set_io_data_type(DataType_t::FLOAT).set_intermediate_data_type(DataType_t::FLOAT);
        graph.set_compute_data_type(DataType_t::FLOAT);
        error_object const wanted =
            is_done ? error_object() : error_object(error_code_t::GRAPH_EXECUTION_FAILED, "out of memory");
        for (error_object const& status : {graph.validate(), graph.check().to_error(), graph.build(Target::cpu())}) {
            CHECK(status.code == wanted.code);
            CHECK(status.err_msg.find(wanted.err_msg) != std::string::npos);
        }
    }
    CHECK(failures > 30);
}

TEST_CASE("JSON and stored plans are written and read, or refused, when memory runs out") {
    for (Failing const how : {Failing::Once, Failing::FromThenOn}) {
        test::SmallGraph small = test::small_graph();
        REQUIRE(small.graph.build(Target::cpu()).is_good());
        std::string text;
        CHECK(refusals_until_done([&] { return small.graph.serialize(text); }, how) > 100);
        graph::Graph read;
        CHECK(refusals_until_done([&] { return read.deserialize(text); }, how) > 100);
        CHECK(read.key() == small.graph.key());
        std::vector<std::uint8_t> bytes;
        CHECK(refusals_until_done([&] { return small.graph.serialize(bytes); }, how) > 100);
        CHECK(refusals_until_done([&] { return read.deserialize(nullptr, bytes); }, how) > 100);
        CHECK(read.get_workspace_size() == small.graph.get_workspace_size());
        std::string const faulty = text.substr(0, text.size() / 2) + "]";
        error_object status;
        failures_until_done([&] { status = read.deserialize(faulty); }, how);
        CHECK(status.code == error_code_t::UNSUPPORTED_GRAPH_FORMAT);
    }
}

TEST_CASE("a graph is built, asked and run, or the call refused, when memory runs out") {
    std::vector<float> q(384, 0.5f), k(320, 0.25f), v(320, 2.0f), o(384);
    std::unordered_map<std::int64_t, void*> const pack{{1, q.data()}, {2, k.data()}, {3, v.data()}, {4, o.data()}};
    for (Failing const how : {Failing::Once, Failing::FromThenOn}) {
        for (Target const& target : {Target::cpu(1), Target::reference()}) {
            test::SmallGraph small = test::small_graph();
            graph::Graph& graph = small.graph;
            auto const build_anew = [&] {
                runtime::forget_graphs();
                return graph.build(target);
            };
            CHECK(refusals_until_done(build_anew, how) > 50);
            CHECK(refusals_until_done([&] { return graph.build(target); }, how) > 5);
            std::string name;
            refusals_until_done([&] { return graph.get_plan_name_at_index(0, name); }, how);
            refusals_until_done([&] { return graph.print_candidates(name); }, how);
            CHECK(failures_until_done([&] { REQUIRE(graph.get_variant_pack_uids_sorted().size() <= 4); }, how) > 0);
            auto workspace = test::workspace_of(graph);
            refusals_until_done([&] { return graph.execute(pack, workspace.data()); }, how);
            CHECK(o.back() == 2.0f);
            std::unordered_map<std::int64_t, void*> const empty;
            failures_until_done([&] { REQUIRE(graph.execute(empty, workspace.data()).is_bad()); }, how);
        }
        graph::Graph unbuilt;
        std::string name;
        failures_until_done([&] { REQUIRE(unbuilt.get_plan_name(name).is_bad()); }, how);
        failures_until_done([&] { REQUIRE(unbuilt.check_support().is_bad()); }, how);
        failures_until_done([&] { REQUIRE(unbuilt.create_execution_plans({}).is_bad()); }, how);
    }
}

TEST_CASE("a score modifier that throws is an error of every stage, with its words") {
    for (bool const is_of_std : {true, false}) {
        test::SmallGraph small = test::small_graph();
        auto const throwing = [&](std::shared_ptr<graph::Graph> const&,
                                  test::Tensor_ptr const& scores) -> test::Tensor_ptr {
            if (is_of_std) throw std::logic_error("boom");
            if (scores) throw 7;
            return scores;
        };
        auto const options = test::SDPA_attributes().set_name("modified").set_score_mod(throwing);
        auto const [o, stats] = small.graph.sdpa(small.q, small.k, small.v, options);
        REQUIRE(o);
        o->set_output(true);
        std::string const wanted =
            is_of_std ? "the exception 'boom' from the callable" : "an exception of unknown type from the callable";
        error_object const status = small.graph.validate();
        CHECK(status.err_msg.find("[sdpa_fwd.c43] node 'modified', tensor 'score_mod': found " + wanted) !=
              std::string::npos);
        CHECK(small.graph.build(Target::reference()).err_msg == status.err_msg);
    }
}
