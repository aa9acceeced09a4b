#include "cuda/library_search.h"

#include "core/process/environment.h"
#include "core/process/process_settings.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace cudnn_frontend::cuda {
namespace {

namespace fs = std::filesystem;

bool is_there(std::string const& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

bool is_folder(std::string const& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

// Folders in `parent` whose names start so, by descending length and then in descending order: python3.12, python3.9,
// python3. None if the parent cannot be read.
std::vector<std::string> folders_in(std::string const& parent, std::string_view name_start) {
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
        std::string path = at->path().string();
        if (at->path().filename().string().starts_with(name_start) && is_folder(path)) found.push_back(std::move(path));
    }
    std::sort(found.begin(), found.end(), [](std::string const& a, std::string const& b) {
        return std::pair(a.size(), std::string_view(a)) > std::pair(b.size(), std::string_view(b));
    });
    return found;
}

void add_if_there(LibrarySearch& search, std::string path, std::string const& why) {
    if (is_there(path)) search.add({std::move(path), why});
}

// An installation has its libraries in one of a few folders; if it has none of them, the report names the usual one.
void add_installation(std::string const& prefix, LibraryName const& library, std::string const& why,
                      LibrarySearch& search) {
    for (char const* folder : {"/lib64/", "/lib/", "/targets/x86_64-linux/lib/", "/"}) {
        if (is_there(prefix + folder + library.file)) return search.add({prefix + folder + library.file, why});
    }
    search.add({prefix + "/lib/" + library.file, why});
}

void add_packages(std::string const& folder, LibraryName const& library, std::string const& why,
                  LibrarySearch& search) {
    add_if_there(search, folder + "/" + library.python_folder + "/" + library.file, why);
}

void add_python(std::string const& prefix, LibraryName const& library, LibrarySearch& search) {
    std::string const why = "from a package of the Python in " + prefix;
    for (char const* libraries : {"/lib", "/lib64"}) {
        for (std::string const& python : folders_in(prefix + libraries, "python3")) {
            for (char const* packages : {"/site-packages", "/dist-packages"})
                add_packages(python + packages, library, why, search);
        }
    }
    bool const is_conda = is_folder(prefix + "/conda-meta");
    if (is_conda) add_if_there(search, prefix + "/lib/" + library.file, why);
}

// Absolute, since the loader searches for a name without a slash elsewhere.
std::string chosen_file(std::string const& file_or_folder, LibraryName const& library) {
    std::error_code ignored;
    fs::path const path = fs::absolute(file_or_folder, ignored);
    return (is_folder(path.string()) ? path / library.file : path).string();
}

}  // namespace

void LibrarySearch::add(SearchedFile file) {
    if (std::ranges::find(files, file.path, &SearchedFile::path) == files.end()) files.push_back(std::move(file));
}

SearchFolders usual_folders() {
    namespace environment = core::environment;
    SearchFolders folders;
    folders.packages = core::process::package_folders();
    folders.python = environment::variables({"VIRTUAL_ENV", "CONDA_PREFIX"});
    if (std::string const home = environment::variable("HOME"); !home.empty())
        folders.python.push_back(home + "/.local");
    for (char const* prefix : {"/usr/local", "/usr"}) folders.python.emplace_back(prefix);
    for (std::string& prefix : folders_in("/opt", "")) folders.python.push_back(std::move(prefix));
    folders.toolkit = environment::variables({"CUDA_HOME", "CUDA_PATH"});
    folders.toolkit.emplace_back("/usr/local/cuda");
    return folders;
}

LibrarySearch search_in_packages(LibraryName const& library, SearchFolders const& folders) {
    LibrarySearch search;
    for (std::string const& folder : folders.packages) {
        std::string const why = "from the packages in " + folder + ", which the program named";
        add_packages(folder, library, why, search);
        add_if_there(search, folder + "/" + library.file, why);
    }
    return search;
}

LibrarySearch make_library_search(LibraryName const& library, SearchFolders const& folders) {
    Choice const& chosen = folders.chosen;
    if (!chosen.path.empty())
        return {false, {{chosen_file(chosen.path, library), "chosen by " + chosen.variable}}, chosen.variable};
    LibrarySearch search = search_in_packages(library, folders);
    for (std::string const& prefix : folders.installations)
        add_installation(prefix, library, "from the installation that CUDNN_PATH or CUDNN_HOME names", search);
    for (std::string const& prefix : folders.python) add_python(prefix, library, search);
    for (std::string const& prefix : folders.toolkit)
        add_installation(prefix, library, "from the CUDA toolkit in " + prefix, search);
    search.add({library.file, "found by the system's loader: LD_LIBRARY_PATH, then the system's folders"});
    return search;
}

}  // namespace cudnn_frontend::cuda
