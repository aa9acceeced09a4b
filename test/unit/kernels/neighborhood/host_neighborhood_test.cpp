// The results of the kernels of neighborhood attention, on the host, since the machines that test every change have no
// GPU.
#include "host_neighborhood.h"
#include "support/catch.h"
#include "support/kernels/neighborhood_kernel_cases.h"
#include "unit/kernels/host/host_async.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <stdexcept>

using namespace sdpa_test;
using kernels::NeighborhoodForm;

namespace {

constexpr std::uint64_t kTokenCases = 72, kTileCases = 36, kWarpgroupCases = 36, kLargeCases = 12;
constexpr NeighborhoodLimits kSmall{90, 136, 2}, kLarge{600, 136, 1}, kTwoStages{220, 136, 1}, kFewStages{280, 136, 1},
    kManyStages{700, 136, 1};
constexpr kernels::DeviceFacts kH200{90, 132};

using Memory = std::vector<std::vector<std::byte>>;

// Starts of tensors lie in aligned memory where the case says so.
class AlignedMemory {
   public:
    explicit AlignedMemory(KernelCase const& made) {
        for (KernelTensor const& data : made.tensors) {
            words_.emplace_back(data.bytes.size() / sizeof(Word) + 1);
            std::memcpy(words_.back().data(), data.bytes.data(), data.bytes.size());
        }
    }
    void* start(KernelCase const& made, std::size_t number) {
        return reinterpret_cast<std::byte*>(words_[number].data()) + made.tensors[number].start;
    }
    Memory bytes(KernelCase const& made) const {
        Memory all;
        for (std::size_t i = 0; i < words_.size(); ++i) {
            auto const* const first = reinterpret_cast<std::byte const*>(words_[i].data());
            all.emplace_back(first, first + made.tensors[i].bytes.size());
        }
        return all;
    }

   private:
    struct alignas(16) Word {
        std::byte bytes[16];
    };
    std::vector<std::vector<Word>> words_;
};

// The tokens in a window.
std::int64_t visible_tokens(KernelCase const& made) {
    std::int64_t count = 1;
    for (auto const& axis : made.steps.front().neighborhood().axes) count *= axis.kernel;
    return count;
}

Memory run_case(KernelCase const& made, NeighborhoodForm form) {
    AlignedMemory memory(made);
    for (KernelStep const& step : made.steps) {
        kernels::NeighborhoodLaunch launch = kernels::neighborhood_launch(step.neighborhood(), form);
        std::vector<void*> pointers;
        for (std::size_t const data : step.tensors) pointers.push_back(memory.start(made, data));
        kernels::bind(step.neighborhood(), launch.arguments, pointers);
        run_on_host(step.neighborhood(), form, launch);
    }
    return memory.bytes(made);
}

void check_case(KernelCase const& made, NeighborhoodForm form) {
    std::string const fault = fault_of_neighborhood(made, run_case(made, form));
    INFO(kernels::to_string(form) << ": " << fault);
    CHECK(fault.empty());
}

void check_cases(NeighborhoodForm form, std::uint64_t count, NeighborhoodLimits const& sizes) {
    std::uint64_t checked = 0;
    for (std::uint64_t seed = 0; checked < count; ++seed) {
        KernelCase const made = random_neighborhood_kernel_case(seed, sizes, form);
        if (!allows(made, form, kH200)) continue;
        INFO("case " << seed << ": " << made.text());
        check_case(made, form);
        ++checked;
    }
}

// The first one whose windows may be made smaller without a change of the bias.
KernelCase case_of_large_windows(NeighborhoodForm form) {
    for (std::uint64_t seed = 0;; ++seed) {
        KernelCase made = random_neighborhood_kernel_case(seed, kSmall, form);
        kernels::NeighborhoodKernelProblem const& problem = made.steps.front().neighborhood();
        bool const is_large = problem.axes.back().kernel >= 3 && !problem.operands[kernels::Bias];
        if (is_large && allows(made, form, kH200)) return made;
    }
}

// --- Waits that are left out

// The fault in the case's results, or of its run, without a wait or fence; empty where nothing is wrong.
std::string fault_without(std::string const& wait, KernelCase const& made, NeighborhoodForm form) {
    leave_out_wait(wait);
    std::string fault;
    try {
        fault = fault_of_neighborhood(made, run_case(made, form));
    } catch (std::logic_error const& error) {
        fault = error.what();
    }
    leave_out_wait("");
    return fault;
}

// A case, and the waits and fences that it reaches.
struct ReachedWaits {
    NeighborhoodForm form;
    KernelCase made;
    std::vector<std::string> waits;
};

// Adds cases whose windows have at least that many tokens.
void add_wait_cases(std::vector<ReachedWaits>& cases, NeighborhoodForm form, NeighborhoodLimits const& sizes,
                    std::int64_t visible, std::uint64_t count) {
    for (std::uint64_t seed = 0; count > 0; ++seed) {
        auto const function = static_cast<NeighborhoodFunction>(seed % kNeighborhoodFunctions);
        if (function > NeighborhoodFunction::Backward) continue;  // which these forms do not compute
        KernelCase made = random_neighborhood_kernel_case(seed, sizes, form);
        if (!allows(made, form, kH200) || visible_tokens(made) < visible) continue;
        // Without a wait a kernel could read a bias outside its memory.
        if (made.steps.front().neighborhood().operands[kernels::Bias]) continue;
        forget_waits();
        std::string const fault = fault_of_neighborhood(made, run_case(made, form));
        INFO(made.text() << ": " << fault);
        REQUIRE(fault.empty());
        cases.push_back({form, std::move(made), waits_reached()});
        --count;
    }
}

// The tiles of the last ones go through so many stages that all buffers are used again.
std::vector<ReachedWaits> wait_cases() {
    std::vector<ReachedWaits> cases;
    add_wait_cases(cases, NeighborhoodForm::Tiles, kTwoStages, 100, 3);
    add_wait_cases(cases, NeighborhoodForm::Warpgroups, kTwoStages, 100, 8);
    add_wait_cases(cases, NeighborhoodForm::Warpgroups, kFewStages, 200, 2);
    return cases;
}

}  // namespace

TEST_CASE("neighborhood attention by tokens computes what the formula says") {
    for (std::uint64_t seed = 0; seed < kTokenCases; ++seed) {
        KernelCase const made = random_neighborhood_kernel_case(seed, kSmall, NeighborhoodForm::Tokens);
        INFO("case " << seed << ": " << made.text());
        for (KernelStep const& step : made.steps) REQUIRE(kernels::check(step.neighborhood()).err_msg == "");
        check_case(made, NeighborhoodForm::Tokens);
    }
}

TEST_CASE("neighborhood attention by tiles computes what the formula says") {
    check_cases(NeighborhoodForm::Tiles, kTileCases, kSmall);
}

TEST_CASE("neighborhood attention by warpgroups computes what the formula says") {
    check_cases(NeighborhoodForm::Warpgroups, kWarpgroupCases, kSmall);
}

// Their tokens are several tiles of 128, and their tiles need several stages.
TEST_CASE("neighborhood attention by warpgroups computes what the formula says of more tokens") {
    check_cases(NeighborhoodForm::Warpgroups, kLargeCases, kLarge);
}

// There are so many stages that shared memory is used again and again, while some warps fall behind others.
TEST_CASE("gradients by warpgroups are what the formula says where tiles have many stages") {
    constexpr auto kForm = NeighborhoodForm::Warpgroups;
    std::array<int, 2> wanted{2, 1};  // of up to 64 columns, and of more
    for (std::uint64_t seed = 0; wanted != std::array{0, 0}; ++seed) {
        KernelCase const made = random_neighborhood_kernel_case(seed, kManyStages, kForm);
        kernels::NeighborhoodKernelProblem const& problem = made.steps.front().neighborhood();
        int& count = wanted[problem.columns() > 64 ? 1 : 0];
        bool const is_wanted = count > 0 && is_fused_backward(made) && visible_tokens(made) >= 300;
        if (!is_wanted || !allows(made, kForm, kH200)) continue;
        --count;
        INFO("case " << seed << ": " << made.text());
        check_case(made, kForm);
    }
}

TEST_CASE("a window that is too small, a stray write and a changed input are found") {
    for (NeighborhoodForm const form :
         {NeighborhoodForm::Tokens, NeighborhoodForm::Tiles, NeighborhoodForm::Warpgroups}) {
        KernelCase const made = case_of_large_windows(form);
        INFO(kernels::to_string(form) << ": " << made.text());
        KernelCase smaller = made;
        for (KernelStep& step : smaller.steps)
            std::get<kernels::NeighborhoodKernelProblem>(step.problem).axes.back().kernel -= 1;
        CHECK(fault_of_neighborhood(made, run_case(smaller, form)).find("] is ") != std::string::npos);
        Memory after = run_case(made, form);
        REQUIRE(fault_of_neighborhood(made, after).empty());
        std::size_t written = 0;
        while (made.tensors[written].expected.empty()) ++written;
        after[written].front() ^= std::byte{1};
        CHECK(fault_of_neighborhood(made, after) ==
              made.tensors[written].name + ": bytes changed outside the elements");
        after[0].front() ^= std::byte{1};
        CHECK(fault_of_neighborhood(made, after) == made.tensors[0].name + " changed, which is not written");
    }
}

TEST_CASE("results are wrong if any wait or fence of the kernels is left out") {
    std::vector<ReachedWaits> const cases = wait_cases();
    std::set<std::string> waits;
    for (ReachedWaits const& made : cases) waits.insert(made.waits.begin(), made.waits.end());
    // All in the sources, so that a new one needs a case that reaches it. The only exception is the barrier of an empty
    // tile, whose threads end behind it: on a GPU a barrier does not wait for threads that have ended.
    CHECK(waits.size() == 31);
    for (std::string const& wait : waits) {
        bool const is_needed = std::ranges::any_of(cases, [&](ReachedWaits const& made) {
            bool const is_reached = std::ranges::find(made.waits, wait) != made.waits.end();
            return is_reached && !fault_without(wait, made.made, made.form).empty();
        });
        INFO("without " << wait << " all results are right");
        CHECK(is_needed);
    }
}
