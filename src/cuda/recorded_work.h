// The work in a CUDA graph as data: the arguments of its kernels and fills, and the order between them.
#pragma once

#include "core/result.h"

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cudnn_frontend::cuda {

struct Driver;

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
    // As the driver reads them, with pointers into the node's words.
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

}  // namespace cudnn_frontend::cuda
