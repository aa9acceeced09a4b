// What people get told about the kernels that run.
#pragma once

#include <string>

namespace cudnn_frontend::cpu {

// One line: the kernels for the instruction set that runs, for those that could run, and why AMX is not among them.
std::string describe_kernels();

}  // namespace cudnn_frontend::cpu
