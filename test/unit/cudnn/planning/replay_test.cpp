// Replays of launches, on a driver that keeps CUDA graphs and runs them on the host.
#include "cuda/replay.h"

#include "../fakes/fake_kernel.h"
#include "core/process/process_settings.h"
#include "cuda/cuda_graph.h"
#include "cuda/driver_table.h"
#include "gpu/allocation_count.h"
#include "support/catch.h"

#include <dlfcn.h>

#include <array>
#include <bit>
#include <numeric>

using namespace cudnn_frontend;
using Error = cudnn_frontend::error_t;

namespace {

// The address of the numbers twice, in a struct as tensor maps have it; a count; where their sum goes.
struct Numbers {
    std::int64_t count;
    std::int64_t const* first;
};

int launches = 0;

void add_up(void** arguments) {
    auto const& numbers = *static_cast<Numbers const*>(arguments[0]);
    std::int64_t const start = **static_cast<std::int64_t* const*>(arguments[1]);
    **static_cast<std::int64_t* const*>(arguments[2]) =
        std::accumulate(numbers.first, numbers.first + numbers.count, start);
    ++launches;
}

constexpr std::size_t kSizes[] = {sizeof(Numbers), sizeof(void*), sizeof(void*)};
constexpr FakeKernel kAddUp{kSizes, 3, add_up};

// The effect of the pointers on a recording, besides the addresses.
enum class Fault { None, TracksAlignment, Scales, Subtracts, TakesAnotherKernel, MovesInWorkspace, Fails };

// A launch: clears a number of the workspace, then adds the numbers at pointer 0 to it, into pointer 1.
struct Sum {
    static constexpr std::int64_t kCount = 4;
    Fault fault = Fault::None;
    mutable int recordings = 0;

    Error operator()(cuda::LaunchMemory const& memory, CUgraph graph) const {
        ++recordings;
        if (fault == Fault::Fails) return {error_code_t::CUDNN_BACKEND_API_FAILED, "there is no recording"};
        auto* start = static_cast<std::int64_t*>(memory.workspace) + 2;
        if (fault == Fault::MovesInWorkspace) start += recordings % 2;
        auto const clearing = cuda::add_clearing(graph, {}, std::as_writable_bytes(std::span(start, 1)));
        if (clearing.is_bad()) return clearing.error();
        Numbers numbers{kCount, static_cast<std::int64_t const*>(memory.pointers[0])};
        auto const address = reinterpret_cast<std::uintptr_t>(numbers.first);
        if (fault == Fault::TracksAlignment) numbers.count = static_cast<std::int64_t>(address % 64 / 16);
        if (fault == Fault::Scales) numbers.count = static_cast<std::int64_t>(address >> 30);
        if (fault == Fault::Subtracts) {
            numbers.count = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(memory.pointers[1]) - address);
        }
        void* result = memory.pointers[1];
        void* arguments[] = {&numbers, &start, &result};
        CUDA_KERNEL_NODE_PARAMS kernel{};
        kernel.kern = reinterpret_cast<CUkernel>(const_cast<FakeKernel*>(&kAddUp));
        kernel.gridDimX = fault == Fault::TakesAnotherKernel ? static_cast<unsigned>(recordings) : 1;
        kernel.kernelParams = arguments;
        CUgraphNode node = nullptr;
        return cuda::ask("adding", [&](cuda::Driver const& driver) {
            return driver.add_kernel_node(&node, graph, &clearing.value(), 1, &kernel);
        });
    }
};

struct alignas(256) Workspace {
    std::array<std::int64_t, 32> numbers;
};

struct Memory {
    alignas(16) std::array<std::int64_t, Sum::kCount + 2> numbers{};
    alignas(16) std::array<std::int64_t, 2> result{};
    void* pointers[2] = {numbers.data(), result.data()};

    explicit Memory(std::int64_t first) { std::iota(numbers.begin(), numbers.end(), first); }
    std::int64_t sum() const {
        return std::accumulate(numbers.begin(), numbers.begin() + Sum::kCount, std::int64_t{0});
    }
    cuda::LaunchMemory in(Workspace& workspace) { return {pointers, &workspace}; }
};

// The driver of graphs is what the process opens.
void open_driver() {
    static void* const driver = dlopen(SDPA_TEST_DRIVER_OF_GRAPHS, RTLD_NOW | RTLD_GLOBAL);
    REQUIRE(driver != nullptr);
}

}  // namespace

TEST_CASE("a replay computes on the memory of each launch") {
    open_driver();
    Sum const sum;
    auto const record = [&](cuda::LaunchMemory const& memory, CUgraph graph) { return sum(memory, graph); };
    Memory one(1), two(100);
    std::array<Workspace, 5> workspaces{};
    auto const replay = cuda::Replay::make(one.in(workspaces[0]), record);
    REQUIRE(replay.error().err_msg == "");
    CHECK(sum.recordings == 4);
    auto const run = [&](Memory& memory, Workspace& workspace) {
        workspace.numbers.fill(77);
        memory.result[0] = 0;
        auto const has_run = replay.value()->launch(memory.in(workspace), nullptr, record);
        return has_run.is_good() && has_run.value() && memory.result[0] == memory.sum();
    };
    CHECK(run(one, workspaces[0]));
    CHECK(run(two, workspaces[0]));
    CHECK(run(one, workspaces[0]));
    CHECK(sum.recordings == 4);
    for (Workspace& workspace : workspaces) CHECK(run(two, workspace));
    CHECK(run(one, workspaces[2]));
    CHECK(sum.recordings == 6);  // the addresses in a second and a third workspace are compared with a recording
}

TEST_CASE("replays allocate nothing on the host") {
    open_driver();
    Sum const sum;
    cuda::RecordLaunch const record = [&](cuda::LaunchMemory const& memory, CUgraph graph) {
        return sum(memory, graph);
    };
    Memory one(1), two(2);
    Workspace workspace{};
    core::process::replay_after.set(0);
    cuda::KeptReplay kept;
    core::process::replay_after.reset();
    REQUIRE(kept.launch(one.in(workspace), nullptr, record));
    long const before = sdpa_test::allocations();
    bool const have_run =
        kept.launch(one.in(workspace), nullptr, record) && kept.launch(two.in(workspace), nullptr, record);
    CHECK(sdpa_test::allocations() == before);
    CHECK(have_run);
}

TEST_CASE("a replay leaves memory that is aligned in another way to the launch itself") {
    open_driver();
    Sum const sum;
    auto const record = [&](cuda::LaunchMemory const& memory, CUgraph graph) { return sum(memory, graph); };
    Memory one(1);
    std::array<Workspace, 2> workspaces{};
    auto const replay = cuda::Replay::make(one.in(workspaces[0]), record);
    REQUIRE(replay.is_good());
    one.pointers[0] = &one.numbers[1];
    CHECK_FALSE(replay.value()->launch(one.in(workspaces[0]), nullptr, record).value());
    one.pointers[0] = one.numbers.data();
    CHECK_FALSE(replay.value()->launch({one.pointers, &workspaces[1].numbers[2]}, nullptr, record).value());
    CHECK(replay.value()->launch(one.in(workspaces[0]), nullptr, record).value());
    CHECK(one.result[0] == one.sum());
}

TEST_CASE("recorded work that depends on its pointers in another way is not replayed") {
    open_driver();
    for (Fault const fault :
         {Fault::TracksAlignment, Fault::Scales, Fault::Subtracts, Fault::TakesAnotherKernel, Fault::Fails}) {
        Sum const sum{fault};
        auto const record = [&](cuda::LaunchMemory const& memory, CUgraph graph) { return sum(memory, graph); };
        Memory one(1);
        Workspace workspace{};
        CAPTURE(static_cast<int>(fault));
        CHECK(cuda::Replay::make(one.in(workspace), record).is_bad());
    }
}

TEST_CASE("a kept replay starts after some launches, gives up where it cannot, and stays on its stream") {
    open_driver();
    auto const make = [](std::int64_t after) {
        core::process::replay_after.set(after);
        auto kept = std::make_unique<cuda::KeptReplay>();
        core::process::replay_after.reset();
        return kept;
    };
    Memory one(1);
    Workspace workspace{};
    auto const runs = [&](cuda::KeptReplay& kept, Sum const& sum, std::string const& streams) {
        std::string ran;
        for (char const stream : streams) {
            auto const record = [&](cuda::LaunchMemory const& memory, CUgraph graph) { return sum(memory, graph); };
            auto* const on = reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(stream));
            ran += kept.launch(one.in(workspace), on, record) ? 'r' : '-';
        }
        return ran;
    };
    CHECK(runs(*make(0), Sum(), "aaa") == "rrr");
    CHECK(runs(*make(2), Sum(), "aaaa") == "--rr");
    CHECK(runs(*make(-1), Sum(), "aaaa") == "----");
    std::string const others(16, 'b');
    CHECK(runs(*make(2), Sum(), "aaaaba" + others + "bba") == "--rr-r" + std::string(16, '-') + "rr-");
    Sum const failing{Fault::Fails}, other{Fault::MovesInWorkspace};
    CHECK(runs(*make(1), failing, "aaaaaaaaaa") == "----------");
    CHECK(failing.recordings == 3);  // the failure might have passed
    CHECK(runs(*make(0), other, "aa") == "--");
}
