// The CPU time that a program adds to that of its steps, measured with steps that do nothing.
#include "api/graph/pack_source.h"
#include "plan/plan.h"
#include "plan/programs/program_executable.h"
#include "support/catch.h"

#include <algorithm>
#include <chrono>
#include <map>

using namespace cudnn_frontend;
using namespace cudnn_frontend::plan;

namespace {

class Nothing final : public Executable {
   public:
    std::int64_t workspace_size() const override { return 16; }
    cudnn_frontend::error_t launch(Launch const&) const override { return {}; }
    Result<std::string> serialize() const override { return std::string(); }
};

constexpr std::size_t kTensors = 4, kSteps = 32;

// Tensors 0 to 3, of which the last is written.
std::shared_ptr<PackLayout const> make_layout() {
    PackLayout layout;
    for (std::size_t i = 0; i < kTensors; ++i) {
        layout.slots.push_back({.uid = static_cast<std::int64_t>(i),
                                .name = "tensor",
                                .is_written = i + 1 == kTensors,
                                .is_on_host = false,
                                .element_size = 4,
                                .alignment = 16,
                                .span = 256,
                                .dim = {1, 1, 8, 8},
                                .stride = {64, 64, 8, 1}});
    }
    return std::make_shared<PackLayout const>(std::move(layout));
}

Plan plan_of(std::shared_ptr<Executable const> executable) {
    return {std::make_shared<Proposal const>(make_layout(), Engines{}),
            std::make_shared<EngineInfo const>(EngineInfo{.name = "nothing"}), std::move(executable)};
}

std::shared_ptr<Executable const> make_program() {
    auto const nothing = std::make_shared<Nothing>();
    std::vector<PointerSource> sources(kTensors);
    for (std::size_t i = 0; i < kTensors; ++i) sources[i] = {i == 0, i, 16};
    std::vector<ProgramStep> const steps(kSteps, {"attention", nothing, sources, 0, false});
    return std::make_shared<ProgramExecutable>("nothings(32)", std::vector<PlannedAttend>{{{}, nothing}}, steps, 32);
}

// Seconds of one run, in the fastest of many rounds.
double time_of(Plan const& plan) {
    alignas(16) static std::byte memory[kTensors][256];
    alignas(16) static std::byte workspace[64];
    std::map<std::int64_t, void*> pack;
    for (std::size_t i = 0; i < kTensors; ++i) pack[static_cast<std::int64_t>(i)] = memory[i];
    double least = 1e9;
    for (int round = 0; round < 50; ++round) {
        auto const start = std::chrono::steady_clock::now();
        bool is_good = true;
        for (int i = 0; i < 20; ++i) {
            api::UserPack const source(Variant_pack::of(pack), 0);
            is_good = is_good && plan.execute({nullptr, source, workspace}).is_good();
        }
        REQUIRE(is_good);
        least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 20);
    }
    return least;
}

}  // namespace

TEST_CASE("a run of a program of 32 steps takes at most 32 times the CPU time of a plan of one") {
    double const plain = time_of(plan_of(std::make_shared<Nothing>()));
    double const program = time_of(plan_of(make_program()));
    CAPTURE(plain, program);
    CHECK(program <= kSteps * plain);
}
