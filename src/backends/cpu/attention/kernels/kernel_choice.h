// A description of the kernels that run, for people.
#pragma once

#include <string>

namespace cudnn_frontend::cpu {

// One line: the instruction set whose kernels run, those that could run, and why AMX is not among them.
std::string describe_kernels();

}  // namespace cudnn_frontend::cpu
