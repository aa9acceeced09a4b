// NCCL at run time. Its functions are declared here, since its header needs CUDA's.
#pragma once

#include "core/result.h"
#include "cuda/library_search.h"

#include <sdpa_graph/group.h>

#include <climits>
#include <cstddef>
#include <string>

namespace cudnn_frontend::nccl {

using Communicator = ncclComm*;
using Stream = CUstream_st*;

// Results that are handled; all others are errors.
inline constexpr int kSuccess = 0, kInvalidArgument = 4, kInProgress = 7;
inline constexpr int kBytes = 0;  // ncclInt8
inline constexpr int kOldestVersion = 21800;

// ncclUniqueId, which calls pass by value.
struct UniqueId {
    char bytes[128];
};

// ncclConfig_t as of 2.18: its size and version say which fields later releases find.
struct Config {
    std::size_t size = sizeof(Config);
    unsigned magic = 0xcafebeef;
    unsigned version = kOldestVersion;
    int blocking = INT_MIN;
    int cga_cluster_size = INT_MIN;
    int min_ctas = INT_MIN;
    int max_ctas = INT_MIN;
    char const* net_name = nullptr;
    int split_share = INT_MIN;
};

struct NcclLibrary {
    int (*version)(int*) = nullptr;
    int (*make_id)(UniqueId*) = nullptr;
    int (*init)(Communicator*, int size, UniqueId id, int rank, Config*) = nullptr;
    int (*finalize)(Communicator) = nullptr;
    int (*destroy)(Communicator) = nullptr;
    int (*abandon)(Communicator) = nullptr;
    int (*async_error)(Communicator, int*) = nullptr;
    char const* (*error_text)(int) = nullptr;
    char const* (*last_error)(Communicator) = nullptr;
    int (*count)(Communicator, int*) = nullptr;
    int (*rank)(Communicator, int*) = nullptr;
    int (*start_group)() = nullptr;
    int (*end_group)() = nullptr;
    int (*send)(void const*, std::size_t count, int type, int peer, Communicator, Stream) = nullptr;
    int (*receive)(void*, std::size_t count, int type, int peer, Communicator, Stream) = nullptr;
    int (*all_gather)(void const*, void*, std::size_t count, int type, Communicator, Stream) = nullptr;

    std::string path;
    std::string why;  // the reason for this one, as a phrase that follows the path in a report
};

// The copy that the program has loaded, the user's choice, else the places where NVIDIA's libraries are.
cuda::LibrarySearch library_search();
Result<NcclLibrary> open(cuda::LibrarySearch const& search);
// Opens it on the first call; later calls return the same result. It is never closed.
Result<NcclLibrary const*> library();

// The error of a call, with NCCL's texts.
error_t error_of(NcclLibrary const& library, int result, std::string const& call, Communicator communicator = nullptr);

}  // namespace cudnn_frontend::nccl
