// The places where one of NVIDIA's libraries is looked for, except the driver's.
#pragma once

#include <string>
#include <vector>

namespace cudnn_frontend::cuda {

struct LibraryName {
    std::string file;           // libcudnn.so.9
    std::string python_folder;  // where NVIDIA's Python package has it, below site-packages: nvidia/cudnn/lib
};

struct SearchedFile {
    std::string path;
    std::string why;  // the reason why it is in the search, as a phrase that follows the path in a report

    friend bool operator==(SearchedFile const&, SearchedFile const&) = default;
};

// Files are tried in order. The first that can be opened is used, even if it is unusable: another one would be a second
// copy in the process.
struct LibrarySearch {
    bool use_loaded = true;  // try a copy that the process has already loaded first
    std::vector<SearchedFile> files;
    std::string chosen_by;  // the variable by which the user chose the only file; else empty

    // Adds the file at the end, unless the search has the path already.
    void add(SearchedFile file);
};

// The user's choice: a file or its folder. Nothing where the path is empty.
struct Choice {
    std::string path, variable;
};

// The folders from which a search is made. They need not exist.
struct SearchFolders {
    Choice chosen;
    std::vector<std::string> installations;  // of this library alone
    std::vector<std::string> python;         // prefixes of Python: pip packages, conda packages
    std::vector<std::string> toolkit;        // installations of CUDA
    std::vector<std::string> packages;       // folders of packages that the program named, before all others
};

// The folders of Python and CUDA: the environment's, then the usual ones; and the folders that the program named.
SearchFolders usual_folders();

LibrarySearch make_library_search(LibraryName const& library, SearchFolders const& folders);

// The part of such a search for the folders of packages that the program named.
LibrarySearch search_in_packages(LibraryName const& library, SearchFolders const& folders);

}  // namespace cudnn_frontend::cuda
