#include "cudnn/library/library_parts.h"

#include "core/text.h"
#include "cuda/shared_object.h"
#include "cudnn/library/api.h"
#include "cudnn/library/library.h"

#include <cudnn.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace cudnn_frontend::cudnn {
namespace {

namespace fs = std::filesystem;

constexpr char const* kEnginesPart = "libcudnn_engines_precompiled.so.9";
constexpr char const* kParts[] = {kGraphPart, "libcudnn_ops.so.9", "libcudnn_heuristic.so.9", kEnginesPart,
                                  "libcudnn_engines_runtime_compiled.so.9"};

bool is_there(fs::path const& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

bool is_same_folder(fs::path const& a, fs::path const& b) {
    std::error_code ignored;
    return a == b || fs::equivalent(a, b, ignored);
}

// Opens a name as cuDNN would: by its own search path first, else as the loader finds it.
cuda::SharedObject open_as_cudnn(char const* name) {
    if (cuda::SharedObject object = cuda::loaded_object(name)) return object;
    for (std::string const& folder : cuda::loaded_object(kGraphPart).search_folders()) {
        fs::path const file = (fs::path(folder) / name).lexically_normal();
        if (!is_there(file)) continue;
        cuda::SharedObject object = cuda::open_object(file.string());
        if (!object) object.problem = file.string() + ": " + object.problem;
        return object;
    }
    return cuda::open_object(name);
}

bool is_for_cuda_12(std::size_t cuda_version) { return cuda_version / 1000 == 12; }

// NVRTC compiles the kernels. cuDNN uses that of the CUDA version that it was built for.
char const* compiler_name(std::size_t cuda_version) {
    return is_for_cuda_12(cuda_version) ? "libnvrtc.so.12" : "libnvrtc.so.13";
}

std::string note_on_compiler(std::size_t cuda_version) {
    std::string const name = compiler_name(cuda_version);
    if (cuda::SharedObject const object = open_as_cudnn(name.c_str())) return name + ": " + object.path();
    return name + ": missing, so that no kernel can be compiled; pip install " +
           (is_for_cuda_12(cuda_version) ? "nvidia-cuda-nvrtc-cu12" : "nvidia-cuda-nvrtc");
}

char const* cublas_name(std::size_t cuda_version) {
    return is_for_cuda_12(cuda_version) ? "libcublasLt.so.12" : "libcublasLt.so.13";
}

// Empty if it can be opened, or if there are no engines next to that libcudnn.
std::string problem_of_cublas(LibraryReport const& report) {
    if (!is_there(fs::path(report.path).parent_path() / kEnginesPart)) return "";
    cuda::SharedObject const object = open_as_cudnn(cublas_name(report.cuda_version));
    if (object) return "";
    return std::string("cuBLASLt, ") + cublas_name(report.cuda_version) + ", cannot be opened (" + object.problem +
           "), without which cuDNN's engines end the program; pip install " +
           (is_for_cuda_12(report.cuda_version) ? "nvidia-cublas-cu12" : "nvidia-cublas") +
           ", or the package libcublas of NVIDIA's CUDA repository";
}

// The driver is not opened: offline planning works only where the real one is not loaded.
std::string note_on_driver() {
    std::string const name = "libcuda.so.1";
    if (cuda::SharedObject const driver = cuda::loaded_object(name.c_str())) return name + ": " + driver.path();
    std::vector<std::string> folders = cuda::running_program().search_folders();
    for (char const* folder : {"/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"}) folders.emplace_back(folder);
    for (std::string const& folder : folders) {
        fs::path const file = fs::path(folder) / name;
        if (is_there(file)) return name + ": " + file.string() + ", not loaded yet";
    }
    return name + ": not in the usual folders; running on a GPU needs NVIDIA's driver, planning offline does not";
}

}  // namespace

cuda::SharedObject open_graph_part(std::string const& library_path) {
    if (cuda::SharedObject loaded = cuda::loaded_object(kGraphPart)) return loaded;
    fs::path const beside = fs::path(library_path).parent_path() / kGraphPart;
    return cuda::open_object(is_there(beside) ? beside.string() : kGraphPart);
}

// cudnnGraphVersionCheck() would say the same, but opens the driver: see note_on_driver().
std::string problem_of_versions(cuda::SharedObject const& graph_part, std::size_t version) {
    auto const part_version = graph_part.find<std::size_t (*)()>("cudnnGetVersion");
    std::size_t const found = part_version == nullptr ? version : part_version();
    if (found == version) return "";
    return "it is " + version_text(version) + " and its part " + graph_part.path() + " is " + version_text(found) +
           ", which do not belong together; remove the copy of cuDNN that is not wanted";
}

std::string problem_of_parts(std::string const& library_path) {
    for (char const* part : kParts) {
        std::string const file = (fs::path(library_path).parent_path() / part).string();
        std::string const problem = cuda::problem_of_object_file(file);
        if (!problem.empty()) return core::text("its part ", file, " cannot be opened: ", problem);
    }
    return "";
}

error_t open_cublas(LibraryReport const& report) {
    std::string const problem = problem_of_cublas(report);
    if (problem.empty()) return {};
    return {error_code_t::CUDNN_BACKEND_API_FAILED, "cuDNN " + report.path + " cannot plan: " + problem};
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
    for (std::string const& path : cuda::loaded_paths("libcudnn_")) {
        if (is_same_folder(fs::path(path).parent_path(), folder)) continue;
        notes.push_back(path + ": loaded from outside " + folder.string() +
                        ", where libcudnn is; parts of different versions do not work together");
    }
    return notes;
}

void open_compiler(std::size_t cuda_version) { static_cast<void>(open_as_cudnn(compiler_name(cuda_version))); }

std::vector<std::string> notes_on_machine(LibraryReport const& report) {
    std::vector<std::string> notes;
    if (!report.path.empty()) {
        notes.push_back(note_on_compiler(report.cuda_version));
        if (std::string problem = problem_of_cublas(report); !problem.empty()) notes.push_back(std::move(problem));
    }
    notes.push_back(note_on_driver());
    return notes;
}

}  // namespace cudnn_frontend::cudnn
