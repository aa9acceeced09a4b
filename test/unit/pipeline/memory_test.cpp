// Calls on a graph when memory runs out: each allocation of each call fails once, and nothing is thrown. JSON is left
// out, because destructors of its library allocate.
#include <cudnn_frontend/graph.h>

#include "support/catch.h"
#include "support/small_graph.h"

#include <cstdlib>
#include <functional>
#include <new>

using namespace cudnn_frontend;

namespace {

thread_local int allocations_left = -1;  // until one fails; never where negative

bool fails_now() { return allocations_left >= 0 && allocations_left-- == 0; }

}  // namespace

void* operator new(std::size_t size) {
    void* const memory = fails_now() ? nullptr : std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
    return fails_now() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

// Calls again and again, each time with a later allocation that fails, until none fails.
int failures_until_done(std::function<void()> const& call) {
    for (int failures = 0;; ++failures) {
        allocations_left = failures;
        bool has_thrown = false;
        try {
            call();
        } catch (std::bad_alloc const&) {
            has_thrown = true;
        }
        bool const is_done = allocations_left >= 0;
        allocations_left = -1;
        CAPTURE(failures);
        REQUIRE_FALSE(has_thrown);
        if (is_done) return failures;
    }
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
    CHECK(failures_until_done([&] { status = small.graph.validate(); }) > 10);
    CHECK(status.is_good());
    CHECK(failures_until_done([&] { status = small.graph.print_operations(operations); }) > 10);
    CHECK(status.is_good());
    CHECK(failures_until_done([&] { status = small.graph.query_tensor_attributes_of_uid(1, tensor); }) > 10);
    CHECK(status.is_good());
    CHECK(tensor.get_name() == "Q");
}
