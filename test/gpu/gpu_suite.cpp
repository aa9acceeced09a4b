// Every option forward and backward on the GPU against the oracle, as a table. Leaves with 77 where there is no GPU.
//   gpu_suite [random cases [part of a group's name]]
//   gpu_suite case <number>...                          these of the random cases alone, each with its faults
// Cases run in processes of their own, some at a time: a kernel that faults takes no other cases with it.
#include "gpu/device_mirror.h"
#include "gpu/gpu_cases.h"
#include "reference/check_case.h"

#include <cudnn_frontend/runtime.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

namespace {

using namespace sdpa_test;

struct Row {
    int passed = 0, failed = 0, refused = 0;
    double worst_forward = 0, worst_backward = 0;
    std::map<std::string, std::string> examples;  // a case for each kind of fault
};

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

// Some cases of a group: what one process runs.
struct Batch {
    std::size_t group, first, count;
};
constexpr std::size_t kBatchSize = 24;

std::vector<Batch> batches_of(std::vector<CaseGroup> const& groups) {
    std::vector<Batch> batches;
    for (std::size_t group = 0; group < groups.size(); ++group) {
        std::size_t const size = groups[group].cases.size();
        for (std::size_t first = 0; first < size; first += kBatchSize) {
            batches.push_back({group, first, std::min(kBatchSize, size - first)});
        }
    }
    return batches;
}

// An outcome as a line of text, and back.
std::string line_of(Outcome const& outcome) {
    std::ostringstream line;
    std::string faults = outcome.faults;
    std::replace(faults.begin(), faults.end(), '\n', '\f');
    line << outcome.worst_forward << ' ' << outcome.worst_backward << ' ' << outcome.is_refused << ' ' << faults;
    return line.str();
}

Outcome outcome_of(std::string const& text) {
    Outcome outcome;
    std::istringstream line(text);
    line >> outcome.worst_forward >> outcome.worst_backward >> outcome.is_refused;
    std::getline(line.ignore(), outcome.faults);
    std::replace(outcome.faults.begin(), outcome.faults.end(), '\f', '\n');
    return outcome;
}

// In the process of a batch: a line for each case, up to one after which the GPU answers nothing any more.
void run_batch(std::vector<CaseGroup> const& groups, Batch const& batch) {
    GpuStream const gpu;
    Rig rig(Target::cuda(gpu.handle()));
    rig.execute = [&](Session const& session) { return execute_on_gpu(session, gpu); };
    rig.rounds_factors = true;
    rig.defines_padded_rows = false;
    rig.dumps_masked_elements = false;
    for (std::size_t i = batch.first; i < batch.first + batch.count; ++i) {
        Outcome outcome;
        outcome.faults = gpu.status().get_message();
        if (gpu.status().is_good()) outcome = check_case(groups[batch.group].cases[i], rig);
        std::puts(line_of(outcome).c_str());
        std::fflush(stdout);
        if (cudaDeviceSynchronize() != cudaSuccess) return;
    }
}

// The first line that is missing is of the case that ended the process, unless that told of it itself.
void collect_batch(std::string const& command, CaseGroup const& group, Batch const& batch, Table& table) {
    std::FILE* const output = popen(command.c_str(), "r");
    std::string text;
    std::array<char, 4096> part{};
    while (output != nullptr && std::fgets(part.data(), part.size(), output) != nullptr) text += part.data();
    int const status = output == nullptr ? -1 : pclose(output);
    std::istringstream lines(text);
    std::string line;
    std::string const after = "not run, after the one before it";
    std::string missing = status == 0 ? after : "its process ended with status " + std::to_string(status);
    for (std::size_t i = batch.first; i < batch.first + batch.count; ++i) {
        Outcome outcome;
        if (std::getline(lines, line)) outcome = outcome_of(line);
        else outcome.faults = std::exchange(missing, after);
        table.add(group.name, group.cases[i], outcome);
    }
}

void run_all(std::string const& program, std::string const& arguments, std::vector<CaseGroup> const& groups,
             Table& table) {
    std::vector<Batch> const batches = batches_of(groups);
    std::atomic<std::size_t> next{0};
    auto const worker = [&] {
        for (std::size_t i = next++; i < batches.size(); i = next++) {
            std::string const command = program + " batch " + std::to_string(i) + arguments;
            collect_batch(command, groups[batches[i].group], batches[i], table);
        }
    };
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(worker);
}

std::string quoted(std::vector<std::string> const& arguments) {
    std::string text;
    for (std::string const& argument : arguments) text += " '" + argument + "'";
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    bool const is_batch = arguments.size() > 1 && arguments[0] == "batch";
    std::size_t const batch = is_batch ? std::strtoull(arguments[1].c_str(), nullptr, 10) : 0;
    if (is_batch) arguments.erase(arguments.begin(), arguments.begin() + 2);
    auto const groups = chosen_groups(arguments);
    if (is_batch) {
        run_batch(groups, batches_of(groups).at(batch));
        return 0;
    }
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::puts("skipped: there is no GPU here");
        return 77;
    }
    std::fputs(cudnn_frontend::runtime::describe().c_str(), stdout);
    std::fflush(stdout);
    Table table;
    run_all(argv[0], quoted(arguments), groups, table);
    std::vector<std::string> order;
    for (CaseGroup const& group : groups) order.push_back(group.name);
    return table.print(order) == 0 ? 0 : 1;
}
