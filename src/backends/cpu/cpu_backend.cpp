#include "cpu/cpu_backend.h"

#include "core/findings.h"
#include "core/immortal.h"
#include "core/text.h"
#include "core/threads.h"
#include "cpu/attention/kernels/attention_kernels.h"
#include "cpu/cpu_program.h"
#include "expand/expand.h"
#include "plan/storage/store_entry.h"

#include <algorithm>
#include <fstream>
#include <thread>

namespace cudnn_frontend::cpu {
namespace {

class HostExecutable final : public plan::Executable {
   public:
    HostExecutable(std::shared_ptr<CpuProgram const> program, std::shared_ptr<plan::PackLayout const> layout)
        : program_(std::move(program)),
          layout_(std::move(layout)),
          has_ragged_(std::ranges::any_of(layout_->slots, &plan::Slot::is_ragged)) {}

    std::int64_t workspace_size() const override { return program_->workspace_size(); }
    std::size_t bytes() const { return sizeof *this + program_->bytes(); }

    error_t launch(plan::Launch const& launch) const override {
        if (!has_ragged_) return program_->run(launch.pointers, launch.workspace);
        return program_->run(launch.pointers, launch.workspace, [&](std::vector<PackedSequences> const& sequences) {
            return plan::check_ragged_overlap(layout_->slots, launch.pointers, sequences);
        });
    }

    // A plan for the CPU consists of nothing but the graph.
    Result<std::string> serialize() const override { return std::string(); }

   private:
    std::shared_ptr<CpuProgram const> program_;
    std::shared_ptr<plan::PackLayout const> layout_;
    bool has_ragged_;
};

// The only engine of a graph; its executable exists from the start.
class HostEngine final : public plan::Engine {
   public:
    HostEngine(char const* name, std::shared_ptr<HostExecutable const> executable)
        : info_{.name = name, .workspace_bytes = executable->workspace_size()}, executable_(std::move(executable)) {}

    plan::EngineInfo const& info() const override { return info_; }
    Result<std::shared_ptr<plan::Executable const>> build() override {
        return std::shared_ptr<plan::Executable const>(executable_);
    }
    std::size_t bytes() const override { return sizeof *this + executable_->bytes(); }

   private:
    plan::EngineInfo info_;
    std::shared_ptr<HostExecutable const> executable_;
};

// Settings that choose a GPU, or a part of one, are errors on a CPU target. Dynamic shapes and a kernel cache are not:
// they save compilations, of which there are none here.
error_t check_settings(plan::Settings const& settings, Target const& target) {
    char const* const setter = settings.device       ? "set_device_properties()"
                               : settings.sm_version ? "set_sm_version()"
                               : settings.sm_count   ? "set_sm_count()"
                                                     : nullptr;
    if (setter == nullptr) return {};
    return {error_code_t::INVALID_VALUE, std::string(setter) +
                                             " is about a GPU, and Target::" + to_string(target.kind()) +
                                             "() has none; leave it out, or build for Target::cuda() or offline()"};
}

error_t check_threads(Target const& target) {
    if (target.threads() >= 0) return {};
    return core::error_at("Target::cpu()", error_code_t::INVALID_VALUE, std::to_string(target.threads()) + " threads",
                          "at least 1, or 0 for one on each CPU");
}

int threads_of(Target const& target) { return core::threads_or_all(target.threads()); }

// The model of the CPU; empty where the system does not say it.
std::string read_processor() {
    constexpr std::string_view kName = "model name";
    std::ifstream facts("/proc/cpuinfo");
    for (std::string line; std::getline(facts, line);) {
        if (line.starts_with(kName)) return line.substr(std::min(line.find(": ") + 2, line.size()));
    }
    return {};
}

class HostBackend final : public plan::Backend {
   public:
    char const* name() const override { return "CPU"; }

    bool serves(Target const& target) const override { return runs_on_host(target.kind()); }

    Result<std::shared_ptr<plan::Proposal const>> propose(plan::PlanningInput const& input) const override {
        SDPA_GRAPH_TRY(check_settings(input.settings, input.target));
        SDPA_GRAPH_TRY(check_threads(input.target));
        expand::TargetAbilities capabilities;
        bool const is_fused = input.target.kind() == Target::Kind::CPU;
        if (is_fused) capabilities.fused_attention = expand::TargetAbilities::Fused::Preferred;
        capabilities.fused_modifiers = is_fused;
        capabilities.fused_neighborhoods = is_fused;
        auto op_graph = expand::expand(input.graph, capabilities);
        if (op_graph.is_bad()) return op_graph.error();
        auto const layout =
            std::make_shared<plan::PackLayout const>(plan::make_pack_layout(input.graph.spec(), op_graph.value()));
        auto program = CpuProgram::plan(std::move(op_graph).value(), threads_of(input.target));
        if (program.is_bad()) return program.error();
        auto executable = std::make_shared<HostExecutable>(std::move(program).value(), layout);
        auto engine = std::make_shared<HostEngine>(to_string(input.target.kind()), std::move(executable));
        return std::make_shared<plan::Proposal const>(layout, plan::Engines{std::move(engine)});
    }

    bool joins(Target const& target) const override { return serves(target); }
    Result<std::shared_ptr<plan::Executable const>> join(rewrite::Joint const& joint, Target const&,
                                                         plan::Settings const&,
                                                         std::optional<std::string_view>) const override {
        return cpu::join(joint);
    }

    // A graph with settings or threads that are refused is proposed anew each time.
    std::optional<std::string> circumstances(Target const& target, plan::Settings const& settings) const override {
        if (check_settings(settings, target).is_bad() || check_threads(target).is_bad()) return std::nullopt;
        return to_string(target.kind()) + (' ' + std::to_string(threads_of(target)));
    }

    std::optional<std::string> environment(Target const& target, plan::Settings const&) const override {
        static auto const& model = *new std::string(read_processor());  // never destroyed: programs may still plan
        if (model.empty()) return std::nullopt;
        return core::text(plan::versioned_library(), ", ", to_string(target.kind()), ", ", model, ", ", kernels().name,
                          ", ", std::thread::hardware_concurrency(), " cores, ", threads_of(target), " threads");
    }
};

}  // namespace

plan::Backend const& backend() {
    static core::Immortal<HostBackend> const backend;
    return *backend;
}

}  // namespace cudnn_frontend::cpu
