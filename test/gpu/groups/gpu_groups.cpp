// Random attention shared by all GPUs of this machine, by NCCL, against the oracle.
//
//     gpu_groups [cases, such as 100 or 1000-2000 [seconds]]
//     gpu_groups recorded [cases [seconds]]   the same by CUDA graphs that record each rank's run, launched twice
//     gpu_groups count                        how many GPUs there are
//
// A case takes about a second, in which cuDNN compiles what its shapes need. So several processes plan side by side,
// and run one after the other. Once the seconds are over, the cases that are left do not run, which is no fault. Exits
// with 77 where there are fewer than two GPUs.
#include "gpu/case_processes.h"
#include "gpu/cases/random_gpu_case.h"
#include "gpu/device_mirror.h"
#include "reference/cases/group_cases.h"
#include "reference/checks/check_case.h"

#include <cuda_runtime_api.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace sdpa_test;
using cudnn_frontend::error_t;
using sdpa_graph::Group;

constexpr int kSkipped = 77;
constexpr std::uint64_t kSeed = 977;
// The program's own file, which its processes lock: kernels of two groups that share GPUs could wait for each other.
class Turn {
   public:
    Turn() : file_(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)) { flock(file_, LOCK_EX); }
    ~Turn() { close(file_); }
    Turn(Turn const&) = delete;
    Turn& operator=(Turn const&) = delete;

   private:
    int file_;
};

// A rank for each GPU, in one communicator for all cases of a process until one of them breaks it.
class Gpus final : public GroupPlaces {
   public:
    Gpus(int count, RunOn queue) : queue_(queue) {
        for (int device = 0; device < count; ++device) {
            cudaSetDevice(device);
            streams_.push_back(std::make_unique<GpuStream>());
        }
    }

    error_t make_members(std::vector<Group>& members) override {
        bool is_usable = !members_.empty();
        for (Group const& member : members_) is_usable = is_usable && member.check().is_good();
        if (!is_usable) {
            members_.assign(streams_.size(), Group());
            sdpa_graph::Nccl_id id;
            if (error_t error = Group::make_nccl_id(id); error.is_bad()) return error;
            std::vector<error_t> errors(streams_.size());
            on_all_ranks(static_cast<int>(streams_.size()), [&](int rank) {
                enter(rank);
                auto const index = static_cast<std::size_t>(rank);
                errors[index] = Group::of_nccl(id, rank, static_cast<int>(streams_.size()), {60000}, members_[index]);
            });
            for (error_t const& error : errors) {
                if (error.is_bad()) return error;
            }
        }
        members = members_;
        return {};
    }
    void enter(int rank) override { cudaSetDevice(rank); }
    std::shared_ptr<void> take_turn() override { return std::make_shared<Turn>(); }
    Target target(int rank) override { return Target::cuda(stream(rank).handle()); }
    error_t execute(int rank, Graph const& graph, std::vector<RankTensor> const& tensors) override {
        DeviceMirror mirror;
        std::map<std::int64_t, void*> pack;
        for (RankTensor const& tensor : tensors)
            pack[tensor.uid] = tensor.is_by_value ? tensor.memory.data() : mirror.address(tensor.memory);
        // A rank may be gone: the group waits until its deadline at most.
        auto const wait = [&] { return members_[static_cast<std::size_t>(rank)].wait_for(stream(rank).stream()); };
        return execute_in_mirror(graph, pack, mirror, stream(rank), queue_, wait);
    }
    // The first stream that could not be made has an error.
    error_t status() const {
        for (auto const& stream : streams_) {
            if (stream->status().is_bad()) return stream->status();
        }
        return {};
    }

   private:
    GpuStream const& stream(int rank) const { return *streams_[static_cast<std::size_t>(rank)]; }

    RunOn queue_;
    std::vector<std::unique_ptr<GpuStream>> streams_;
    std::vector<Group> members_;
};

// Groups and cuDNN refuse by rules, and cuDNN for lack of an engine. Empty for other errors.
std::string refusal_of(error_t const& error) {
    bool const names_rule = error.err_msg.find("[group.c") != std::string::npos;
    bool const is_of_kernels = error.code == cudnn_frontend::error_code_t::GRAPH_NOT_SUPPORTED;
    return error.is_bad() && (names_rule || is_of_kernels) ? error.get_message() : "";
}

// A random case, and how the ranks share it.
struct SharedCase {
    SharedCase(std::uint64_t number, int ranks)
        : random(kSeed + 104729 * number), c(group_case(random_gpu_case(number), random)) {
        if (std::min(queries_of(c), keys_of(c)) >= ranks) setup = group_setup(c, ranks, random);
    }

    Random random;
    AttentionCase c;
    std::optional<GroupSetup> setup;  // none: a rank would have no tokens
};

// A session is one of the CPU target, which writes dropout's mask for the oracle.
Outcome run(Gpus& gpus, AttentionCase const& c, GroupSetup setup) {
    setup.places = &gpus;
    Rig rig(Target::cpu());
    rig.rounds_factors = true;
    rig.defines_padded_rows = false;
    rig.joins_parts = true;
    rig.parts += parts_of(setup);
    std::vector<std::string> refusals;
    rig.execute = [&](Session const& session) {
        error_t error = c.rng_dump ? session.execute() : error_t();
        if (error.is_good()) error = run_in_group(session, setup);
        refusals.push_back(refusal_of(error));
        return error;
    };
    Outcome outcome = check_case(c, rig);
    std::array const passes{&outcome.forward, &outcome.backward};
    for (std::size_t i = 0; i < refusals.size(); ++i) {
        if (refusals[i].empty()) continue;
        passes.at(i)->refusal = refusals[i];
        passes.at(i)->faults.clear();
    }
    return outcome;
}

// The numbers of the range whose cases all ranks have tokens of.
std::vector<std::uint64_t> numbers_of(CaseRange const& range, int ranks) {
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t number = range.first; number < range.end; ++number) {
        if (SharedCase(number, ranks).setup) numbers.push_back(number);
    }
    return numbers;
}

// Runs in a process of its own, and prints an outcome for each of the numbers.
int run_numbers(int ranks, RunOn queue, char** first, char** end) {
    Gpus gpus(ranks, queue);
    for (char** number = first; number != end; ++number) {
        Outcome outcome;
        outcome.forward.faults = gpus.status().get_message();
        SharedCase const shared(std::strtoull(*number, nullptr, 10), ranks);
        if (gpus.status().is_good()) outcome = run(gpus, shared.c, shared.setup.value());
        print_outcome(outcome);
        for (int device = 0; device < ranks; ++device) {
            cudaSetDevice(device);
            if (cudaDeviceSynchronize() != cudaSuccess) return 1;
        }
    }
    return 0;
}

// Counts passes, and prints them from time to time.
class Totals {
   public:
    explicit Totals(std::size_t all) : all_(all) {}

    void add(std::uint64_t number, AttentionCase const& c, Outcome const& outcome) {
        add("forward", number, c, outcome.forward, forward_);
        add("backward", number, c, outcome.backward, backward_);
        ++cases_;
        auto const now = Clock::now();
        if (cases_ % kCasesOfLine != 0 && now - printed_ < kTimeOfLine) return;
        printed_ = now;
        auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(now - begin_).count();
        std::printf("%zu of %zu cases after %lld s: ", cases_, all_, static_cast<long long>(seconds));
        print();
    }
    void print() const {
        std::printf("%d forward and %d backward passes right, %d refused, %d wrong\n", forward_.right, backward_.right,
                    forward_.refused + backward_.refused, wrong());
        std::fflush(stdout);
    }
    bool is_good() const { return wrong() == 0 && forward_.right > 0; }

   private:
    using Clock = std::chrono::steady_clock;
    struct Counts {
        int right = 0, refused = 0, wrong = 0;
    };
    static constexpr std::size_t kCasesOfLine = 10;
    static constexpr std::chrono::seconds kTimeOfLine{10};
    static constexpr int kMostFaultsPrinted = 20;

    int wrong() const { return forward_.wrong + backward_.wrong; }

    static void add(char const* name, std::uint64_t number, AttentionCase const& c, PassOutcome const& pass,
                    Counts& counts) {
        if (pass.ran && pass.faults.empty()) {
            ++counts.right;
        } else if (!pass.faults.empty()) {
            if (++counts.wrong > kMostFaultsPrinted) return;
            std::printf("case %llu, %s: %s\n  %s\n", static_cast<unsigned long long>(number), name, describe(c).c_str(),
                        pass.faults.c_str());
            std::fflush(stdout);
        } else if (!pass.refusal.empty()) {
            ++counts.refused;
        }
    }

    std::size_t all_, cases_ = 0;
    Counts forward_, backward_;
    Clock::time_point begin_ = Clock::now(), printed_ = begin_;
};

// Whether nothing was wrong.
bool run_all(std::string const& program, RunOn queue, std::vector<std::uint64_t> const& numbers, int ranks) {
    constexpr std::size_t kMostCasesOfProcess = 24;
    unsigned const processes = std::max(1u, all_cores() / static_cast<unsigned>(ranks));  // a rank plans in a thread
    std::vector<CaseGroup> groups{{"groups", {}}};
    for (std::uint64_t const number : numbers) groups[0].cases.push_back(SharedCase(number, ranks).c);
    auto const command = [&](Batch const& batch) {
        std::string text = program + (queue == RunOn::Recording ? " recorded run" : " run");
        for (std::size_t i = 0; i < batch.count; ++i) text += " " + std::to_string(numbers[batch.first + i]);
        return text;
    };
    Totals totals(numbers.size());
    auto const add = [&](CaseGroup const& group, AttentionCase const& c, Outcome const& outcome) {
        totals.add(numbers[static_cast<std::size_t>(&c - group.cases.data())], c, outcome);
    };
    // Two for each process, since some cases take longer than others.
    std::size_t const batch = std::clamp<std::size_t>(numbers.size() / processes / 2, 1, kMostCasesOfProcess);
    std::size_t const left = run_in_processes(groups, batches_of(groups, batch), command, add, processes);
    if (left > 0) std::printf("%zu cases did not run for lack of time\n", left);
    std::printf("%sattention by %d GPUs: ", queue == RunOn::Recording ? "recorded " : "", ranks);
    totals.print();
    return totals.is_good();
}

}  // namespace

int main(int argc, char** argv) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2) {
        std::puts("there are fewer than two GPUs");
        return kSkipped;
    }
    if (argc > 1 && std::string_view(argv[1]) == "count") {
        std::printf("%d\n", count);
        return 0;
    }
    bool const is_recorded = argc > 1 && std::string_view(argv[1]) == "recorded";
    RunOn const queue = is_recorded ? RunOn::Recording : RunOn::Handle;
    char** const words = argv + (is_recorded ? 2 : 1);
    auto const word_count = argv + argc - words;
    if (word_count > 0 && std::string_view(words[0]) == "run") return run_numbers(count, queue, words + 1, argv + argc);
    auto const range = case_range(word_count > 0 ? words[0] : "100");
    int const seconds = word_count > 1 ? std::atoi(words[1]) : 0;
    if (!range || (word_count > 1 && seconds <= 0)) {
        std::fputs("gpu_groups: expected a number of random cases, or a range such as 1000-2000, and seconds\n",
                   stderr);
        return 2;
    }
    if (seconds > 0) stop_after(static_cast<unsigned>(seconds));
    return run_all(argv[0], queue, numbers_of(*range, count), count) ? 0 : 1;
}
