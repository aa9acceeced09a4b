// The cuDNN library that this process uses: what was found, and its handles.
#pragma once

#include "planning.h"

struct CUstream_st;

namespace cudnn_frontend {
namespace runtime {

// Some lines of text: the libraries that were loaded, from where and why, what is missing and how to install it.
SDPA_GRAPH_API std::string describe();

// Folders of packages, such as the site-packages of a Python or the lib of a conda environment, in which NVIDIA's
// libraries are searched for before any other place, except those that SDPA_GRAPH_CUDNN_PATH and SDPA_GRAPH_NVRTC_PATH
// choose. The call has no effect on libraries that are open already: a library is opened when a graph first needs it.
SDPA_GRAPH_API error_t set_package_folders(std::vector<std::string> const& folders);

// cuDNN's version number, 91900 for 9.19.0; 0 where there is no usable library.
SDPA_GRAPH_API std::size_t cudnn_version();
SDPA_GRAPH_API std::string version_text(std::size_t version);  // "9.19.0" for 91900

// A fault or a limit of cuDNN that plans are checked against: docs/cudnn-quirks.md.
struct Known_quirk {
    std::string id;        // cudnn.s37
    std::string evidence;  // "wrong numbers", "crash", "no engine", ...
    std::string summary;   // what graphs must have instead
};
// The quirks of this cuDNN on GPUs of a compute capability, 90 for 9.0; none where there is no usable library.
SDPA_GRAPH_API std::vector<Known_quirk> known_quirks(int compute_capability);

// cuDNN's own message for the last call that failed in this thread; reading clears it. Empty if there is none.
SDPA_GRAPH_API std::string last_error();

// Handles of the library that plans are built with. Programs that link cuDNN themselves may call cudnnCreate() just as
// well: then their copy is the one that is used.
SDPA_GRAPH_API error_t create_handle(cudnnHandle_t* handle);
SDPA_GRAPH_API error_t destroy_handle(cudnnHandle_t handle);
SDPA_GRAPH_API error_t set_stream(cudnnHandle_t handle, CUstream_st* stream);
SDPA_GRAPH_API error_t get_stream(cudnnHandle_t handle, CUstream_st** stream);

// A process keeps the graphs that it built last, and their plans: building such a graph again takes some microseconds.
// This releases all those that no graph holds; set_kept_bytes() of process.h says how many bytes are kept.
SDPA_GRAPH_API void forget_graphs();

}  // namespace runtime
}  // namespace cudnn_frontend
