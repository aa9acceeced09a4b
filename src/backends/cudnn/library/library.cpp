#include "cudnn/library/library.h"

#include "core/process/environment.h"
#include "cuda/shared_object.h"
#include "cudnn/library/api.h"
#include "cudnn/library/library_parts.h"

#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

namespace cudnn_frontend::cudnn {
namespace {

constexpr std::size_t kOldestVersion = 91000;
constexpr char const* kChoosingVariable = "SDPA_GRAPH_CUDNN_PATH";

std::string oldest_version() { return version_text(kOldestVersion); }

// Fills the table; returns the names of functions that the library lacks.
std::string fill(Api& api, cuda::SharedObject const& object) {
    cuda::FunctionFinder find(object);
    find(api.get_version, "cudnnGetVersion");
    find(api.get_error_string, "cudnnGetErrorString");
    find(api.get_last_error_string, "cudnnGetLastErrorString");
    find(api.create, "cudnnCreate");
    find(api.destroy, "cudnnDestroy");
    find(api.set_stream, "cudnnSetStream");
    find(api.get_stream, "cudnnGetStream");
    find(api.create_descriptor, "cudnnBackendCreateDescriptor");
    find(api.destroy_descriptor, "cudnnBackendDestroyDescriptor");
    find(api.set_attribute, "cudnnBackendSetAttribute");
    find(api.get_attribute, "cudnnBackendGetAttribute");
    find(api.finalize, "cudnnBackendFinalize");
    find(api.execute, "cudnnBackendExecute");
    find(api.populate_cuda_graph, "cudnnBackendPopulateCudaGraph");
    find(api.update_cuda_graph, "cudnnBackendUpdateCudaGraph");
    return find.missing();
}

std::string problem_of_copies() {
    std::vector<std::string> const copies = cuda::loaded_paths("libcudnn.so");
    if (copies.size() < 2) return "";
    return "the process has loaded two copies of cuDNN, " + copies[0] + " and " + copies[1] +
           ", and a handle made by one must not reach the other; keep one of them";
}

// Fills the table and the report; empty if the library is usable. The order matters: without its graph part, libcudnn
// ends the program at the first call of any function.
std::string adopt(cuda::SharedObject const& object, Api& api, LibraryReport& report) {
    if (std::string problem = problem_of_copies(); !problem.empty()) return problem;
    if (std::string const missing = fill(api, object); !missing.empty()) {
        return "lacks " + missing + ", which cuDNN " + oldest_version() + " and newer have";
    }
    std::string const path = object.path();
    if (std::string problem = problem_of_parts(path); !problem.empty()) return problem;
    cuda::SharedObject const graph_part = open_graph_part(path);
    if (!graph_part) return std::string("its part ") + kGraphPart + " cannot be opened: " + graph_part.problem;
    std::size_t const version = api.get_version();
    if (version < kOldestVersion) {
        return "its version " + version_text(version) + " is older than " + oldest_version();
    }
    if (std::string problem = problem_of_versions(graph_part, version); !problem.empty()) return problem;
    auto const cuda_version = object.find<std::size_t (*)()>("cudnnGetCudartVersion");
    report.path = path;
    report.version = version;
    report.cuda_version = cuda_version == nullptr ? 0 : cuda_version();
    report.notes = notes_on_parts(path);
    return "";
}

bool is_there(std::string const& file) {
    std::error_code ignored;
    return file.find('/') == std::string::npos || std::filesystem::exists(file, ignored);
}

// The first file of the search that can be opened.
cuda::SharedObject open_first(cuda::LibrarySearch const& search, std::vector<Attempt>& attempts) {
    if (search.use_loaded) {
        if (cuda::SharedObject object = cuda::loaded_object(kLibraryName)) {
            attempts.push_back({object.path(), "loaded by the program", "", true, true});
            return object;
        }
    }
    for (auto const& [file, why] : search.files) {
        cuda::SharedObject object = cuda::open_object(file);
        attempts.push_back({object ? object.path() : file, why, object.problem, is_there(file)});
        if (object) return object;
    }
    return {};
}

std::string tried(std::vector<Attempt> const& attempts) {
    std::string text;
    for (Attempt const& attempt : attempts) {
        text += (text.empty() ? "tried " : ", ") + attempt.path + " (" +
                (attempt.is_there ? attempt.problem : "not there") + ")";
    }
    return text.empty() ? "there was no place to look" : text;
}

std::string advice(cuda::LibrarySearch const& search, bool was_loaded) {
    if (was_loaded) return "the program loads this library itself: give it cuDNN " + oldest_version() + " or newer";
    if (!search.chosen_by.empty()) {
        return search.chosen_by + " chose this library: correct it, or unset it to search the usual places";
    }
    return "install cuDNN " + oldest_version() +
           " or newer (pip install nvidia-cudnn-cu13, nvidia-cudnn-cu12 for CUDA 12, or the packages of NVIDIA's CUDA "
           "repository), or set " +
           kChoosingVariable + " to its folder";
}

error_t unusable(std::string const& problem, std::string const& what_to_do) {
    return {error_code_t::CUDNN_BACKEND_API_FAILED, "no usable cuDNN library: " + problem + "; " + what_to_do};
}

}  // namespace

cuda::SearchFolders search_folders() {
    cuda::SearchFolders folders = cuda::usual_folders();
    folders.chosen = {core::environment::variable(kChoosingVariable), kChoosingVariable};
    folders.installations = core::environment::variables({"CUDNN_PATH", "CUDNN_HOME"});
    return folders;
}

cuda::LibrarySearch make_library_search(cuda::SearchFolders const& folders) {
    return cuda::make_library_search({kLibraryName, "nvidia/cudnn/lib"}, folders);
}

Library open_library(cuda::LibrarySearch const& search) {
    Library library;
    std::vector<Attempt>& attempts = library.report.attempts;
    cuda::SharedObject const object = open_first(search, attempts);
    if (!object) {
        library.error = unusable(tried(attempts), advice(search, false));
        return library;
    }
    Api api;
    Attempt& last = attempts.back();
    last.problem = adopt(object, api, library.report);
    if (last.problem.empty()) {
        library.api = new Api(api);  // never freed, since the functions are never unloaded
    } else {
        library.error = unusable(last.path + ": " + last.problem, advice(search, last.was_loaded));
    }
    return library;
}

Library const& library() {
    // It is never destroyed: static objects with descriptors may outlive the static objects of this file.
    static Library const& opened = *new Library(open_library(make_library_search(search_folders())));
    return opened;
}

void keep_compiler_open() {
    static std::once_flag is_open;
    std::call_once(is_open, [] { open_compiler(library().report.cuda_version); });
}

error_t check_engines() {
    static error_t const& checked = *new error_t(open_cublas(library().report));
    return checked;
}

LibraryReport full_report(Library const& library) {
    LibraryReport report = library.report;
    for (std::string& note : notes_on_machine(report)) report.notes.push_back(std::move(note));
    return report;
}

std::string LibraryReport::to_text() const {
    std::string text = "cuDNN: none that can be used\n";
    if (!path.empty()) {
        std::string const why = attempts.empty() || attempts.back().why.empty() ? "" : ", " + attempts.back().why;
        text = "cuDNN " + version_text(version) + ": " + path + why + "\n";
    }
    for (std::string const& note : notes) text += "  " + note + "\n";
    std::string absent;
    for (Attempt const& attempt : attempts) {
        if (!attempt.is_there) {
            absent += (absent.empty() ? "" : ", ") + attempt.path;
        } else if (!attempt.problem.empty()) {
            text += "  tried " + attempt.path + ": " + attempt.problem + "\n";
        }
    }
    return absent.empty() ? text : text + "  not there: " + absent + "\n";
}

}  // namespace cudnn_frontend::cudnn
