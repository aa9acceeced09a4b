// NVRTC, the compiler for CUDA C++ at run time. It needs neither a GPU nor a driver.
#pragma once

#include "core/result.h"
#include "cuda/library_search.h"

#include <cstddef>
#include <span>
#include <string>

namespace cudnn_frontend::cuda {

// The functions that this library calls, as a table. They are declared here, since their header is a package of its
// own.
struct Nvrtc {
    using ProgramHandle = struct NvrtcProgram*;

    char const* (*error_text)(int) = nullptr;
    int (*version)(int* major, int* minor) = nullptr;
    int (*supported_count)(int* count) = nullptr;
    int (*supported)(int* compute_capabilities) = nullptr;
    int (*create)(ProgramHandle*, char const* text, char const* name, int count, char const* const* headers,
                  char const* const* header_names) = nullptr;
    int (*destroy)(ProgramHandle*) = nullptr;
    int (*compile)(ProgramHandle, int count, char const* const* options) = nullptr;
    int (*log_size)(ProgramHandle, std::size_t*) = nullptr;
    int (*log)(ProgramHandle, char*) = nullptr;
    int (*code_size)(ProgramHandle, std::size_t*) = nullptr;
    int (*code)(ProgramHandle, char*) = nullptr;

    std::string path;
    std::string why;  // the reason for this one, as a phrase that follows the path in a report
};

Result<Nvrtc> open_nvrtc(LibrarySearch const& search);

// The user's choice, a copy that the program has loaded, else NVRTC in the places where cuDNN is searched for.
LibrarySearch nvrtc_library_search();

// A line with the one that is used and the reason for it, or with the reason why there is none. Opens it.
std::string describe_nvrtc();

// Opens it on the first call; later calls return the same result. It is never closed.
Result<Nvrtc const*> nvrtc();

// The major version of CUDA that it comes with.
Result<int> nvrtc_major();

// A file of source code, which is in memory.
struct SourceFile {
    char const* name;
    char const* text;
};

struct CompiledCode {
    std::string cubin;
    std::string log;  // of each kernel the registers and the bytes that it spills
};

// The architecture for which code is compiled.
struct Architecture {
    int compute_capability;                // 90 for 9.0
    bool has_features_of_its_own = false;  // features that no other has, such as wgmma of 9.0

    std::string name() const;  // such as sm_90, or sm_90a with features of its own
};

// Headers are those that the source may include; there are no others.
Result<CompiledCode> compile(Nvrtc const& nvrtc, SourceFile const& source, std::span<SourceFile const> headers,
                             std::span<std::string const> defines, Architecture architecture);

}  // namespace cudnn_frontend::cuda
