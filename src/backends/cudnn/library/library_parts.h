// The parts of cuDNN besides libcudnn, which opens them itself, and the parts of the machine that cuDNN needs.
#pragma once

#include "core/result.h"
#include "cuda/shared_object.h"

#include <cstddef>
#include <string>
#include <vector>

namespace cudnn_frontend::cudnn {

struct LibraryReport;

// The part with all functions of libcudnn.
inline constexpr char const* kGraphPart = "libcudnn_graph.so.9";

// The graph part that the libcudnn at `library_path` will use.
cuda::SharedObject open_graph_part(std::string const& library_path);

// Empty if libcudnn and its graph part are of one version.
std::string problem_of_versions(cuda::SharedObject const& graph_part, std::size_t version);

// Empty unless some part next to libcudnn would end the program when cuDNN opens it.
std::string problem_of_parts(std::string const& library_path);

// Opens cuBLASLt, for as long as the process lives, where the engines of that cuDNN look for it: they end the program
// if it cannot be opened.
error_t open_cublas(LibraryReport const& report);

// Notes on parts that are missing, or from elsewhere. Cheap: opens nothing.
std::vector<std::string> notes_on_parts(std::string const& library_path);

// Opens NVRTC, if it is found, for as long as the process lives.
void open_compiler(std::size_t cuda_version);

// Notes for reports: where NVRTC, cuBLASLt and the CUDA driver are, or how to install them. Opens NVRTC and cuBLASLt,
// which takes a tenth of a second.
std::vector<std::string> notes_on_machine(LibraryReport const& report);

}  // namespace cudnn_frontend::cudnn
