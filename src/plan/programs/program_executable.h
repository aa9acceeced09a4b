// A program whose steps are built: it runs them one after the other, and records them in lanes.
#pragma once

#include "group/transport.h"
#include "plan/seam/backend.h"

#include <algorithm>
#include <memory>
#include <vector>

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
    bool is_joint = false;
    rewrite::Lane lane = rewrite::Lane::Main;
    bool is_exchange = false;
};

// An attention of the program: several steps may run it.
struct PlannedAttend {
    EngineInfo engine;
    std::shared_ptr<Executable const> executable;
};

// The group whose ranks run a program together, and what they have to agree on. No transport: a program of one process.
struct GroupRun {
    std::shared_ptr<group::Transport> transport = {};
    std::string agreement = {};

    // Names the rank's program in stored plans, by all that it depends on besides the graph.
    std::string stored_name() const;
    static constexpr char const* kStoredPrefix = "rank ";
};

class ProgramExecutable final : public Executable {
   public:
    // There is at least one attend, which decides on queues, streams and recordings.
    ProgramExecutable(std::string program, std::vector<PlannedAttend> attends, std::vector<ProgramStep> steps,
                      std::int64_t workspace_size, GroupRun group = {})
        : program_(std::move(program)),
          attends_(std::move(attends)),
          steps_(std::move(steps)),
          group_(std::move(group)),
          has_own_work_(std::ranges::any_of(steps_, [](auto& step) { return step.is_joint || step.is_exchange; })),
          workspace_size_(workspace_size),
          replays_(make_replays()) {}

    std::vector<PlannedAttend> const& attends() const { return attends_; }

    std::int64_t workspace_size() const override { return workspace_size_; }
    error_t check_queue(Queue queue) const override { return leader().check_queue(queue); }
    Result<Stream> stream(Queue queue) const override { return leader().stream(queue); }
    error_t launch(Launch const& launch) const override;
    error_t capture(Launch const& launch, Recording recording) const override;
    error_t update(Launch const& launch, Recording recording) const override;
    error_t warm_up(Queue queue) const override;
    Result<std::unique_ptr<Stopwatch>> stopwatch(Queue queue) const override { return leader().stopwatch(queue); }
    Result<std::string> serialize() const override;
    Result<ExecutableFacts> facts() const override;

   private:
    Executable const& leader() const { return *attends_.front().executable; }
    std::unique_ptr<Replays> make_replays() const;
    error_t launch_in_group(Launch const& launch) const;
    error_t record_in_group(Launch const& launch, Recording recording) const;
    // Calls `run` for each step with its own launch, up to the first error, which says what is incomplete.
    template <class Run>
    error_t for_each_step(Launch const& launch, char const* what, Run const& run) const;
    template <class Run>
    error_t run_step(ProgramStep const& step, Launch const& launch, Run const& run) const;

    std::string program_;
    std::vector<PlannedAttend> attends_;
    std::vector<ProgramStep> steps_;
    GroupRun group_;
    bool has_own_work_;  // joints and exchanges, which want the stream
    std::int64_t workspace_size_;
    std::unique_ptr<Replays> replays_;
};

// Step 2 of 3 of few_queries(8), merge: for messages, where the first step has index 0.
std::string step_text(std::string const& program, std::size_t index, std::size_t count, std::string const& step);

// The content of the bytes that serialize() wrote.
struct StoredProgram {
    std::string program;
    std::vector<Stored> attends;
    std::vector<std::string> codes;   // of joints, each once
    std::vector<std::size_t> joints;  // of each: which code
};
Result<StoredProgram> read_stored_program(std::string_view bytes);

// The start and the end of an exchange between the ranks of a group, as steps of a program. Both get a pointer for each
// piece: those that are sent, then those that are received.
std::shared_ptr<Executable const> make_exchange_start(std::shared_ptr<group::Transport> transport,
                                                      std::shared_ptr<rewrite::Pieces const> pieces);
std::shared_ptr<Executable const> make_exchange_end(std::shared_ptr<group::Transport> transport,
                                                    std::shared_ptr<rewrite::Pieces const> pieces);
std::vector<rewrite::Place> places_of(rewrite::Pieces const& pieces);

}  // namespace cudnn_frontend::plan
