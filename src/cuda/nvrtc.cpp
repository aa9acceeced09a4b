#include "cuda/nvrtc.h"

#include "core/process/environment.h"
#include "cuda/shared_object.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

namespace cudnn_frontend::cuda {
namespace {

constexpr char const* kNewName = "libnvrtc.so.13";
constexpr char const* kOldName = "libnvrtc.so.12";
constexpr char const* kChoosingVariable = "SDPA_GRAPH_NVRTC_PATH";

error_t failed(std::string message) { return {error_code_t::NVRTC_COMPILATION_FAILED, std::move(message)}; }

std::string fill(Nvrtc& nvrtc, SharedObject const& object) {
    FunctionFinder find(object);
    find(nvrtc.error_text, "nvrtcGetErrorString");
    find(nvrtc.version, "nvrtcVersion");
    find(nvrtc.supported_count, "nvrtcGetNumSupportedArchs");
    find(nvrtc.supported, "nvrtcGetSupportedArchs");
    find(nvrtc.create, "nvrtcCreateProgram");
    find(nvrtc.destroy, "nvrtcDestroyProgram");
    find(nvrtc.compile, "nvrtcCompileProgram");
    find(nvrtc.log_size, "nvrtcGetProgramLogSize");
    find(nvrtc.log, "nvrtcGetProgramLog");
    find(nvrtc.code_size, "nvrtcGetCUBINSize");
    find(nvrtc.code, "nvrtcGetCUBIN");
    return find.missing();
}

// A driver for CUDA 12 cannot load the code of a later compiler. Asks only a driver that the process has loaded
// already; then offline planning does not work anyway.
bool driver_is_for_cuda_12() {
    SharedObject const driver = loaded_object("libcuda.so.1");
    auto const get_version = driver ? driver.find<int (*)(int*)>("cuDriverGetVersion") : nullptr;
    int version = 0;
    return get_version != nullptr && get_version(&version) == 0 && version / 1000 == 12;
}

// The names by which the library is found, the first choice first.
std::vector<LibraryName> names() {
    std::vector<LibraryName> names{{kNewName, "nvidia/cu13/lib"}, {kOldName, "nvidia/cuda_nvrtc/lib"}};
    if (driver_is_for_cuda_12()) std::swap(names[0], names[1]);
    return names;
}

// Sets the reason for the library that it returns, or else the text about the files that it tried.
SharedObject open_first(LibrarySearch const& search, std::string& reason, std::string& tried) {
    if (search.use_loaded) {
        for (LibraryName const& name : names()) {
            reason = "loaded by the program";
            if (SharedObject object = loaded_object(name.file.c_str())) return object;
        }
    }
    for (auto const& [file, why] : search.files) {
        SharedObject object = open_object(file);
        reason = why;
        if (object) return object;
        std::error_code ignored;
        bool const is_absent = file.find('/') != std::string::npos && !std::filesystem::exists(file, ignored);
        tried += (tried.empty() ? "tried " : ", ") + file + " (" + (is_absent ? "not there" : object.problem) + ")";
    }
    return {};
}

void append(LibrarySearch& search, LibrarySearch more) {
    search.use_loaded = more.use_loaded;
    search.chosen_by = more.chosen_by;
    for (SearchedFile& file : more.files) search.add(std::move(file));
}

std::string advice(LibrarySearch const& search) {
    if (!search.chosen_by.empty()) {
        return search.chosen_by + " chose this library: correct it, or unset it to search the usual places";
    }
    return std::string(
               "install it (pip install nvidia-cuda-nvrtc, nvidia-cuda-nvrtc-cu12 for CUDA 12, or the CUDA "
               "toolkit), or set ") +
           kChoosingVariable + " to its folder";
}

std::string capability_text(int capability) {
    return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

std::string number_text(Nvrtc const& nvrtc) {
    int major = 0, minor = 0;
    nvrtc.version(&major, &minor);
    return "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
}

std::string version_text(Nvrtc const& nvrtc) { return number_text(nvrtc) + ", " + nvrtc.path + ","; }

error_t check_capability(Nvrtc const& nvrtc, int wanted) {
    int count = 0;
    nvrtc.supported_count(&count);
    std::vector<int> supported(static_cast<std::size_t>(count));
    nvrtc.supported(supported.data());
    if (std::ranges::find(supported, wanted) != supported.end()) return {};
    std::string list;
    for (int const capability : supported) list += (list.empty() ? "" : ", ") + capability_text(capability);
    return failed(version_text(nvrtc) + " does not compile for compute capability " + capability_text(wanted) +
                  ", only for " + list + "; set " + kChoosingVariable + " to the folder of one that does");
}

// A program of NVRTC's, for as long as this lives.
class Compilation {
   public:
    explicit Compilation(Nvrtc const& nvrtc) : nvrtc_(nvrtc) {}
    Compilation(Compilation const&) = delete;
    Compilation& operator=(Compilation const&) = delete;
    ~Compilation() {
        if (program_ != nullptr) nvrtc_.destroy(&program_);
    }

    int create(SourceFile const& source, std::span<SourceFile const> headers) {
        std::vector<char const*> texts, names;
        for (SourceFile const& header : headers) {
            texts.push_back(header.text);
            names.push_back(header.name);
        }
        return nvrtc_.create(&program_, source.text, source.name, static_cast<int>(headers.size()), texts.data(),
                             names.data());
    }
    int compile(std::vector<std::string> const& options) {
        std::vector<char const*> texts;
        texts.reserve(options.size());
        for (std::string const& option : options) texts.push_back(option.c_str());
        return nvrtc_.compile(program_, static_cast<int>(texts.size()), texts.data());
    }
    std::string log() const {
        std::string text = read(nvrtc_.log_size, nvrtc_.log);
        return text.substr(0, text.find('\0'));  // its size counts the end
    }
    std::string code() const { return read(nvrtc_.code_size, nvrtc_.code); }

   private:
    std::string read(int (*size_of)(Nvrtc::ProgramHandle, std::size_t*),
                     int (*get)(Nvrtc::ProgramHandle, char*)) const {
        std::size_t size = 0;
        if (program_ == nullptr || size_of(program_, &size) != 0) return "";
        std::string text(size, '\0');
        return get(program_, text.data()) == 0 ? text : "";
    }

    Nvrtc const& nvrtc_;
    Nvrtc::ProgramHandle program_ = nullptr;
};

}  // namespace

LibrarySearch nvrtc_library_search() {
    SearchFolders folders = usual_folders();
    folders.chosen = {core::environment::variable(kChoosingVariable), kChoosingVariable};
    LibrarySearch search;
    // The program's own packages come first, with the compiler of CUDA 12 or 13, unless the driver accepts only one.
    if (folders.chosen.path.empty() && !driver_is_for_cuda_12())
        for (LibraryName const& name : names()) append(search, search_in_packages(name, folders));
    for (LibraryName const& name : names()) append(search, make_library_search(name, folders));
    return search;
}

Result<Nvrtc> open_nvrtc(LibrarySearch const& search) {
    std::string tried;
    Nvrtc nvrtc;
    SharedObject const object = open_first(search, nvrtc.why, tried);
    if (!object) return failed("NVRTC, which compiles CUDA kernels, was not found: " + tried + "; " + advice(search));
    nvrtc.path = object.path();
    std::string const missing = fill(nvrtc, object);
    if (missing.empty()) return nvrtc;
    return failed("NVRTC, which compiles CUDA kernels, cannot be used: " + nvrtc.path + " lacks " + missing +
                  ", which that of CUDA 12 and newer has; " + advice(search));
}

Result<Nvrtc const*> nvrtc() {
    // It is never destroyed: static objects of programs may compile when they are destroyed.
    static Result<Nvrtc> const& opened = *new Result<Nvrtc>(open_nvrtc(nvrtc_library_search()));
    if (opened.is_bad()) return opened.error();
    return &opened.value();
}

Result<int> nvrtc_major() {
    auto const opened = nvrtc();
    if (opened.is_bad()) return opened.error();
    int major = 0, minor = 0;
    opened.value()->version(&major, &minor);
    return major;
}

std::string describe_nvrtc() {
    Result<Nvrtc const*> const found = nvrtc();
    if (found.is_bad()) return found.error().get_message();
    return number_text(*found.value()) + ", for kernels of the library's own: " + found.value()->path + ", " +
           found.value()->why;
}

std::string Architecture::name() const {
    return "sm_" + std::to_string(compute_capability) + (has_features_of_its_own ? "a" : "");
}

Result<CompiledCode> compile(Nvrtc const& nvrtc, SourceFile const& source, std::span<SourceFile const> headers,
                             std::span<std::string const> defines, Architecture architecture) {
    SDPA_GRAPH_TRY(check_capability(nvrtc, architecture.compute_capability));
    std::vector<std::string> options{"--gpu-architecture=" + architecture.name(), "--std=c++17",
                                     "--device-as-default-execution-space", "--ptxas-options=-v"};
    for (std::string const& define : defines) options.push_back("--define-macro=" + define);
    Compilation compilation(nvrtc);
    int result = compilation.create(source, headers);
    if (result == 0) result = compilation.compile(options);
    if (result == 0) return CompiledCode{compilation.code(), compilation.log()};
    return failed(version_text(nvrtc) + " failed to compile " + source.name + " for compute capability " +
                  capability_text(architecture.compute_capability) + ": " + nvrtc.error_text(result) + "\n" +
                  compilation.log());
}

}  // namespace cudnn_frontend::cuda
