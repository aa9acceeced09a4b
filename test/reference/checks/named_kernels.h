// The instruction set that SDPA_GRAPH_CPU_KERNELS names, for tests that ctest runs once with each.
#pragma once

#include <cudnn_frontend/runtime.h>

#include <cstdlib>
#include <string>

namespace sdpa_test {

// The reason why attention on the CPU does not run the kernels of this set; empty where it does.
inline std::string why_not_named_kernels() {
    char const* const name = std::getenv("SDPA_GRAPH_CPU_KERNELS");
    if (name == nullptr) return "SDPA_GRAPH_CPU_KERNELS is not set; set it to baseline or to another instruction set";
    std::string const report = cudnn_frontend::runtime::describe();
    std::string const line = report.substr(report.rfind("attention on the CPU: "));
    bool const runs = line.find(std::string("kernels for ") + name + ", as SDPA_GRAPH_CPU_KERNELS says") != line.npos;
    return runs ? std::string() : "this machine runs no kernels for " + std::string(name) + "; " + line;
}

}  // namespace sdpa_test
