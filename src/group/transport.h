// How the ranks of a group exchange pieces of memory. Programs over several ranks are written against this interface
// alone; no type of CUDA or NCCL occurs here.
#pragma once

#include "core/result.h"

#include <sdpa_graph/group.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_frontend::group {

// Where the pieces lie, and so on which targets a group runs.
enum class Medium { Host, Gpu, None };

// Contiguous memory that goes to a rank, or comes from it.
struct Piece {
    int rank;
    std::int64_t bytes;
    void* memory;
};

struct Exchange {
    std::string const& content;  // for messages
    std::vector<Piece> sends, receives;
};

inline std::int64_t bytes_of(std::vector<Piece> const& pieces) {
    std::int64_t bytes = 0;
    for (Piece const& piece : pieces) bytes += piece.bytes;
    return bytes;
}

// One rank's end. A run begins, starts and finishes exchanges, which finish in the order in which they started, and
// ends. After an error the group is broken: every call of every rank is an error that says why.
class Transport {
   public:
    Transport(int rank, int size, Medium medium) : rank_(rank), size_(size), medium_(medium) {}
    Transport(Transport const&) = delete;
    Transport& operator=(Transport const&) = delete;
    virtual ~Transport() = default;

    int rank() const { return rank_; }
    int size() const { return size_; }
    Medium medium() const { return medium_; }

    // Ranks whose runs have different texts do not fit each other. One run at a time.
    virtual error_t begin(std::string const& agreement, void* stream) = 0;
    // Work behind it on the stream does not wait for the exchange, which waits for the work before it.
    virtual error_t start(Exchange const& exchange, void* stream) = 0;
    // Work behind it on the stream finds what was received, and may overwrite what was sent.
    virtual error_t finish(Exchange const& exchange, void* stream) = 0;
    // A run that failed breaks the group.
    virtual void end(error_t const& outcome) noexcept = 0;

    // Whether later runs measure their exchanges, and the exchanges of the last run that did.
    virtual void measure(bool is_on) noexcept = 0;
    virtual Result<std::vector<sdpa_graph::Exchange_time>> exchange_times() = 0;

    virtual error_t check() = 0;
    virtual error_t wait_for(void* stream) = 0;
    virtual void give_up(std::string const& reason) noexcept = 0;

   private:
    int rank_, size_;
    Medium medium_;
};

using Milliseconds = std::chrono::milliseconds;

}  // namespace cudnn_frontend::group
