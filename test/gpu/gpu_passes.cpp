// cuDNN's results, on this GPU, for graphs without one of its legalization passes: for each, the cases of the suite
// that the pass changes run without it, and a table says how many results are right, wrong and refused. A pass all of
// whose cases are right is not needed by them. Leaves with 77 where there is no GPU.
//   gpu_passes [random cases [id...]]   300: the first 300 random ones; 1000-2000: from 1000 up to 1999; cudnn.w06: of
//                                       this pass, else of all whose need only a GPU shows
#include "gpu/backends_without_pass.h"
#include "gpu/case_processes.h"
#include "gpu/pass_trials.h"
#include "gpu/this_gpu.h"

#include <cudnn_frontend/runtime.h>

#include <cstdio>
#include <cstdlib>

namespace {

using namespace sdpa_test;
using cudnn_frontend::quirks::Quirk;

// The number of cases that one process runs.
constexpr std::size_t kBatchSize = 24;
constexpr std::size_t kExamples = 5;

struct Counts {
    int right = 0, wrong = 0, refused = 0;
};

// The table of one pass.
class TrialTable {
   public:
    void add(TriedGraphs const& tried, AttentionCase const& c, Outcome const& outcome) {
        if (tried.forward) add(forward_, "forward", c, outcome.forward);
        // If the process ended and only forward reports it, both are at fault.
        bool const has_ended = !outcome.forward.ran && !outcome.forward.faults.empty();
        if (tried.backward) add(backward_, "backward", c, has_ended ? outcome.forward : outcome.backward);
    }

    void print(Quirk const& quirk) const {
        std::printf("%-10s %-34s", quirk.id, quirk.pass);
        for (Counts const& counts : {forward_, backward_})
            std::printf("   %6d %6d %7d", counts.right, counts.wrong, counts.refused);
        std::puts("");
        for (std::string const& example : examples_) std::printf("  %s\n", example.c_str());
        std::fflush(stdout);
    }

   private:
    // Backward of dropout that forward did not dump did not run.
    void add(Counts& counts, char const* name, AttentionCase const& c, PassOutcome const& pass) {
        if (!pass.ran && pass.refusal.empty() && pass.faults.empty()) return;
        bool const is_right = pass.ran && pass.faults.empty();
        ++(is_right ? counts.right : pass.refusal.empty() ? counts.wrong : counts.refused);
        if (is_right || examples_.size() == kExamples) return;
        std::string const reason = pass.refusal.empty() ? pass.faults : "refused: " + pass.refusal;
        examples_.push_back(describe(c) + ", " + name + ": " + reason.substr(0, reason.find('\n')));
    }

    Counts forward_, backward_;
    std::vector<std::string> examples_;  // the first that are not right
};

// "<program> batch <random cases> <id> <number>..." runs these cases without the pass.
std::string command_of(std::string const& program, std::string const& range, PassTrial const& trial,
                       Batch const& batch) {
    std::string command = program + " batch " + range + " " + trial.quirk->id;
    for (std::size_t i = 0; i < batch.count; ++i) {
        command += " " + std::to_string(trial.cases[batch.first + i].number);
    }
    return command;
}

int run_batch_of(std::vector<std::string> const& arguments) {
    leave_out_pass_of(arguments[2]);
    auto const cases = suite_cases(case_range(arguments[1]).value());
    CaseGroup group{arguments[2], {}};
    for (std::size_t i = 3; i < arguments.size(); ++i) {
        group.cases.push_back(cases.at(std::strtoull(arguments[i].c_str(), nullptr, 10)));
    }
    run_batch({group}, {0, 0, group.cases.size()});
    return 0;
}

// How many cases did not run since a signal came.
std::size_t run_trial(PassTrial const& trial, std::vector<AttentionCase> const& cases, std::string const& program,
                      std::string const& range) {
    std::vector<CaseGroup> groups{{trial.quirk->id, {}}};
    for (TriedGraphs const& tried : trial.cases) groups[0].cases.push_back(cases[tried.number]);
    TrialTable table;
    std::size_t const left = run_in_processes(
        groups, batches_of(groups, kBatchSize),
        [&](Batch const& batch) { return command_of(program, range, trial, batch); },
        [&](CaseGroup const& group, AttentionCase const& c, Outcome const& outcome) {
            table.add(trial.cases[static_cast<std::size_t>(&c - group.cases.data())], c, outcome);
        });
    table.print(*trial.quirk);
    return left;
}

// An id that no pass in force here has is an error of the caller's.
bool run_trials(std::string const& program, std::string const& range, std::vector<std::string> const& ids) {
    auto const cases = suite_cases(case_range(range).value());
    auto const trials = pass_trials(
        cases, ids, {.cudnn_version = cudnn_frontend::runtime::cudnn_version(), .sm = compute_capability()});
    if (trials.size() < ids.size() || trials.empty()) {
        std::fputs("gpu_passes: one of these ids is of no pass that runs here; docs/cudnn-passes.md has all\n", stderr);
        return false;
    }
    std::printf("%s\n%-45s   forward right, wrong, refused   backward right, wrong, refused\n", describe_gpu().c_str(),
                "left out");
    std::size_t left = 0;
    for (PassTrial const& trial : trials) left += run_trial(trial, cases, program, range);
    if (left > 0) std::printf("STOPPED by a signal: %zu cases did not run\n", left);
    return left == 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() > 3 && arguments[0] == "batch") return run_batch_of(arguments);
    if (arguments.empty()) arguments.push_back("200");
    if (!case_range(arguments[0])) {
        std::fputs("gpu_passes: say how many random cases, or which: 300 or 1000-2000\n", stderr);
        return 2;
    }
    if (gpu_count() == 0) {
        std::puts("skipped: there is no GPU here");
        return 77;
    }
    stop_on_signals();
    return run_trials(argv[0], arguments[0], {arguments.begin() + 1, arguments.end()}) ? 0 : 1;
}
