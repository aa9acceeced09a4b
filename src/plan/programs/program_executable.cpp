#include "plan/programs/program_executable.h"

#include "core/guard.h"
#include "core/text.h"
#include "group/group_rules.h"
#include "plan/storage/blob.h"

#include <algorithm>

namespace cudnn_frontend::plan {

std::string step_text(std::string const& program, std::size_t index, std::size_t count, std::string const& step) {
    return "step " + std::to_string(index + 1) + " of " + std::to_string(count) + " of " + program + ", " + step;
}

// Ranks exchange data in step, which a replay would not.
std::unique_ptr<Replays> ProgramExecutable::make_replays() const {
    if (group_.transport != nullptr) return nullptr;
    auto const can_replay = [](PlannedAttend const& attend) { return attend.executable->replays() != nullptr; };
    return std::ranges::all_of(attends_, can_replay) ? leader().replays() : nullptr;
}

template <class Run>
error_t ProgramExecutable::run_step(ProgramStep const& step, Launch const& launch, Run const& run) const {
    auto* const workspace = static_cast<std::byte*>(launch.workspace);
    PointerList pointers(step.sources.size());
    for (std::size_t i = 0; i < step.sources.size(); ++i) {
        PointerSource const& source = step.sources[i];
        auto* const base = source.is_in_workspace ? workspace : static_cast<std::byte*>(launch.pointers[source.slot]);
        pointers.all()[i] = base + source.offset;
    }
    return run(step,
               Launch{launch.queue, pointers.all(), workspace + step.workspace_at, launch.stream, launch.may_replay});
}

template <class Run>
error_t ProgramExecutable::for_each_step(Launch const& launch, char const* what, Run const& run) const {
    Launch with_stream = launch;
    if (has_own_work_) SDPA_GRAPH_TRY(leader().stream(launch.queue).move_to(with_stream.stream));
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        error_t failure = run_step(steps_[i], with_stream, run);
        if (failure.is_good()) continue;
        failure.err_msg = step_text(program_, i, steps_.size(), steps_[i].name) + ", failed, so that " + what +
                          " incomplete: " + failure.err_msg;
        return failure;
    }
    return {};
}

// Others learn of a step that fails.
error_t ProgramExecutable::launch_in_group(Launch const& launch) const {
    group::Transport& transport = *group_.transport;
    Stream stream = launch.stream;
    SDPA_GRAPH_TRY(leader().stream(launch.queue).move_to(stream));
    SDPA_GRAPH_TRY(transport.begin(group_.agreement, stream));
    error_t outcome = core::guarded([&] {
        return for_each_step(launch, "the results are",
                             [](ProgramStep const& step, Launch const& own) { return step.executable->launch(own); });
    });
    transport.end(outcome);
    return outcome;
}

// Exchanges are calls with streams, so that a whole run is recorded. The ranks agree before, since they cannot on a
// stream that is captured.
error_t ProgramExecutable::record_in_group(Launch const& launch, Recording recording) const {
    Stream stream = launch.stream;
    SDPA_GRAPH_TRY(leader().stream(launch.queue).move_to(stream));
    SDPA_GRAPH_TRY(group_.transport->begin(group_.agreement, stream));
    group_.transport->end({});
    return leader().record_run(launch.queue, recording, [&] { return launch_in_group(launch); });
}

error_t ProgramExecutable::launch(Launch const& launch) const {
    if (group_.transport != nullptr) return launch_in_group(launch);
    auto const record = [this](Launch const& own, Recording recording) { return capture(own, recording); };
    if (replays_ != nullptr && launch.may_replay && replays_->launch(launch, record)) return {};
    return for_each_step(launch, "the results are",
                         [](ProgramStep const& step, Launch const& own) { return step.executable->launch(own); });
}

error_t ProgramExecutable::capture(Launch const& launch, Recording recording) const {
    if (group_.transport != nullptr) return record_in_group(launch, recording);
    auto const steps = leader().steps_of(recording);
    if (steps.is_bad()) return steps.error();
    return for_each_step(launch, "the CUDA graph is", [&](ProgramStep const& step, Launch const& own) {
        return steps.value()->add([&](Recording of_step) { return step.executable->capture(own, of_step); }, step.lane);
    });
}

error_t ProgramExecutable::update(Launch const& launch, Recording recording) const {
    if (group_.transport != nullptr) {
        return group::rules::violation(group::rules::kWhole, "update_cuda_graph() of " + program_,
                                       "a CUDA graph whose exchanges have the addresses of its recording",
                                       "record the run into an empty graph by populate_cuda_graph() on all ranks");
    }
    auto const steps = leader().steps_of(recording);
    if (steps.is_bad()) return steps.error();
    return for_each_step(launch, "the CUDA graph is", [&](ProgramStep const& step, Launch const& own) {
        return steps.value()->update([&](Recording of_step) { return step.executable->update(own, of_step); },
                                     step.lane);
    });
}

error_t ProgramExecutable::warm_up(Queue queue) const {
    for (PlannedAttend const& attend : attends_) SDPA_GRAPH_TRY(attend.executable->warm_up(queue));
    for (ProgramStep const& step : steps_) {
        if (step.is_joint) SDPA_GRAPH_TRY(step.executable->warm_up(queue));
    }
    return {};
}

static void write(StoredProgram const& stored, BlobWriter& all) {
    all.text(stored.program);
    all.number(static_cast<std::int64_t>(stored.attends.size()));
    for (Stored const& attend : stored.attends) {
        all.text(attend.engine);
        all.text(attend.bytes);
    }
    all.number(static_cast<std::int64_t>(stored.codes.size()));
    for (std::string const& code : stored.codes) all.text(code);
    all.number(static_cast<std::int64_t>(stored.joints.size()));
    for (std::size_t const code : stored.joints) all.number(static_cast<std::int64_t>(code));
}

std::string GroupRun::stored_name() const {
    return core::text(kStoredPrefix, transport->rank(), " of ", transport->size(), ": ", agreement);
}

Result<std::string> ProgramExecutable::serialize() const {
    StoredProgram stored{group_.transport == nullptr ? program_ : group_.stored_name(), {}, {}, {}};
    for (PlannedAttend const& attend : attends_) {
        auto bytes = attend.executable->serialize();
        if (bytes.is_bad()) return bytes.error();
        stored.attends.push_back({attend.engine.name, std::move(bytes).value()});
    }
    for (ProgramStep const& step : steps_) {
        if (!step.is_joint) continue;
        auto code = step.executable->serialize();
        if (code.is_bad()) return code.error();
        auto const known = std::ranges::find(stored.codes, code.value());
        stored.joints.push_back(static_cast<std::size_t>(known - stored.codes.begin()));
        if (known == stored.codes.end()) stored.codes.push_back(std::move(code).value());
    }
    BlobWriter all;
    write(stored, all);
    return all.take();
}

Result<ExecutableFacts> ProgramExecutable::facts() const {
    ExecutableFacts whole;
    for (ProgramStep const& step : steps_) {
        auto const read = step.executable->facts();
        if (read.is_bad()) return read.error();
        ExecutableFacts const& of_step = read.value();
        if (whole.device.empty()) whole.device = of_step.device;
        whole.library_version = std::max(whole.library_version, of_step.library_version);
        for (std::string const& kernel : of_step.kernels) {
            if (std::ranges::find(whole.kernels, kernel) == whole.kernels.end()) whole.kernels.push_back(kernel);
        }
    }
    return whole;
}

Result<StoredProgram> read_stored_program(std::string_view bytes) {
    constexpr std::size_t kNumber = 8;  // bytes; a text has one before it
    BlobReader reader(bytes);
    StoredProgram stored{std::string(reader.text()), {}, {}, {}};
    for (std::size_t left = reader.count(2 * kNumber); left > 0; --left) {
        std::string engine(reader.text());
        stored.attends.push_back({std::move(engine), std::string(reader.text())});
    }
    for (std::size_t left = reader.count(kNumber); left > 0; --left) stored.codes.emplace_back(reader.text());
    for (std::size_t left = reader.count(kNumber); left > 0; --left) {
        stored.joints.push_back(static_cast<std::size_t>(reader.number()));
    }
    bool const are_known = std::ranges::all_of(stored.joints, [&](std::size_t i) { return i < stored.codes.size(); });
    if (reader.is_done() && are_known) return stored;
    return error_t(error_code_t::UNSUPPORTED_GRAPH_FORMAT,
                   "the stored program is cut short or damaged; build it again");
}

}  // namespace cudnn_frontend::plan
