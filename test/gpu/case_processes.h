// Cases of the GPU suite in processes of their own, some at a time: a kernel that faults ends no other cases.
#pragma once

#include "gpu/cases/gpu_cases.h"
#include "reference/checks/check_case.h"

#include <functional>

namespace sdpa_test {

// Some cases of a group, which one process runs.
struct Batch {
    std::size_t group, first, count;
};
std::vector<Batch> batches_of(std::vector<CaseGroup> const& groups, std::size_t size);

// Runs in the process of a batch. It prints an outcome for each case, up to one after which the GPU no longer answers.
void run_batch(std::vector<CaseGroup> const& groups, Batch const& batch);
// A line, which run_in_processes() reads.
void print_outcome(Outcome const& outcome);

unsigned all_cores();

using MakeCommand = std::function<std::string(Batch const& batch)>;
// One thread at a time calls it.
using OnOutcome = std::function<void(CaseGroup const& group, AttentionCase const& c, Outcome const& outcome)>;

// From now on SIGTERM and SIGINT, by which a time limit or a person stops a program, only make run_in_processes()
// return.
void stop_on_signals();
// The same once so many seconds have passed.
void stop_after(unsigned seconds);

// Runs command(batch), which prints an outcome for each case of the batch, for all of them, in so many processes at a
// time, and again for the rest of a batch whose process ended early. Returns how many cases have no outcome because of
// a stop.
std::size_t run_in_processes(std::vector<CaseGroup> const& groups, std::vector<Batch> const& batches,
                             MakeCommand const& command, OnOutcome const& on_outcome, unsigned processes = all_cores());

}  // namespace sdpa_test
