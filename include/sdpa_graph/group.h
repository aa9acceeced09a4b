// Ranks that compute one attention together, each for the tokens that it owns: GPUs that exchange data by NCCL, or
// threads of one process on CPU targets. docs/several-gpus.md.
#pragma once

#include "tensor_view.h"

#include <cudnn_frontend/export.h>
#include <cudnn_frontend/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct ncclComm;  // what ncclComm_t points to
struct CUstream_st;

namespace cudnn_frontend::group {
class Transport;
}

namespace sdpa_graph {

namespace detail {
struct Group_access;
}

struct Group_limits {
    // How long a rank waits for the others before it gives the group up. With NCCL it also bounds how long connecting
    // may take.
    std::int64_t deadline_milliseconds = 60000;
};

// NCCL's name for a group that is about to be made: rank 0 makes it, and all ranks need it.
struct Nccl_id {
    char bytes[128] = {};
};

// How long a rank waited for an exchange: from the end of all work before it to its own end.
struct Exchange_time {
    std::string content;  // such as keys and values of all heads
    double exposed_milliseconds = 0.0;
    std::int64_t received_bytes = 0;
};

// One rank's membership in a group. Copies are the same membership, which ends with the last copy. Graphs with it run
// from one thread at a time, and all ranks run the same graphs in the same order. Once a rank failed or was late, every
// call of every rank is an error, which says why: make another group.
class SDPA_GRAPH_API Group {
   public:
    Group() = default;  // no rank of any group

    // A group of as many threads of this process, for CPU targets: one membership for each.
    static cudnn_frontend::error_t of_threads(int size, Group_limits const& limits,
                                              std::vector<Group>& members) noexcept;
    // Plans for a rank that need not be here. It cannot run.
    static cudnn_frontend::error_t described(int rank, int size, Group& member) noexcept;

    // Loads NCCL, libnccl.so.2, and makes an id.
    static cudnn_frontend::error_t make_nccl_id(Nccl_id& id) noexcept;
    // A group of GPUs. Every rank makes its own with the same id, for the device that is current, and waits for all.
    static cudnn_frontend::error_t of_nccl(Nccl_id const& id, int rank, int size, Group_limits const& limits,
                                           Group& member) noexcept;
    // The same with an id that rank 0 writes to a file that does not exist yet and all ranks can read.
    static cudnn_frontend::error_t of_nccl_file(std::string const& path, int rank, int size, Group_limits const& limits,
                                                Group& member) noexcept;
    // A communicator of the program's, which has to outlive the group.
    static cudnn_frontend::error_t adopt_nccl(ncclComm* communicator, Group_limits const& limits,
                                              Group& member) noexcept;

    int rank() const noexcept;  // -1 without a group
    int size() const noexcept;

    // Whether the group still works. With NCCL, it looks for errors of work on the GPU.
    cudnn_frontend::error_t check() const noexcept;
    // Waits until the stream's work is done, at most until the deadline. A rank that is late, or an error of NCCL, ends
    // the group in place of a wait for ever.
    cudnn_frontend::error_t wait_for(CUstream_st* stream) const noexcept;
    // Whether later runs measure their exchanges. On a GPU that records two events for each.
    cudnn_frontend::error_t measure(bool is_on) const noexcept;
    // The exchanges of the last measured run, in the order of their ends. On a GPU they are there once its work is
    // done.
    cudnn_frontend::error_t exchange_times(std::vector<Exchange_time>& times) const noexcept;
    // Ends the group: ranks that wait get an error with the reason.
    void give_up(std::string const& reason) const noexcept;

   private:
    friend struct detail::Group_access;
    std::shared_ptr<cudnn_frontend::group::Transport> transport_;
};

// Consecutive tokens of a sequence.
struct Token_range {
    std::int64_t first = 0, count = 0;
};

// Which tokens of a sequence each rank owns. A rank's tensors hold its tokens in the order of its ranges. All batch
// entries are split alike.
class SDPA_GRAPH_API Layout {
   public:
    Layout() = default;  // of no rank
    // One range for each rank, in order. Lengths differ by one at most.
    static Layout contiguous(std::int64_t length, int ranks);
    // Two ranges for each rank, one from the start and one from the end: with a causal mask all ranks have the same
    // work. Of 2 * ranks chunks in order, rank r owns chunks r and 2 * ranks - 1 - r.
    static Layout head_tail(std::int64_t length, int ranks);
    // One range for each rank, in order, cut so that all ranks have about as many pairs of a query and a key that is
    // visible to it. For windows and packed documents: the first queries of each see fewer keys. The lengths are those
    // of documents one after the other, or of one sequence, with as many keys as queries. Query i sees the keys from
    // i - left_bound + 1 to i + right_bound of its document, without a bound all on that side.
    static Layout balanced(std::vector<std::int64_t> const& lengths, int ranks,
                           std::optional<std::int64_t> left_bound = {}, std::optional<std::int64_t> right_bound = {});
    // Any ranges, for each rank a list.
    static Layout of(std::vector<std::vector<Token_range>> ranges);

    int ranks() const noexcept { return static_cast<int>(ranges_.size()); }
    std::int64_t length() const noexcept;  // of the whole sequence
    // A rank that does not exist has no ranges. Ranges that follow each other are one, and none is empty.
    std::vector<Token_range> const& ranges_of(int rank) const noexcept;
    std::int64_t count_of(int rank) const noexcept;
    // The place of each token of the rank in the whole sequence: for rotary embeddings, labels and loaders.
    std::vector<std::int64_t> positions_of(int rank) const;

    // Copies the rank's tokens between a tensor of the whole sequence and one of the rank's, both in the host's memory;
    // `dim` is that of the tokens.
    cudnn_frontend::error_t shard(Tensor_view const& whole, std::size_t dim, int rank,
                                  Tensor_view const& part) const noexcept;
    cudnn_frontend::error_t unshard(Tensor_view const& part, std::size_t dim, int rank,
                                    Tensor_view const& whole) const noexcept;

   private:
    std::vector<std::vector<Token_range>> ranges_;
};

// How ranks get what other ranks own. GATHER: each gets the keys and values that its queries see. ALL_TO_ALL: each gets
// all tokens of some heads. RING: keys and values go from rank to rank, so that a rank holds those of two at most.
// AUTO: the one that is expected to take least.
enum class Group_way { AUTO, GATHER, ALL_TO_ALL, RING };

struct Group_options {
    Group_way way = Group_way::AUTO;
    // GATHER in so many stages of heads: a stage's keys and values arrive behind the kernels of the stage before. 0: as
    // many as seem best.
    int stages = 0;
    // The layout of keys and values, where it is not that of the queries; of no rank otherwise.
    Layout keys = {};
};

}  // namespace sdpa_graph
