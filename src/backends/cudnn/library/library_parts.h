// The parts of cuDNN besides libcudnn, which opens them itself, and what it needs of the machine.
#pragma once

#include "core/result.h"
#include "cuda/shared_object.h"

#include <cstddef>
#include <string>
#include <vector>

namespace cudnn_frontend::cudnn {

struct LibraryReport;

// The part that every function of libcudnn lies in.
inline constexpr char const* kGraphPart = "libcudnn_graph.so.9";

// The one that the libcudnn at `library_path` will use.
cuda::SharedObject open_graph_part(std::string const& library_path);

// Empty where libcudnn and its graph part belong together.
std::string problem_of_versions(cuda::SharedObject const& library, cuda::SharedObject const& graph_part,
                                std::size_t version);

// Empty where no part beside libcudnn ends the program when cuDNN opens it.
std::string problem_of_parts(std::string const& library_path);

// Opens cuBLASLt, for as long as the process lives, where the engines of that cuDNN will look for it: they end the
// program where it cannot be opened.
error_t open_cublas(LibraryReport const& report);

// What is missing, or from elsewhere. Cheap: nothing is opened.
std::vector<std::string> notes_on_parts(std::string const& library_path);

// Opens NVRTC, where it can be found, for as long as the process lives.
void open_compiler(std::size_t cuda_version);

// Where NVRTC, cuBLASLt and the CUDA driver are, or how to get them. Opens NVRTC and cuBLASLt, which takes a tenth of a
// second: for reports.
std::vector<std::string> notes_on_machine(LibraryReport const& report);

}  // namespace cudnn_frontend::cudnn
