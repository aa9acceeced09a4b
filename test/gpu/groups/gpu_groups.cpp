// Random attention shared by all GPUs of this machine, by NCCL, against the oracle.
//
//     gpu_groups [cases, such as 100 or 1000-2000]
//
// A case takes about a second: its shapes are new to cuDNN. Exits with 77 where there are fewer than two GPUs.
#include "gpu/cases/random_gpu_case.h"
#include "gpu/device_mirror.h"
#include "reference/cases/group_cases.h"
#include "reference/checks/check_case.h"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <memory>

namespace {

using namespace sdpa_test;
using cudnn_frontend::error_t;
using sdpa_graph::Group;

constexpr int kSkipped = 77;
constexpr std::uint64_t kSeed = 977;
constexpr int kMostFaultsPrinted = 20;

// A rank for each GPU, in one communicator for all cases until one of them breaks it.
class Gpus final : public GroupPlaces {
   public:
    explicit Gpus(int count) {
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
                errors[index] = Group::of_nccl(id, rank, static_cast<int>(streams_.size()), {20000}, members_[index]);
            });
            for (error_t const& error : errors) {
                if (error.is_bad()) return error;
            }
        }
        members = members_;
        return {};
    }
    void enter(int rank) override { cudaSetDevice(rank); }
    Target target(int rank) override { return Target::cuda(stream(rank).handle()); }
    error_t execute(int rank, Graph const& graph, std::vector<RankTensor> const& tensors) override {
        DeviceMirror mirror;
        std::map<std::int64_t, void*> pack;
        for (RankTensor const& tensor : tensors)
            pack[tensor.uid] = tensor.is_by_value ? tensor.memory.data() : mirror.address(tensor.memory);
        // A rank may be gone: the group waits until its deadline at most.
        auto const wait = [&] { return members_[static_cast<std::size_t>(rank)].wait_for(stream(rank).stream()); };
        return execute_in_mirror(graph, pack, mirror, stream(rank), RunOn::Handle, wait);
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

    std::vector<std::unique_ptr<GpuStream>> streams_;
    std::vector<Group> members_;
};

struct Counts {
    int right = 0, refused = 0, wrong = 0;
};

// Groups and cuDNN refuse by rules, and cuDNN for lack of an engine. Empty for other errors.
std::string refusal_of(error_t const& error) {
    bool const names_rule = error.err_msg.find("[group.c") != std::string::npos;
    bool const is_of_kernels = error.code == cudnn_frontend::error_code_t::GRAPH_NOT_SUPPORTED;
    return error.is_bad() && (names_rule || is_of_kernels) ? error.get_message() : "";
}

void add(char const* pass, std::uint64_t number, AttentionCase const& c, PassOutcome const& outcome,
         std::string const& refusal, Counts& counts) {
    if (!refusal.empty()) {
        ++counts.refused;
    } else if (outcome.ran && outcome.faults.empty()) {
        ++counts.right;
    } else if (++counts.wrong <= kMostFaultsPrinted) {
        std::printf("case %llu, %s: %s\n  %s%s\n", static_cast<unsigned long long>(number), pass, describe(c).c_str(),
                    outcome.refusal.c_str(), outcome.faults.c_str());
        std::fflush(stdout);
    }
}

struct CaseRun {
    std::vector<std::string> refusals;  // of each pass, empty where it ran
    Outcome outcome;
};

// A session is one of the CPU target, which writes dropout's mask for the oracle.
CaseRun run(Gpus& gpus, int count, AttentionCase const& c, Random& random) {
    GroupSetup setup = group_setup(c, count, random);
    setup.places = &gpus;
    Rig rig(Target::cpu());
    rig.rounds_factors = true;
    rig.defines_padded_rows = false;
    rig.joins_parts = true;
    rig.parts += parts_of(setup);
    CaseRun result;
    rig.execute = [&](Session const& session) {
        error_t error = c.rng_dump ? session.execute() : error_t();
        if (error.is_good()) error = run_in_group(session, setup);
        result.refusals.push_back(refusal_of(error));
        return error;
    };
    result.outcome = check_case(c, rig);
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2) {
        std::puts("there are fewer than two GPUs");
        return kSkipped;
    }
    auto const range = case_range(argc > 1 ? argv[1] : "100");
    if (!range) {
        std::fputs("gpu_groups: expected a number of random cases, or a range such as 1000-2000\n", stderr);
        return 2;
    }
    Gpus gpus(count);
    if (gpus.status().is_bad()) {
        std::fprintf(stderr, "%s\n", gpus.status().get_message().c_str());
        return 1;
    }
    Counts forward, backward;
    for (std::uint64_t number = range->first; number < range->end; ++number) {
        Random random(kSeed + 104729 * number);
        AttentionCase const c = group_case(random_gpu_case(number), random);
        if (std::min(queries_of(c), keys_of(c)) < count) continue;
        auto const [refusals, outcome] = run(gpus, count, c, random);
        if (!refusals.empty()) add("forward", number, c, outcome.forward, refusals[0], forward);
        if (refusals.size() > 1) add("backward", number, c, outcome.backward, refusals[1], backward);
    }
    std::printf("attention by %d GPUs: %d forward and %d backward passes right, %d refused, %d wrong\n", count,
                forward.right, backward.right, forward.refused + backward.refused, forward.wrong + backward.wrong);
    return forward.wrong + backward.wrong == 0 && forward.right > 0 ? 0 : 1;
}
