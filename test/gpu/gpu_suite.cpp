// Every option forward and backward on the GPU against the oracle, as a table. Leaves with 77 where there is no GPU.
//   gpu_suite [random cases [part of a group's name]]   300: the first 300 random ones; 1000-2000: from 1000 up to 1999
//   gpu_suite limits [random cases [part]]              then runs the cases that limits refused in spite of them,
//                                                       and prints the results
//   gpu_suite case <number>...                          these of the random cases alone, each with its faults
//   gpu_suite gpu                                       says which GPU and which cuDNN would be tested
// Groups of graphs that are rewritten are named "rewritten ..."; every second number is also that of a case of each.
// Only runs of programs count as right in them, and nine in ten of the cases have to be such. Which groups limits
// refuse on this GPU is compared with the support matrix in docs/reference, where it knows the GPU's architecture and
// this cuDNN. Stopped by SIGTERM or SIGINT, it prints the results of the cases until then, and fails.
// SDPA_GRAPH_GPU_RECORD: a file to whose end each group's numbers of right passes go, for docs/reference/gpu-runs.txt.
#include "gpu/case_processes.h"
#include "gpu/cases/random_gpu_case.h"
#include "gpu/cases/rewritten_gpu_case.h"
#include "gpu/cases/support_matrix_file.h"
#include "gpu/this_gpu.h"

#include <cudnn_frontend/process.h>
#include <cudnn_frontend/runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

namespace {

using namespace sdpa_test;

struct Counts {
    int passed = 0, failed = 0, refused = 0;
    int unknown = 0;  // backward of dropout that forward, refused, did not dump
    int plain = 0;    // ran as given where a rewrite was asked for
    double worst = 0;

    int all() const { return passed + failed + refused; }
};

struct Row {
    Counts forward, backward;
    bool is_rewritten = false;
    int cases = 0;
    std::vector<std::string> failures;            // all of them
    std::map<std::string, std::string> refusals;  // a case for each kind

    // A case has two passes, of which a rewrite belongs to one; a class may have both.
    int programs() const { return forward.passed + backward.passed; }
    bool has_few_programs() const { return is_rewritten && programs() * 10 < cases * 9; }
};

// The common part of faults of one kind: the text without its numbers.
std::string kind_of(std::string const& faults) {
    std::string kind;
    for (char const c : faults.substr(0, 160)) {
        if (c >= '0' && c <= '9') continue;
        kind += c;
    }
    return kind;
}

// The limits that refused the pass: "s12 s86".
std::string limits_of(PassOutcome const& pass) {
    constexpr char const* kMark = "[cudnn.";
    std::set<std::string> limits;
    for (std::size_t at = pass.refusal.find(kMark); at != std::string::npos; at = pass.refusal.find(kMark, at + 1)) {
        limits.insert(pass.refusal.substr(at + 7, pass.refusal.find(']', at) - at - 7));
    }
    std::string text;
    for (std::string const& limit : limits) text += (text.empty() ? "" : " ") + limit;
    return text;
}

class Table {
   public:
    void add(CaseGroup const& group, AttentionCase const& c, Outcome const& outcome) {
        Row& row = rows_[group.name];
        row.is_rewritten = group.rewriting.has_value();
        ++row.cases;
        add(row, row.forward, "forward", c, outcome.forward);
        add(row, row.backward, "backward", c, outcome.backward);
    }

    // How many passes failed, and how many groups ran too few programs. Groups that were stopped before have no row.
    int print(std::vector<std::string> const& all) const {
        std::vector<std::string> order;
        std::ranges::copy_if(all, std::back_inserter(order),
                             [&](std::string const& name) { return rows_.count(name); });
        Counts sum;
        std::printf("%-36s %23s   %23s   error/tolerance\n", "", "forward right/no/refused",
                    "backward right/no/refused");
        for (std::string const& name : order) {
            Row const& row = rows_.at(name);
            std::printf("%-36s", name.c_str());
            for (Counts const* const counts : {&row.forward, &row.backward}) {
                std::printf("   %8d %5d %7d", counts->passed, counts->failed, counts->refused);
                sum.passed += counts->passed, sum.failed += counts->failed, sum.refused += counts->refused;
                sum.unknown += counts->unknown;
            }
            std::printf("   %.2f %.2f\n", row.forward.worst, row.backward.worst);
        }
        for (std::string const& name : order) {
            for (auto const& [kind, text] : rows_.at(name).refusals)
                std::printf("[%s] %s\n", name.c_str(), text.c_str());
        }
        for (std::string const& name : order) {
            for (std::string const& text : rows_.at(name).failures) {
                std::printf("FAILED [%s] %s\n", name.c_str(), text.c_str());
            }
        }
        std::printf("%d forward and backward passes right, %d failed, %d refused", sum.passed, sum.failed, sum.refused);
        std::printf(", %d backward not run, whose dropout is unknown since forward was refused\n", sum.unknown);
        return sum.failed + print_programs(order);
    }

    void record(char const* path, std::vector<std::string> const& order) const {
        std::ofstream file(path, std::ios::app);
        std::size_t const version = cudnn_frontend::runtime::cudnn_version();
        for (std::string const& name : order) {
            Row const& row = rows_.at(name);
            file << version << ' ' << row.forward.passed << '/' << row.forward.all() << ' ' << row.backward.passed
                 << '/' << row.backward.all() << ' ' << name << '\n';
        }
    }

   private:
    // How many groups ran too few.
    int print_programs(std::vector<std::string> const& order) const {
        int short_groups = 0;
        for (std::string const& name : order) {
            Row const& row = rows_.at(name);
            if (!row.is_rewritten) continue;
            short_groups += row.has_few_programs() ? 1 : 0;
            std::printf("%s[%s] %d of %d cases right as programs; %d passes ran as given\n",
                        row.has_few_programs() ? "TOO FEW " : "", name.c_str(), row.programs(), row.cases,
                        row.forward.plain + row.backward.plain);
        }
        return short_groups;
    }

    // A pass that is not there, as backward of pages, counts nowhere.
    static void add(Row& row, Counts& counts, char const* name, AttentionCase const& c, PassOutcome const& pass) {
        if (!pass.ran && pass.refusal.empty() && pass.faults.empty()) {
            counts.unknown += c.has_backward() ? 1 : 0;
            return;
        }
        if (row.is_rewritten && pass.ran && !pass.ran_program && pass.faults.empty()) {
            ++counts.plain;
            return;
        }
        counts.worst = std::max(counts.worst, pass.worst);
        bool const is_refused = !limits_of(pass).empty() && pass.faults.empty();
        int& count = is_refused ? counts.refused : pass.ran && pass.faults.empty() ? counts.passed : counts.failed;
        ++count;
        std::string const faults = std::string(name) + ": " + pass.refusal + "\n" + pass.faults;
        std::string text = describe(c) + "\n" + faults;
        if (is_refused) row.refusals.emplace(kind_of(faults), std::move(text));
        else if (&count == &counts.failed) row.failures.push_back(std::move(text));
    }

    std::map<std::string, Row> rows_;
};

// The support matrix's statements about the groups, compared with the refusals of limits here.
class Expectations {
   public:
    Expectations()
        : column_(SupportMatrixColumn::find(cudnn_frontend::runtime::cudnn_version(), compute_capability())) {
        std::puts(column_ ? "what to expect is in the support matrix of this cuDNN and this architecture"
                          : "no support matrix of docs/ is of this cuDNN and this architecture: what limits refuse is "
                            "taken as expected");
        std::fflush(stdout);
    }

    // The matrix is about the fourth case of each group.
    void compare(std::string const& group, std::size_t number, Outcome const& outcome) {
        if (!column_ || number != 3) return;
        compare(group, false, outcome.forward);
        compare(group, true, outcome.backward);
    }

    int print() const {
        std::fputs(differences_.c_str(), stdout);
        return count_;
    }

   private:
    void compare(std::string const& group, bool is_backward, PassOutcome const& pass) {
        auto const wanted = column_->limits_of(group, is_backward);
        std::string const found = limits_of(pass);
        bool const is_known = pass.ran || !found.empty();  // another refusal, or none of a pass that is not there
        if (!wanted || !is_known || wanted->empty() == found.empty()) return;
        differences_ += "UNEXPECTED [" + group + "] " + (is_backward ? "backward" : "forward") + ": " +
                        (found.empty() ? "ran" : "refused by " + found) + ", where the support matrix has " +
                        (wanted->empty() ? "yes" : *wanted) + "\n";
        ++count_;
    }

    std::optional<SupportMatrixColumn> column_;
    std::string differences_;
    int count_ = 0;
};

// Passes that limits refused, run in spite of them.
class LimitTable {
   public:
    void add(std::string const& limits, AttentionCase const& c, PassOutcome const& pass) {
        Row& row = rows_[limits];
        if (!pass.refusal.empty()) {
            ++row.refused;
        } else if (pass.ran && pass.faults.empty()) {
            ++row.right;
            row.example_of_right = describe(c);
        } else {
            ++row.wrong;
            row.example_of_wrong = describe(c) + ": " + pass.faults.substr(0, pass.faults.find('\n'));
        }
    }

    void print() const {
        std::puts("\nin spite of these limits           no engine   wrong or failed   right");
        for (auto const& [limits, row] : rows_) {
            std::printf("%-34s %9d %17d %7d\n", limits.c_str(), row.refused, row.wrong, row.right);
        }
        for (auto const& [limits, row] : rows_) {
            if (row.right > 0) std::printf("[%s] right: %s\n", limits.c_str(), row.example_of_right.c_str());
            if (row.wrong > 0) std::printf("[%s] wrong: %s\n", limits.c_str(), row.example_of_wrong.c_str());
        }
    }

   private:
    struct Row {
        int refused = 0, wrong = 0, right = 0;
        std::string example_of_right, example_of_wrong;
    };
    std::map<std::string, Row> rows_;
};

// The number of cases that one process runs.
constexpr std::size_t kBatchSize = 24;

std::vector<CaseGroup> single_cases(std::vector<std::string> const& numbers) {
    std::vector<CaseGroup> groups;
    for (std::string const& number : numbers) {
        groups.push_back({"random case " + number, {random_gpu_case(std::strtoull(number.c_str(), nullptr, 10))}, {}});
    }
    return groups;
}

bool asks_for_limits(std::vector<std::string> const& arguments) {
    return !arguments.empty() && arguments[0] == "limits";
}

// None where the arguments ask for none.
std::vector<CaseGroup> chosen_groups(std::vector<std::string> const& arguments) {
    if (arguments.size() > 1 && arguments[0] == "case") return single_cases({arguments.begin() + 1, arguments.end()});
    std::size_t const first = asks_for_limits(arguments) ? 1 : 0;
    auto const range = case_range(arguments.size() > first ? arguments[first] : "200");
    if (!range) return {};
    std::string const part = arguments.size() > first + 1 ? arguments[first + 1] : "";
    std::vector<CaseGroup> groups = gpu_case_groups();
    for (CaseGroup& group : random_gpu_groups(*range)) groups.push_back(std::move(group));
    for (CaseGroup& group : rewritten_gpu_groups(*range)) groups.push_back(std::move(group));
    if (asks_for_limits(arguments)) {
        for (CaseGroup& group : groups_at_limits()) groups.push_back(std::move(group));
    }
    std::erase_if(groups, [&](CaseGroup const& g) { return g.cases.empty() || g.name.find(part) == g.name.npos; });
    return groups;
}

std::string quoted(std::vector<std::string> const& arguments) {
    std::string text;
    for (std::string const& argument : arguments) text += " '" + argument + "'";
    return text;
}

// "<program> batch <first> <count> <group> <arguments>" runs a batch.
class Commands {
   public:
    Commands(std::string const& program, std::vector<std::string> const& arguments)
        : program_(program), arguments_(quoted(arguments)) {}

    std::string operator()(Batch const& batch) const {
        return program_ + " batch " + std::to_string(batch.group) + " " + std::to_string(batch.first) + " " +
               std::to_string(batch.count) + arguments_;
    }

    // Removes the batch from the arguments, if they have one.
    static std::optional<Batch> batch_of(std::vector<std::string>& arguments) {
        if (arguments.size() < 4 || arguments[0] != "batch") return std::nullopt;
        auto const number = [&](std::size_t i) { return std::strtoull(arguments[i].c_str(), nullptr, 10); };
        Batch const batch{number(1), number(2), number(3)};
        arguments.erase(arguments.begin(), arguments.begin() + 4);
        return batch;
    }

   private:
    std::string program_, arguments_;
};

struct CaseIndex {
    std::size_t group, number;
    auto operator<=>(CaseIndex const&) const = default;
};

CaseIndex index_of(std::vector<CaseGroup> const& groups, CaseGroup const& group, AttentionCase const& c) {
    return {static_cast<std::size_t>(&group - groups.data()), static_cast<std::size_t>(&c - group.cases.data())};
}

// The limits that refused each pass, empty where none did.
struct Refusal {
    std::string forward_limits, backward_limits;
};
using Refusals = std::map<CaseIndex, Refusal>;

std::vector<Batch> batches_of(Refusals const& refused) {
    std::vector<Batch> batches;
    for (auto const& [at, refusal] : refused) {
        Batch* const last = batches.empty() ? nullptr : &batches.back();
        bool const follows = last != nullptr && last->group == at.group && last->first + last->count == at.number;
        if (follows && last->count < kBatchSize) ++last->count;
        else batches.push_back({at.group, at.number, 1});
    }
    return batches;
}

// Runs the refused cases in processes that ignore limits; returns how many did not run.
std::size_t run_refused(std::vector<CaseGroup> const& groups, Refusals const& refused, Commands const& commands) {
    LimitTable table;
    std::size_t const left = run_in_processes(
        groups, batches_of(refused),
        [&](Batch const& batch) { return "SDPA_GRAPH_IGNORE_LIMITS=1 " + commands(batch); },
        [&](CaseGroup const& group, AttentionCase const& c, Outcome const& outcome) {
            Refusal const& one = refused.at(index_of(groups, group, c));
            if (!one.forward_limits.empty()) table.add(one.forward_limits, c, outcome.forward);
            if (!one.backward_limits.empty()) table.add(one.backward_limits, c, outcome.backward);
        });
    table.print();
    return left;
}

// Returns whether everything is as expected.
bool run_all(std::vector<CaseGroup> const& groups, std::vector<std::string> const& arguments,
             Commands const& commands) {
    Table table;
    Expectations expectations;
    Refusals refused;
    std::size_t left =
        run_in_processes(groups, batches_of(groups, kBatchSize), commands,
                         [&](CaseGroup const& group, AttentionCase const& c, Outcome const& outcome) {
                             CaseIndex const at = index_of(groups, group, c);
                             table.add(group, c, outcome);
                             expectations.compare(group.name, at.number, outcome);
                             Refusal const refusal{limits_of(outcome.forward), limits_of(outcome.backward)};
                             if (refusal.forward_limits.empty() && refusal.backward_limits.empty()) return;
                             refused[at] = refusal;
                         });
    std::vector<std::string> order;
    for (CaseGroup const& group : groups) order.push_back(group.name);
    int const unexpected = expectations.print(), failed = table.print(order);
    char const* const path = std::getenv("SDPA_GRAPH_GPU_RECORD");
    if (path != nullptr && left == 0) table.record(path, order);
    if (asks_for_limits(arguments)) left += run_refused(groups, refused, commands);
    if (left > 0) std::printf("STOPPED by a signal: %zu cases did not run\n", left);
    return failed == 0 && unexpected == 0 && left == 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    std::optional<Batch> const batch = Commands::batch_of(arguments);
    bool const asks_for_gpu = arguments.size() == 1 && arguments[0] == "gpu";
    auto const groups = asks_for_gpu ? std::vector<CaseGroup>() : chosen_groups(arguments);
    if (groups.empty() && !asks_for_gpu) {
        std::fputs("gpu_suite: no group has a name with that part, or no case was asked for: 300 or 1000-2000\n",
                   stderr);
        return 2;
    }
    if (batch) {
        // Every second batch runs as replays of recorded launches.
        cudnn_frontend::runtime::set_replay_after((batch->group + batch->first / kBatchSize) % 2 == 0 ? 0 : -1);
        run_batch(groups, *batch);
        return 0;
    }
    if (gpu_count() == 0) {
        std::puts("skipped: there is no GPU here");
        return 77;
    }
    if (asks_for_gpu) {
        std::printf("%s\n", describe_gpu().c_str());
        return 0;
    }
    std::fputs(cudnn_frontend::runtime::describe().c_str(), stdout);
    std::fflush(stdout);
    stop_on_signals();
    return run_all(groups, arguments, Commands(argv[0], arguments)) ? 0 : 1;
}
