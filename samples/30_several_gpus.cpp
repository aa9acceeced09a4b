// One attention computed by several ranks, each with its part of a sequence: GPUs by NCCL, or threads on a CPU target.
//   ./run sample 30_several_gpus [--target cpu|reference|cuda]        all ranks in one process; cuda: each GPU is one
//   ./run sample 30_several_gpus --rank 0 --of 2 --id /tmp/group_id   a process for each GPU, this one for GPU 0
#include "support.h"

#include <sdpa_graph/group.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <thread>

namespace fe = cudnn_frontend;
using samples::Index;
using sdpa_graph::Group;
using Half = fe::bfloat16;

namespace {

constexpr Index kTokens = 509, kHeads = 8, kKeyHeads = 2, kDepth = 64;  // no number of ranks divides the tokens
constexpr float kScale = 0.125f;

enum Uid : Index { Q = 1, K, V, O, Stats, DO, DQ, DK, DV };
constexpr std::array<Uid, 5> kResults = {O, Stats, DQ, DK, DV};
char const* const kNames[] = {"", "Q", "K", "V", "O", "Stats", "dO", "dQ", "dK", "dV"};

bool is_of_keys(Index uid) { return uid == K || uid == V || uid == DK || uid == DV; }
samples::Layout layout_of(Index uid, Index tokens) {
    return samples::bshd(1, is_of_keys(uid) ? kKeyHeads : kHeads, tokens, uid == Stats ? 1 : kDepth);
}
fe::DataType_t type_of(Index uid) { return uid == Stats ? fe::DataType_t::FLOAT : fe::DataType_t::BFLOAT16; }

// All tensors of so many tokens in the host's memory.
struct Tensors {
    Index tokens;
    std::map<Index, std::vector<char>> bytes = {};

    explicit Tensors(Index count) : tokens(count) {
        for (Index uid = Q; uid <= DV; ++uid) {
            bytes[uid].resize(layout_of(uid, tokens).volume() * (uid == Stats ? sizeof(float) : sizeof(Half)));
        }
    }
    sdpa_graph::Tensor_view view(Index uid) {
        samples::Layout const layout = layout_of(uid, tokens);
        return {bytes[uid].data(), layout.dim, layout.stride, type_of(uid), sdpa_graph::Device_kind::CPU};
    }
    std::vector<double> numbers(Index uid) {
        samples::Layout const layout = layout_of(uid, tokens);
        if (uid == Stats) return dense(samples::View<float>{layout, reinterpret_cast<float*>(bytes[uid].data())});
        return dense(samples::View<Half>{layout, reinterpret_cast<Half*>(bytes[uid].data())});
    }
    samples::Uid_pack pack() {
        samples::Uid_pack all;
        for (auto& [uid, memory] : bytes) all[uid] = memory.data();
        return all;
    }
};

// The same two graphs describe a whole attention, and a rank's part of one.
struct Training {
    fe::graph::Graph forward, backward;

    explicit Training(Index tokens) {
        for (fe::graph::Graph* const graph : {&forward, &backward})
            samples::set_types(*graph, fe::DataType_t::BFLOAT16);
        auto const input = [tokens](fe::graph::Graph& graph, Uid uid) {
            return graph.tensor(
                samples::describe(kNames[uid], layout_of(uid, tokens)).set_uid(uid).set_data_type(type_of(uid)));
        };
        auto const output = [tokens](samples::Tensor const& tensor, Uid uid) {
            samples::Layout const layout = layout_of(uid, tokens);
            tensor->set_output(true).set_uid(uid).set_dim(layout.dim).set_stride(layout.stride);
            tensor->set_data_type(type_of(uid));
        };
        auto options = fe::graph::SDPA_attributes().set_name("forward").set_attn_scale(kScale).set_causal_mask(true);
        auto const [o, stats] =
            forward.sdpa(input(forward, Q), input(forward, K), input(forward, V), options.set_generate_stats(true));
        output(o, O);
        output(stats, Stats);
        auto const [dQ, dK, dV] = backward.sdpa_backward(
            input(backward, Q), input(backward, K), input(backward, V), input(backward, O), input(backward, DO),
            input(backward, Stats),
            fe::graph::SDPA_backward_attributes().set_name("backward").set_attn_scale(kScale).set_causal_mask(true));
        output(dQ, DQ);
        output(dK, DK);
        output(dV, DV);
    }
};

// The whole attention in one process: what the ranks have to compute together.
Tensors compute_alone() {
    Tensors whole(kTokens);
    for (Uid const uid : {Q, K, V, DO}) {
        auto const numbers = samples::random<Half>(layout_of(uid, kTokens).volume(), unsigned(uid));
        std::memcpy(whole.bytes[uid].data(), numbers.data(), whole.bytes[uid].size());
    }
    Training training(kTokens);
    for (fe::graph::Graph* const graph : {&training.forward, &training.backward}) {
        samples::require(graph->build(fe::Target::cpu()));
        samples::run(fe::Target::cpu(), *graph, whole.pack());
    }
    return whole;
}

// One rank: its shards, its graphs, and how far its results are from the rows of the whole.
class Rank {
   public:
    Rank(Group const& group, Tensors& whole)
        : group_(group),
          layout_(sdpa_graph::Layout::head_tail(kTokens, group.size())),
          part_(layout_.count_of(group.rank())),
          expected_(part_.tokens),
          training_(part_.tokens) {
        for (Index uid = Q; uid <= DV; ++uid) {
            samples::require(layout_.shard(whole.view(uid), 2, group_.rank(), expected_.view(uid)));
        }
        for (Uid const uid : {Q, K, V, DO}) part_.bytes[uid] = expected_.bytes[uid];
    }

    void build(fe::Target const& target) {
        for (fe::graph::Graph* const graph : {&training_.forward, &training_.backward}) {
            graph->set_group(group_, layout_);
            samples::require(graph->build(target));
        }
    }
    void run_on_host() {
        for (fe::graph::Graph* const graph : {&training_.forward, &training_.backward}) {
            std::vector<char> workspace(static_cast<std::size_t>(graph->get_workspace_size()));
            samples::require(graph->execute(part_.pack(), workspace.data()));
        }
    }
#if SAMPLES_HAVE_CUDA
    void run_on_gpu(samples::Gpu const& gpu) {
        samples::Uid_pack pack;
        std::vector<samples::Mirror> mirrors;
        mirrors.reserve(DV);
        for (auto& [uid, memory] : part_.bytes) {
            mirrors.emplace_back(memory.data(), memory.size());
            pack[uid] = mirrors.back().device.data();
        }
        for (fe::graph::Graph* const graph : {&training_.forward, &training_.backward}) {
            samples::GpuArray<char> const workspace(static_cast<std::size_t>(graph->get_workspace_size()));
            samples::require(graph->execute(gpu.handle(), pack, workspace.data()));
            samples::require(group_.wait_for(gpu.stream()));  // an error within the deadline, if a rank is gone
        }
        for (samples::Mirror const& mirror : mirrors) mirror.copy_back();
    }
#endif
    double error_of(Uid uid) { return samples::worst_error(part_.numbers(uid), expected_.numbers(uid)); }

   private:
    Group group_;
    sdpa_graph::Layout layout_;
    Tensors part_, expected_;
    Training training_;
};

using Errors = std::array<double, kResults.size()>;

Errors errors_of(Rank& rank) {
    Errors errors{};
    for (std::size_t i = 0; i < errors.size(); ++i) errors[i] = rank.error_of(kResults[i]);
    return errors;
}

// Runs each rank in a thread of its own.
template <class Body>
int run_all(int ranks, std::string const& where, Body const& body) {
    std::printf("30_several_gpus: %d tokens, %d/%d heads, causal, by %s\n", int(kTokens), int(kHeads), int(kKeyHeads),
                where.c_str());
    Tensors whole = compute_alone();
    std::vector<Errors> errors(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] { errors[static_cast<std::size_t>(rank)] = body(rank, whole); });
    }
    for (std::thread& thread : threads) thread.join();
    samples::Checks checks;
    for (std::size_t i = 0; i < kResults.size(); ++i) {
        double worst = 0.0;
        for (Errors const& own : errors) worst = std::fmax(worst, own[i]);
        std::string const claim = std::string(kNames[kResults[i]]) + " is that of one process";
        checks.expect(claim.c_str(), worst <= 3.0 * samples::tolerance<Half>(kTokens));
    }
    return checks.exit_code();
}

int run_threads(fe::Target const& target) {
    constexpr int kRanks = 4;
    std::vector<Group> members;
    samples::require(Group::of_threads(kRanks, {}, members));
    return run_all(kRanks, std::to_string(kRanks) + " threads on the target " + fe::to_string(target.kind()),
                   [&](int index, Tensors& whole) {
                       Rank rank(members[static_cast<std::size_t>(index)], whole);
                       rank.build(target);
                       rank.run_on_host();
                       return errors_of(rank);
                   });
}

#if SAMPLES_HAVE_CUDA

Errors run_gpu(int device, Group const& group, Tensors& whole) {
    samples::Gpu const gpu;
    Rank rank(group, whole);
    rank.build(fe::Target::cuda(gpu.handle()));
    rank.run_on_gpu(gpu);
    std::printf("  rank %d, GPU %d, is done\n", group.rank(), device);
    return errors_of(rank);
}

// All GPUs of this process.
int run_gpus() {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) samples::skip("there are no two GPUs here");
    sdpa_graph::Nccl_id id;
    samples::require(Group::make_nccl_id(id));
    return run_all(devices, std::to_string(devices) + " GPUs of one process", [&](int device, Tensors& whole) {
        samples::require(cudaSetDevice(device));
        Group group;
        samples::require(Group::of_nccl(id, device, devices, {}, group));
        return run_gpu(device, group, whole);
    });
}

// The GPU of this process.
int run_process(int rank, int ranks, std::string const& id_file) {
    if (!samples::has_gpu()) samples::skip("there is no GPU here");
    return run_all(1, std::to_string(ranks) + " processes, each with a GPU", [&](int, Tensors& whole) {
        samples::require(cudaSetDevice(rank));
        Group group;
        samples::require(Group::of_nccl_file(id_file, rank, ranks, {}, group));
        return run_gpu(rank, group, whole);
    });
}

#else

int run_gpus() { samples::skip("the samples were built without the CUDA toolkit"); }
int run_process(int, int, std::string const&) { return run_gpus(); }

#endif

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> const words(argv + 1, argv + argc);
    if (words.size() == 6 && words[0] == "--rank" && words[2] == "--of" && words[4] == "--id") {
        return run_process(std::atoi(words[1].c_str()), std::atoi(words[3].c_str()), words[5]);
    }
    bool const is_on_gpus = words.size() == 2 && words[0] == "--target" && words[1] == "cuda";
    return is_on_gpus ? run_gpus() : run_threads(samples::target_from(argc, argv));
}
