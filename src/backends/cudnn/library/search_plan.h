// Where to look for libcudnn.
#pragma once

#include <string>
#include <vector>

namespace cudnn_frontend::cudnn {

inline constexpr char const* kLibraryName = "libcudnn.so.9";

// Files are tried in order. The first that can be opened is taken, even if it is unusable: another one would be a
// second copy in the process.
struct SearchPlan {
    bool use_loaded = true;  // try a copy that the process has already loaded first
    std::vector<std::string> files;
    std::string chosen_by;  // the variable by which the user chose the only file; else empty
};

// The folders from which a search plan is made. They need not exist.
struct SearchFolders {
    std::string chosen;                // SDPA_GRAPH_CUDNN_PATH
    std::vector<std::string> cudnn;    // installations of cuDNN
    std::vector<std::string> python;   // prefixes of Python: pip packages, conda packages
    std::vector<std::string> toolkit;  // installations of CUDA
};

// The environment's folders, then the usual ones.
SearchFolders default_search_folders();

SearchPlan make_search_plan(SearchFolders const& folders);
SearchPlan default_search_plan();

}  // namespace cudnn_frontend::cudnn
