// A plan compiled with no GPU, stored in a file, and run by another process on the GPU it was made for.
//   sample_12_offline_plan store <file>    works on any machine that has cuDNN
//   sample_12_offline_plan run <file>      needs an H200
#include <cstring>
#include <fstream>
#include <iterator>

#include "gpu_problem.h"

namespace fe = cudnn_frontend;
using Bytes = std::vector<std::uint8_t>;

namespace {

int store(char const* path) {
    fe::graph::Graph graph;
    samples::GpuProblem::describe(graph);
    fe::error_t const built = graph.build(fe::Target::offline("h200"));  // before anything else loads the CUDA driver
    if (fe::runtime::cudnn_version() == 0) samples::skip("there is no cuDNN library here");
    samples::require(built);
    Bytes bytes;
    std::string name;
    samples::require(graph.serialize(bytes));
    samples::require(graph.get_plan_name(name));
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    std::printf("12_offline_plan: for an H200, engine %s, workspace %lld bytes; %zu bytes written to %s\n",
                name.c_str(), static_cast<long long>(graph.get_workspace_size()), bytes.size(), path);
    return file.good() ? 0 : 1;
}

int run(char const* path) {
    samples::Gpu const gpu;
    std::ifstream file(path, std::ios::binary);
    Bytes const bytes{std::istreambuf_iterator<char>(file), {}};

    // Nothing is described and nothing compiled: the file holds the graph and its plan.
    fe::graph::Graph graph;
    samples::require(graph.deserialize(gpu.handle(), bytes));
    samples::GpuArray<char> const workspace(static_cast<std::size_t>(graph.get_workspace_size()));
    samples::GpuProblem problem(1);
    samples::require(graph.execute(gpu.handle(), problem.pack(), workspace.data()));
    gpu.wait();
    std::printf("12_offline_plan: loaded from %s\n", path);
    samples::Checks checks;
    checks.compare("O", problem.take_result(), problem.expected(), samples::GpuProblem::limit());
    return checks.exit_code();
}

}  // namespace

// Two processes, since a process that plans offline has a stand-in for the CUDA driver and cannot use a GPU.
int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "store") == 0) return store(argv[2]);
    if (argc == 3 && std::strcmp(argv[1], "run") == 0) return run(argv[2]);
    std::fprintf(stderr, "usage: %s store|run <file>\n", argv[0]);
    return 2;
}
