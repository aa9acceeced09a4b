// What the kernels compute: on the host, thread by thread, since the machines that test every change have no GPU.
#include "host_kernels.h"
#include "support/catch.h"
#include "support/kernel_cases.h"

using namespace sdpa_test;

namespace {

constexpr std::uint64_t kCases = 1000;

// The buffers after a run that leaves out the last parts.
KernelBuffers run_case(KernelCase const& before, bool by_vectors, bool is_wide, int left_out = 0) {
    kernels::Problem const problem = before.operands();
    kernels::LaunchForms const forms = kernels::launch_forms(problem, 132);
    kernels::LaunchForm form = by_vectors ? *forms.vectors : forms.elements;
    form.arguments.parts -= left_out;
    KernelBuffers after = before.buffers;
    for (std::size_t i = 0; i < after.size(); ++i) form.arguments.operands[i].start = after[i].data();
    run_on_host(problem.kernel, problem.operands.front().operand->type, problem.operands[problem.result].operand->type,
                by_vectors, is_wide, form);
    return after;
}

void check_run(KernelCase const& before, bool by_vectors, bool is_wide) {
    std::string const fault = fault_of(before, run_case(before, by_vectors, is_wide));
    INFO(fault);
    CHECK(fault.empty());
}

bool is_aligned(KernelCase const& made, kernels::LaunchForms const& forms) {
    for (std::size_t i = 0; i < made.buffers.size(); ++i) {
        if (made.buffers[i].start % forms.vector_alignments[i] != 0) return false;
    }
    return true;
}

// What was checked over all cases: a sweep that never meets a form would show nothing of it.
struct Counts {
    std::uint64_t merges = 0, vectors = 0, unaligned = 0;
};

void check_case(std::uint64_t seed, Counts& counts) {
    KernelCase const made = random_kernel_case(seed);
    kernels::Problem const problem = made.operands();
    INFO("case " << seed << ": " << made.text());
    REQUIRE(kernels::check(problem).is_good());
    kernels::LaunchForms const forms = kernels::launch_forms(problem, 132);
    counts.merges += problem.has_columns;
    check_run(made, false, seed % 2 == 0);
    if (forms.vectors && is_aligned(made, forms)) {
        check_run(made, true, seed % 2 == 0);
        ++counts.vectors;
    } else {
        counts.unaligned += forms.vectors.has_value();
    }
}

}  // namespace

TEST_CASE("kernels compute what their formulas say, for random shapes, strides and types") {
    Counts counts;
    for (std::uint64_t seed = 0; seed < kCases; ++seed) check_case(seed, counts);
    CHECK(counts.merges > kCases / 3);
    CHECK(counts.merges < kCases * 2 / 3);
    CHECK(counts.vectors > kCases / 10);
    CHECK(counts.unaligned > kCases / 20);
}

TEST_CASE("a part that is left out, a stray write and a changed input are found") {
    for (char const* const kernel : {"merge", "sum"}) {
        std::uint64_t seed = 0;
        KernelCase made = random_kernel_case(seed);
        while (made.operands().kernel != std::string(kernel) || made.operands().operands[0].parts() < 2) {
            made = random_kernel_case(++seed);
        }
        INFO("case " << seed << ": " << made.text());
        CHECK(fault_of(made, run_case(made, false, false, 1)).find("] is ") != std::string::npos);
        KernelBuffers after = run_case(made, false, false);
        REQUIRE(fault_of(made, after).empty());
        std::size_t const result = made.operands().result;
        after[result].bytes.front() ^= std::byte{1};
        CHECK(fault_of(made, after) ==
              std::string(made.operands().operands[result].name) + ": byte 0 changed outside the elements");
        after[0].bytes.front() ^= std::byte{1};
        CHECK(fault_of(made, after) == std::string(made.operands().operands[0].name) + " changed, which is only read");
    }
}
