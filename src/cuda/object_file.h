// What is looked at before the loader gets a file: it waits for ever on a pipe, and a library that was cut off ends the
// program with a bus error.
#pragma once

#include <string>

namespace cudnn_frontend::cuda {

// Empty where the file is one, or is not there: of that the loader tells.
std::string problem_of_kind(std::string const& path);

// The same, and of a library that its segments are all there. Other files are the loader's to refuse.
std::string problem_of_object_file(std::string const& path);

}  // namespace cudnn_frontend::cuda
