// A program whose steps are built: it runs them one after the other.
#pragma once

#include "plan/backend.h"

namespace cudnn_frontend::plan {

// Where a step's pointer comes from.
struct PointerSource {
    bool is_in_workspace = false;
    std::size_t slot = 0;     // of the pack, where it is not in the workspace
    std::int64_t offset = 0;  // bytes
};

struct ProgramStep {
    std::string name;  // in messages
    std::shared_ptr<Executable const> executable;
    std::vector<PointerSource> sources;  // of each of its pointers
    std::int64_t workspace_at = 0;       // where its own workspace starts in the program's
};

// An attention of the program: several steps may run it.
struct PlannedAttend {
    std::string engine;
    std::shared_ptr<Executable const> executable;
};

class ProgramExecutable final : public Executable {
   public:
    // There is at least one attend, which decides on queues and streams.
    ProgramExecutable(std::string program, std::vector<PlannedAttend> attends, std::vector<ProgramStep> steps,
                      std::int64_t workspace_size)
        : program_(std::move(program)),
          attends_(std::move(attends)),
          steps_(std::move(steps)),
          workspace_size_(workspace_size) {}

    std::int64_t workspace_size() const override { return workspace_size_; }
    error_t check_queue(Queue queue) const override { return leader().check_queue(queue); }
    Result<Stream> stream(Queue queue) const override { return leader().stream(queue); }
    error_t launch(Launch const& launch) const override;
    error_t warm_up(Queue queue) const override;
    Result<std::unique_ptr<Stopwatch>> stopwatch(Queue queue) const override { return leader().stopwatch(queue); }
    Result<std::string> serialize() const override;

   private:
    Executable const& leader() const { return *attends_.front().executable; }
    error_t launch_step(std::size_t index, Launch const& launch) const;

    std::string program_;
    std::vector<PlannedAttend> attends_;
    std::vector<ProgramStep> steps_;
    std::int64_t workspace_size_;
};

// What serialize() wrote.
struct StoredProgram {
    std::string program;
    std::vector<Stored> attends;
};
Result<StoredProgram> read_stored_program(std::string_view bytes);

}  // namespace cudnn_frontend::plan
