// Opens libcudnn, once for the process. It is never closed: engines may run until the process ends.
#pragma once

#include "core/result.h"
#include "cuda/library_search.h"
#include "cudnn/library/api.h"

#include <cstddef>
#include <string>
#include <vector>

namespace cudnn_frontend::cudnn {

inline constexpr char const* kLibraryName = "libcudnn.so.9";

// The user's choice, else the folders of the environment and the usual ones.
cuda::SearchFolders search_folders();
cuda::LibrarySearch make_library_search(cuda::SearchFolders const& folders);

// One file that was tried.
struct Attempt {
    std::string path;
    std::string why;      // the reason why it was tried
    std::string problem;  // empty if it is usable
    bool is_there = true;
    bool was_loaded = false;  // already, by the program
};

// The loaded libraries with their paths, the missing ones, and how to install them.
struct LibraryReport {
    std::string path;                // of libcudnn; empty if none is usable
    std::size_t version = 0;         // 91900 for 9.19.0
    std::size_t cuda_version = 0;    // of the CUDA that it was built for: 13000 for 13.0; 0: unknown
    std::vector<Attempt> attempts;   // in order
    std::vector<std::string> notes;  // on parts of cuDNN: which are missing and how to install them

    std::string to_text() const;
};

struct Library {
    Api const* api = nullptr;  // null if no library is usable: `error` says why
    error_t error;
    LibraryReport report;
};

Library open_library(cuda::LibrarySearch const& search);

// Opens the library found in search_folders() on the first call; later calls return the same result. Thread-safe.
Library const& library();

// cuDNN opens and closes NVRTC for each search that it compiles; this keeps it open from the first call on.
void keep_compiler_open();

// Opens cuBLASLt for the engines, which end the program if they do not find it. Only the first call looks for it.
error_t check_engines();

// The report with notes on the parts of the machine that cuDNN needs: NVRTC, cuBLASLt, the CUDA driver. Opens the first
// two, which takes up to a tenth of a second, so that it is not part of opening cuDNN.
LibraryReport full_report(Library const& library);

}  // namespace cudnn_frontend::cudnn
