// The results of the kernels, on the host, thread by thread, since the machines that test every change have no GPU.
#include "host_kernels.h"
#include "core/data_type.h"
#include "core/dims.h"
#include "support/catch.h"
#include "support/kernels/joint_cases.h"

#include <cmath>

using namespace sdpa_test;

namespace {

constexpr std::uint64_t kCases = 1000;

// All ways to share out a problem among threads that its strides allow: none is too small for pairs of vectors where
// there is no multiprocessor to keep busy.
std::vector<kernels::LaunchForm> forms_of(kernels::Problem const& problem) {
    kernels::LaunchForms const forms = kernels::launch_forms(problem, 132);
    std::vector<kernels::LaunchForm> all{forms.elements};
    if (!forms.vectors) return all;
    all.push_back(*forms.vectors);
    kernels::LaunchForm const pairs = *kernels::launch_forms(problem, 0).vectors;
    if (pairs.share == kernels::Share::PairOfVectors) all.push_back(pairs);
    return all;
}

// The buffers after a run that leaves out the last parts.
KernelTensors run_case(KernelCase const& before, kernels::LaunchForm form, bool is_wide, int left_out = 0) {
    kernels::Problem const problem = operands_of(before.steps.front().joint());
    form.arguments.parts -= left_out;
    KernelTensors after = before.tensors;
    for (std::size_t i = 0; i < after.size(); ++i) {
        form.arguments.operands[problem.operands[i].slot].start = after[i].data();
    }
    run_on_host(problem.kernel, problem.operands.front().operand->type, problem.operands[problem.result].operand->type,
                is_wide, form);
    return after;
}

bool is_aligned(KernelCase const& made) {
    kernels::LaunchForms const forms = kernels::launch_forms(operands_of(made.steps.front().joint()), 132);
    for (std::size_t i = 0; i < forms.vector_alignments.size(); ++i) {
        if (made.tensors[i].start % forms.vector_alignments[i] != 0) return false;
    }
    return true;
}

// Compares the bits of the result. NaN is the same whatever its other bits, which depend on the CPU.
bool are_same(kernels::Operand const& result, KernelTensor const& a, KernelTensor const& b) {
    std::int64_t const span = *cudnn_frontend::core::span_of(result.dims, result.strides);
    for (std::int64_t i = 0; i < span; ++i) {
        double const of_a = cudnn_frontend::core::load(result.type, a.data(), i);
        double const of_b = cudnn_frontend::core::load(result.type, b.data(), i);
        if (of_a != of_b && !(std::isnan(of_a) && std::isnan(of_b))) return false;
    }
    return true;
}

// The number of checks over all cases: a sweep without a form would show nothing of it.
struct Counts {
    std::uint64_t merges = 0, vectors = 0, pairs = 0, unaligned = 0;
};

void check_case(std::uint64_t seed, Counts& counts) {
    KernelCase const made = random_joint_case(seed);
    kernels::Problem const problem = operands_of(made.steps.front().joint());
    INFO("case " << seed << ": " << made.text());
    REQUIRE(kernels::check(problem).is_good());
    std::vector<kernels::LaunchForm> const forms = forms_of(problem);
    KernelTensors const by_elements = run_case(made, forms.front(), seed % 2 == 0);
    std::string const fault = fault_of_joint(made, by_elements);
    INFO(fault);
    CHECK(fault.empty());
    counts.merges += problem.has_columns;
    counts.unaligned += forms.size() > 1 && !is_aligned(made);
    if (!is_aligned(made)) return;
    for (std::size_t i = 1; i < forms.size(); ++i) {
        KernelTensors const others = run_case(made, forms[i], seed % 2 == 0);
        CHECK(are_same(*problem.operands[problem.result].operand, others[problem.result], by_elements[problem.result]));
    }
    counts.vectors += forms.size() > 1;
    counts.pairs += forms.size() > 2;
}

}  // namespace

TEST_CASE(
    "kernels compute what their formulas say, for random shapes, strides and types, with the same bits in all forms") {
    Counts counts;
    for (std::uint64_t seed = 0; seed < kCases; ++seed) check_case(seed, counts);
    CHECK(counts.merges > kCases / 3);
    CHECK(counts.merges < kCases * 2 / 3);
    CHECK(counts.vectors > kCases / 10);
    CHECK(counts.pairs > kCases / 10);
    CHECK(counts.unaligned > kCases / 20);
}

TEST_CASE("a part that is left out, a stray write and a changed input are found") {
    for (char const* const kernel : {"merge", "sum"}) {
        std::uint64_t seed = 0;
        KernelCase made = random_joint_case(seed);
        while (operands_of(made.steps.front().joint()).kernel != std::string(kernel) ||
               operands_of(made.steps.front().joint()).operands[0].parts() < 2) {
            made = random_joint_case(++seed);
        }
        INFO("case " << seed << ": " << made.text());
        kernels::LaunchForm const form = forms_of(operands_of(made.steps.front().joint())).front();
        CHECK(fault_of_joint(made, run_case(made, form, false, 1)).find("] is ") != std::string::npos);
        KernelTensors after = run_case(made, form, false);
        REQUIRE(fault_of_joint(made, after).empty());
        std::size_t const result = operands_of(made.steps.front().joint()).result;
        after[result].bytes.front() ^= std::byte{1};
        CHECK(fault_of_joint(made, after) ==
              std::string(operands_of(made.steps.front().joint()).operands[result].name) +
                  ": byte 0 changed outside the elements");
        after[0].bytes.front() ^= std::byte{1};
        CHECK(fault_of_joint(made, after) ==
              std::string(operands_of(made.steps.front().joint()).operands[0].name) + " changed, which is only read");
    }
}

TEST_CASE("a kernel that does not exist is not replaced by another one") {
    constexpr auto kFloat = cudnn_frontend::DataType_t::FLOAT;
    std::string message;
    try {
        run_on_host("total", kFloat, kFloat, false, {});
    } catch (std::logic_error const& error) {
        message = error.what();
    }
    CHECK(message == "no kernel of joints has the name 'total'; expected merge, split_lengths or sum");
}
