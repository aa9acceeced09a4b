// Every option forward and backward on the GPU against the oracle, as a table. Leaves with 77 where there is no GPU.
//   gpu_suite [random cases [part of a group's name]]
//   gpu_suite case <number>...                          these of the random cases alone, each with its faults
#include "gpu/device_mirror.h"
#include "gpu/gpu_cases.h"
#include "reference/check_case.h"

#include <cudnn_frontend/runtime.h>

#include <unistd.h>
#include <algorithm>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

namespace {

using namespace sdpa_test;

struct Row {
    int passed = 0, failed = 0, refused = 0;
    double worst_forward = 0, worst_backward = 0;
    std::map<std::string, std::string> examples;  // a case for each kind of fault
};

// The case that a thread is at, for the last words of a process that crashes.
thread_local char current_case[512] = "";

void tell_crash(int signal) {
    constexpr char kText[] = "crashed in the case: ";
    static_cast<void>(!write(STDERR_FILENO, kText, sizeof(kText) - 1));
    static_cast<void>(!write(STDERR_FILENO, current_case, std::strlen(current_case)));
    static_cast<void>(!write(STDERR_FILENO, "\n", 1));
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

// What two faults have in common: the text without its numbers.
std::string kind_of(std::string const& faults) {
    std::string kind;
    for (char const c : faults.substr(0, 160)) {
        if (c >= '0' && c <= '9') continue;
        kind += c;
    }
    return kind;
}

class Table {
   public:
    void add(std::string const& group, AttentionCase const& c, Outcome const& outcome) {
        std::lock_guard const lock(mutex_);
        Row& row = rows_[group];
        row.worst_forward = std::max(row.worst_forward, outcome.worst_forward);
        row.worst_backward = std::max(row.worst_backward, outcome.worst_backward);
        bool const is_by_rule = outcome.is_refused && outcome.faults.find("[cudnn.s") != std::string::npos;
        int& count = outcome.faults.empty() ? row.passed : is_by_rule ? row.refused : row.failed;
        ++count;
        if (!outcome.faults.empty()) row.examples.emplace(kind_of(outcome.faults), describe(c) + "\n" + outcome.faults);
    }

    // How many cases failed.
    int print(std::vector<std::string> const& order) const {
        int passed = 0, failed = 0, refused = 0;
        for (std::string const& name : order) {
            Row const& row = rows_.at(name);
            std::printf("%-34s %5d passed %4d failed %4d refused   error/tolerance %.2f %.2f\n", name.c_str(),
                        row.passed, row.failed, row.refused, row.worst_forward, row.worst_backward);
            passed += row.passed, failed += row.failed, refused += row.refused;
        }
        for (std::string const& name : order) {
            for (auto const& [kind, text] : rows_.at(name).examples)
                std::printf("[%s] %s\n", name.c_str(), text.c_str());
        }
        std::printf("%d passed, %d failed, %d refused\n", passed, failed, refused);
        return failed;
    }

   private:
    std::mutex mutex_;
    std::map<std::string, Row> rows_;
};

std::vector<CaseGroup> single_cases(std::vector<std::string> const& numbers) {
    std::vector<CaseGroup> groups;
    for (std::string const& number : numbers) {
        groups.push_back({"random case " + number, {random_gpu_case(std::strtoull(number.c_str(), nullptr, 10))}, {}});
    }
    return groups;
}

std::vector<CaseGroup> chosen_groups(std::vector<std::string> const& arguments) {
    if (arguments.size() > 1 && arguments[0] == "case") return single_cases({arguments.begin() + 1, arguments.end()});
    int const random_cases = arguments.empty() ? 200 : std::atoi(arguments[0].c_str());
    std::string const part = arguments.size() > 1 ? arguments[1] : "";
    std::vector<CaseGroup> groups = gpu_case_groups();
    groups.push_back({"random", {}, {}});
    for (int i = 0; i < random_cases; ++i)
        groups.back().cases.push_back(random_gpu_case(static_cast<std::uint64_t>(i)));
    std::erase_if(groups, [&](CaseGroup const& g) { return g.cases.empty() || g.name.find(part) == g.name.npos; });
    return groups;
}

// Each thread has its own handle and stream; most of the time goes to the oracle.
void run_all(std::vector<CaseGroup> const& groups, Table& table) {
    std::vector<std::pair<std::string, AttentionCase>> work;
    for (CaseGroup const& group : groups) {
        for (AttentionCase const& c : group.cases) work.emplace_back(group.name, c);
    }
    std::atomic<std::size_t> next{0};
    auto const worker = [&] {
        GpuStream const gpu;
        Rig rig(Target::cuda(gpu.handle()));
        rig.execute = [&](Session const& session) { return execute_on_gpu(session, gpu); };
        rig.rounds_factors = true;
        rig.defines_padded_rows = false;
        rig.dumps_masked_elements = false;
        for (std::size_t i = next++; i < work.size(); i = next++) {
            Outcome outcome;
            outcome.faults = gpu.status().get_message();
            std::snprintf(current_case, sizeof(current_case), "%s", describe(work[i].second).c_str());
            if (gpu.status().is_good()) outcome = check_case(work[i].second, rig);
            table.add(work[i].first, work[i].second, outcome);
        }
    };
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(worker);
}

}  // namespace

int main(int argc, char** argv) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::puts("skipped: there is no GPU here");
        return 77;
    }
    std::signal(SIGSEGV, tell_crash);
    std::signal(SIGFPE, tell_crash);
    std::fputs(cudnn_frontend::runtime::describe().c_str(), stdout);
    auto const groups = chosen_groups({argv + 1, argv + argc});
    Table table;
    run_all(groups, table);
    std::vector<std::string> order;
    for (CaseGroup const& group : groups) order.push_back(group.name);
    return table.print(order) == 0 ? 0 : 1;
}
