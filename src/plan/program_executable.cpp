#include "plan/program_executable.h"

#include "plan/blob.h"

namespace cudnn_frontend::plan {

error_t ProgramExecutable::launch(Launch const& launch) const {
    auto const stream = leader().stream(launch.queue);
    if (stream.is_bad()) return stream.error();
    Launch with_stream = launch;
    with_stream.stream = stream.value();
    for (std::size_t i = 0; i < steps_.size(); ++i) SDPA_GRAPH_TRY(launch_step(i, with_stream));
    return {};
}

error_t ProgramExecutable::launch_step(std::size_t index, Launch const& launch) const {
    ProgramStep const& step = steps_[index];
    auto* const workspace = static_cast<std::byte*>(launch.workspace);
    PointerList pointers(step.sources.size());
    for (std::size_t i = 0; i < step.sources.size(); ++i) {
        PointerSource const& source = step.sources[i];
        auto* const base = source.is_in_workspace ? workspace : static_cast<std::byte*>(launch.pointers[source.slot]);
        pointers.all()[i] = base + source.offset;
    }
    error_t failure =
        step.executable->launch({launch.queue, pointers.all(), workspace + step.workspace_at, launch.stream});
    if (failure.is_good()) return {};
    failure.err_msg = "step " + std::to_string(index + 1) + " of " + std::to_string(steps_.size()) + " of " + program_ +
                      ", " + step.name + ", failed, so that the results are incomplete: " + failure.err_msg;
    return failure;
}

error_t ProgramExecutable::warm_up(Queue queue) const {
    for (PlannedAttend const& attend : attends_) SDPA_GRAPH_TRY(attend.executable->warm_up(queue));
    for (ProgramStep const& step : steps_) {
        bool const is_joint = step.name == "merge" || step.name == "sum";
        if (is_joint) SDPA_GRAPH_TRY(step.executable->warm_up(queue));
    }
    return {};
}

Result<std::string> ProgramExecutable::serialize() const {
    BlobWriter all;
    all.text(program_);
    all.number(static_cast<std::int64_t>(attends_.size()));
    for (PlannedAttend const& attend : attends_) {
        auto const bytes = attend.executable->serialize();
        if (bytes.is_bad()) return bytes.error();
        all.text(attend.engine);
        all.text(bytes.value());
    }
    return all.take();
}

Result<StoredProgram> read_stored_program(std::string_view bytes) {
    constexpr std::size_t kSmallest = 16;  // two lengths
    BlobReader reader(bytes);
    StoredProgram stored{std::string(reader.text()), {}};
    std::size_t const count = reader.count(kSmallest);
    for (std::size_t i = 0; i < count; ++i) {
        std::string engine(reader.text());
        stored.attends.push_back({std::move(engine), std::string(reader.text())});
    }
    if (reader.is_done()) return stored;
    return error_t(error_code_t::UNSUPPORTED_GRAPH_FORMAT,
                   "the stored program is cut short or damaged; build it again");
}

}  // namespace cudnn_frontend::plan
