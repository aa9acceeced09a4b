#include "gpu/case_processes.h"

#include "gpu/device_mirror.h"
#include "reference/cases/rewrite_case.h"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

namespace sdpa_test {
namespace {

std::atomic<bool> is_stopped{false};

// An outcome as a line of text, and back.
std::string line_of(Outcome const& outcome) {
    std::ostringstream line;
    for (PassOutcome const* const pass : {&outcome.forward, &outcome.backward}) {
        line << pass->worst << ' ' << pass->ran << ' ' << pass->ran_program << ' ' << pass->refusal << '\v'
             << pass->faults << '\v';
    }
    std::string text = line.str();
    std::replace(text.begin(), text.end(), '\n', '\f');
    return text;
}

Outcome outcome_of(std::string text) {
    std::replace(text.begin(), text.end(), '\f', '\n');
    std::istringstream line(text);
    Outcome outcome;
    for (PassOutcome* const pass : {&outcome.forward, &outcome.backward}) {
        line >> pass->worst >> pass->ran >> pass->ran_program;
        std::getline(line.ignore(), pass->refusal, '\v');
        std::getline(line, pass->faults, '\v');
    }
    return outcome;
}

// Calls on_line() for each line that the command prints until a stop. The command's next line after a stop ends it.
int run_command(std::string const& command, std::function<void(std::string const&)> const& on_line) {
    std::FILE* const output = popen(command.c_str(), "r");
    if (output == nullptr) return -1;
    std::array<char, 4096> part{};
    std::string line;
    while (!is_stopped && std::fgets(part.data(), part.size(), output) != nullptr) {
        line += part.data();
        if (!line.ends_with('\n')) continue;
        line.pop_back();
        on_line(std::exchange(line, ""));
    }
    return pclose(output);
}

// The case behind the last line ended the process, unless that ended well or was stopped; later cases run in another
// one.
void collect_batch(MakeCommand const& command, CaseGroup const& group, Batch batch, OnOutcome const& on_outcome) {
    while (batch.count > 0 && !is_stopped) {
        std::size_t done = 0;
        int const status = run_command(command(batch), [&](std::string const& line) {
            if (done < batch.count) on_outcome(group, group.cases[batch.first + done++], outcome_of(line));
        });
        if (is_stopped) return;
        if (done < batch.count && (status != 0 || done == 0)) {
            Outcome outcome;
            outcome.forward.faults = "its process ended with status " + std::to_string(status) + "\n";
            on_outcome(group, group.cases[batch.first + done++], outcome);
        }
        batch.first += done, batch.count -= done;
    }
}

}  // namespace

std::vector<Batch> batches_of(std::vector<CaseGroup> const& groups, std::size_t size) {
    std::vector<Batch> batches;
    for (std::size_t group = 0; group < groups.size(); ++group) {
        std::size_t const cases = groups[group].cases.size();
        for (std::size_t first = 0; first < cases; first += size) {
            batches.push_back({group, first, std::min(size, cases - first)});
        }
    }
    return batches;
}

static Rig rig_of(GpuStream const& gpu) {
    Rig rig(Target::cuda(gpu.handle()));
    rig.execute = [&](Session const& session) { return execute_on_gpu(session, gpu); };
    rig.rounds_factors = true;
    rig.defines_padded_rows = false;
    rig.dumps_masked_elements = false;
    rig.prepare = [](Graph& graph) { graph.deselect_engines({"attention"}); };  // gpu_attention tests that one
    return rig;
}

void run_batch(std::vector<CaseGroup> const& groups, Batch const& batch) {
    GpuStream const gpu;
    Rig rig = rig_of(gpu);
    CaseGroup const& group = groups[batch.group];
    rig.joins_parts = group.rewriting.has_value();
    for (std::size_t i = batch.first; i < batch.first + batch.count; ++i) {
        AttentionCase const& c = group.cases[i];
        if (group.rewriting) {
            rig.prepare = [&](Graph& graph) {
                graph.deselect_engines({"attention"});
                ask_for(*group.rewriting, c, graph);
            };
        }
        Outcome outcome;
        outcome.forward.faults = gpu.status().get_message();
        if (gpu.status().is_good()) outcome = check_case(c, rig);
        print_outcome(outcome);
        if (cudaDeviceSynchronize() != cudaSuccess) return;
    }
}

void print_outcome(Outcome const& outcome) {
    std::puts(line_of(outcome).c_str());
    std::fflush(stdout);
}

unsigned all_cores() { return std::max(1u, std::thread::hardware_concurrency()); }

void stop_on_signals() {
    static_assert(std::atomic<bool>::is_always_lock_free, "what a handler may write");
    for (int const signal : {SIGTERM, SIGINT}) std::signal(signal, [](int) { is_stopped = true; });
}

void stop_after(unsigned seconds) {
    std::signal(SIGALRM, [](int) { is_stopped = true; });
    alarm(seconds);
}

std::size_t run_in_processes(std::vector<CaseGroup> const& groups, std::vector<Batch> const& batches,
                             MakeCommand const& command, OnOutcome const& on_outcome, unsigned processes) {
    std::atomic<std::size_t> next{0};
    std::size_t left = 0;
    for (Batch const& batch : batches) left += batch.count;
    std::mutex mutex;
    OnOutcome const one_at_a_time = [&](CaseGroup const& group, AttentionCase const& c, Outcome const& outcome) {
        std::lock_guard const lock(mutex);
        --left;
        on_outcome(group, c, outcome);
    };
    auto const worker = [&] {
        for (std::size_t i = next++; i < batches.size() && !is_stopped; i = next++) {
            collect_batch(command, groups[batches[i].group], batches[i], one_at_a_time);
        }
    };
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < processes; ++i) threads.emplace_back(worker);
    threads.clear();  // waits for them
    return left;
}

}  // namespace sdpa_test
