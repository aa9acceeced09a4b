// Opens libcudnn, once for the process. Never closed: engines may run until the process ends.
#pragma once

#include "core/result.h"
#include "cudnn/library/api.h"
#include "cudnn/library/search_plan.h"

#include <cstddef>
#include <string>
#include <vector>

namespace cudnn_frontend::cudnn {

// One file that was tried.
struct Attempt {
    std::string path;
    std::string problem;  // empty where it serves
    bool is_there = true;
    bool was_loaded = false;  // by the program, before
};

// What was loaded, from where, and what is missing and how to get it.
struct LibraryReport {
    std::string path;                // of libcudnn; empty where none serves
    std::size_t version = 0;         // 91900 for 9.19.0
    std::size_t cuda_version = 0;    // of the CUDA that it was built for: 13000 for 13.0; 0: it does not say
    std::vector<Attempt> attempts;   // in the order in which they were made
    std::vector<std::string> notes;  // parts of cuDNN: what is missing and how to get it

    std::string to_text() const;
};

struct Library {
    Api const* api = nullptr;  // null where no library serves: `error` says why
    error_t error;
    LibraryReport report;
};

Library open_library(SearchPlan const& plan);

// Opens by the default plan on the first call; later calls give the same answer. Safe from many threads.
Library const& library();

// cuDNN opens NVRTC for each plan that it compiles, and closes it again; this keeps it open from the first call on.
void keep_compiler_open();

// Whether the engines find what they end the program without, cuBLASLt, which is opened for them. Looks once.
error_t check_engines();

// The report with notes on what cuDNN needs of the machine: NVRTC, cuBLASLt, the CUDA driver. Opens the first two,
// which takes up to a tenth of a second, so that it is not part of opening cuDNN.
LibraryReport full_report(Library const& library);

}  // namespace cudnn_frontend::cudnn
