#include "cudnn/library_parts.h"

#include "cudnn/library.h"
#include "cudnn/status.h"

#include <cudnn.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace cudnn_frontend::cudnn {
namespace {

namespace fs = std::filesystem;

constexpr char const* kParts[] = {kGraphPart, "libcudnn_ops.so.9", "libcudnn_heuristic.so.9",
                                  "libcudnn_engines_precompiled.so.9", "libcudnn_engines_runtime_compiled.so.9"};

bool is_there(fs::path const& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

bool is_same_folder(fs::path const& a, fs::path const& b) {
    std::error_code ignored;
    return a == b || fs::equivalent(a, b, ignored);
}

// A name as cuDNN would find it: beside itself by its search path, else as the loader finds it for anyone.
std::string find_as_cudnn(char const* name) {
    if (SharedObject const object = loaded_object(name)) return object.path();
    for (std::string const& folder : loaded_object(kGraphPart).search_folders()) {
        if (is_there(fs::path(folder) / name)) return (fs::path(folder) / name).lexically_normal().string();
    }
    return open_object(name).path();
}

bool is_for_cuda_12(std::size_t cuda_version) { return cuda_version / 1000 == 12; }

// NVRTC compiles the kernels. cuDNN takes the one of the CUDA that it was built for.
char const* compiler_name(std::size_t cuda_version) {
    return is_for_cuda_12(cuda_version) ? "libnvrtc.so.12" : "libnvrtc.so.13";
}

std::string note_on_compiler(std::size_t cuda_version) {
    std::string const name = compiler_name(cuda_version);
    if (std::string const path = find_as_cudnn(name.c_str()); !path.empty()) return name + ": " + path;
    return name + ": missing, so that no kernel can be compiled; pip install " +
           (is_for_cuda_12(cuda_version) ? "nvidia-cuda-nvrtc-cu12" : "nvidia-cuda-nvrtc");
}

// Not opened: offline planning works only where the real driver is not loaded.
std::string note_on_driver() {
    std::string const name = "libcuda.so.1";
    if (SharedObject const driver = loaded_object(name.c_str())) return name + ": " + driver.path();
    std::vector<std::string> folders = running_program().search_folders();
    for (char const* folder : {"/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"}) folders.emplace_back(folder);
    for (std::string const& folder : folders) {
        fs::path const file = fs::path(folder) / name;
        if (is_there(file)) return name + ": " + file.string() + ", not loaded yet";
    }
    return name + ": not in the usual folders; running on a GPU needs NVIDIA's driver, planning offline does not";
}

}  // namespace

SharedObject open_graph_part(std::string const& library_path) {
    if (SharedObject loaded = loaded_object(kGraphPart)) return loaded;
    fs::path const beside = fs::path(library_path).parent_path() / kGraphPart;
    return open_object(is_there(beside) ? beside.string() : kGraphPart);
}

std::string problem_of_versions(SharedObject const& library, SharedObject const& graph_part, std::size_t version) {
    auto const part_version = graph_part.find<std::size_t (*)()>("cudnnGetVersion");
    auto const check = library.find<cudnnStatus_t (*)()>("cudnnGraphVersionCheck");
    std::size_t const found = part_version == nullptr ? version : part_version();
    bool const is_agreed = found == version && (check == nullptr || check() == CUDNN_STATUS_SUCCESS);
    if (is_agreed) return "";
    return "it is " + version_text(version) + " and its part " + graph_part.path() + " is " + version_text(found) +
           ", which do not belong together; remove the copy of cuDNN that is not wanted";
}

std::vector<std::string> notes_on_parts(std::string const& library_path) {
    fs::path const folder = fs::path(library_path).parent_path();
    std::string missing;
    for (char const* part : kParts) {
        if (!is_there(folder / part)) missing += (missing.empty() ? "" : ", ") + std::string(part);
    }
    std::vector<std::string> notes;
    if (!missing.empty()) {
        notes.push_back("not in " + folder.string() + ", where libcudnn is: " + missing +
                        "; install all of cuDNN from one package, such as nvidia-cudnn-cu13 of pip");
    }
    for (std::string const& path : loaded_paths("libcudnn_")) {
        if (is_same_folder(fs::path(path).parent_path(), folder)) continue;
        notes.push_back(path + ": loaded from outside " + folder.string() +
                        ", where libcudnn is; parts of different versions do not work together");
    }
    return notes;
}

void open_compiler(std::size_t cuda_version) {
    std::string const path = find_as_cudnn(compiler_name(cuda_version));
    if (!path.empty()) static_cast<void>(open_object(path));
}

std::vector<std::string> notes_on_machine(LibraryReport const& report) {
    std::vector<std::string> notes;
    if (!report.path.empty()) notes.push_back(note_on_compiler(report.cuda_version));
    notes.push_back(note_on_driver());
    return notes;
}

}  // namespace cudnn_frontend::cudnn
