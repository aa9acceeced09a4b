// Launches that repeat recorded work on other memory. A library that launches kernels computes their arguments anew
// each time; a replay changes only the addresses in them, and launches all of them with one call of the driver.
#pragma once

#include "core/result.h"

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace cudnn_frontend::cuda {

struct Driver;

// The work in a CUDA graph as data: the arguments of its kernels and fills, and the order between them.

// An argument of a kernel: where it is in the node's words.
struct KernelArgument {
    std::size_t first_word, bytes;

    friend bool operator==(KernelArgument const&, KernelArgument const&) = default;
};

struct RecordedNode {
    CUgraphNode source = nullptr;  // in the recording
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    CUDA_KERNEL_NODE_PARAMS kernel{};  // without its arguments
    CUDA_MEMSET_NODE_PARAMS fill{};    // without its address
    std::vector<KernelArgument> arguments;
    std::vector<std::uint64_t> words;  // the arguments, or the fill's address
    std::vector<std::size_t> after;    // the nodes for which it waits, all before it
};

using RecordedWork = std::vector<RecordedNode>;

// The graphs within the graph are resolved into their nodes. An error for other nodes than kernels, fills and empty
// ones, and where the driver does not report the arguments of kernels.
Result<RecordedWork> read_work(CUgraph graph);

// The same kernels and fills in the same order, whatever the words.
bool is_same_but_for_words(RecordedWork const& one, RecordedWork const& other);

// A copy of recorded work that can be launched, and whose words can be changed between launches.
class WorkInstance {
   public:
    static Result<std::unique_ptr<WorkInstance>> make(RecordedWork work);
    WorkInstance() = default;
    WorkInstance(WorkInstance const&) = delete;
    WorkInstance& operator=(WorkInstance const&) = delete;
    ~WorkInstance();

    RecordedWork const& work() const { return work_; }
    CUcontext context() const { return context_; }
    void set_word(std::size_t node, std::size_t word, std::uint64_t value) { work_[node].words[word] = value; }
    // Later launches have the node's words as they are now.
    error_t update(std::size_t node);
    error_t launch(CUstream stream) const;

   private:
    // The parameters as the driver reads them, with pointers into the node's words.
    struct KernelParameters {
        std::vector<void*> pointers;
        CUDA_KERNEL_NODE_PARAMS all;
    };
    static KernelParameters parameters_of(RecordedNode& node);
    CUresult add(Driver const& cuda, std::size_t number, std::vector<CUgraphNode> const& after);

    RecordedWork work_;
    std::vector<KernelParameters> parameters_;
    std::vector<CUgraphNode> nodes_;
    CUcontext context_ = nullptr;
    CUgraph graph_ = nullptr;
    CUgraphExec instance_ = nullptr;
};

// The memory of a launch.
struct LaunchMemory {
    std::span<void* const> pointers;
    void* workspace = nullptr;
};

// Records the launch on this memory into an empty CUDA graph.
using RecordLaunch = std::function<error_t(LaunchMemory const& memory, CUgraph graph)>;

// An address in recorded work: a word that is always so many bytes behind a pointer of the launch's.
struct AddressPlace {
    std::size_t node, word, pointer;
    std::uint64_t offset;

    friend bool operator==(AddressPlace const&, AddressPlace const&) = default;
};

// The places of addresses, from the same launch recorded on two sets of pointers, whose distances from each other all
// differ. An error if a difference between the recordings is no such address.
Result<std::vector<AddressPlace>> find_addresses(RecordedWork const& one, std::span<std::uint64_t const> of_one,
                                                 RecordedWork const& other, std::span<std::uint64_t const> of_other);

// Work whose addresses are known: recorded twice to find them, and twice more to verify that they are all, the last
// time on the launch's own memory.
class Replay {
   public:
    // An error says why the launch cannot be replayed.
    static Result<std::unique_ptr<Replay>> make(LaunchMemory const& memory, RecordLaunch const& record);

    // Whether it ran; the launch has to be made without it where it did not. An error if that will not change.
    Result<bool> launch(LaunchMemory const& memory, CUstream stream, RecordLaunch const& record);
    // The context in which it was recorded.
    CUcontext context() const { return instance_->context(); }

   private:
    Replay(std::unique_ptr<WorkInstance> instance, std::vector<AddressPlace> places,
           std::vector<std::uint64_t> addresses);

    void move_to(LaunchMemory const& memory, void* workspace);
    // Fills in a workspace have to be in real memory, so that addresses in it are found once there is a second one.
    error_t learn_workspace(LaunchMemory const& memory, RecordLaunch const& record);
    bool is_verified(std::uint64_t workspace) const;

    std::unique_ptr<WorkInstance> instance_;
    std::vector<AddressPlace> places_;
    std::vector<std::uint64_t> addresses_;  // of the pointers, then of the workspace
    std::vector<char> is_stale_;            // of each node: whether the instance was not given its words yet
    int verified_workspaces_ = 1;
    std::uint64_t verified_alignment_ = std::uint64_t{1} << 63;  // which all their distances have
};

// The replay of a launch that is made again and again. Threads that launch at once do not share it: the second one
// launches without it, as does one on another stream than most, since the launches of an instance wait for each other.
class KeptReplay {
   public:
    KeptReplay();
    KeptReplay(KeptReplay const&) = delete;
    KeptReplay& operator=(KeptReplay const&) = delete;
    ~KeptReplay();

    // Whether it ran. The first launches do not: a replay takes the time of about 20 launches to make.
    bool launch(LaunchMemory const& memory, CUstream stream, RecordLaunch const& record);

   private:
    struct State;

    std::atomic<State*> state_;
};

}  // namespace cudnn_frontend::cuda
