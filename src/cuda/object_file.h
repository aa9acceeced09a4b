// Checks of a file before the loader opens it: the loader would block on a pipe, and a truncated library would end the
// program with a bus error.
#pragma once

#include <string>

namespace cudnn_frontend::cuda {

// Empty if it is a regular file, or does not exist, which the loader reports.
std::string problem_of_kind(std::string const& path);

// The same, and that a library is not truncated. The loader refuses other files.
std::string problem_of_object_file(std::string const& path);

}  // namespace cudnn_frontend::cuda
