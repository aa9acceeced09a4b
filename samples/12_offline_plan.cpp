// A plan compiled with no GPU, stored in a file, and run by another process on a GPU of its kind.
//   ./run sample 12_offline_plan device <device>          describes the GPU of this machine
//   ./run sample 12_offline_plan store <plan> [device]    needs cuDNN and no GPU; for an H200, or that GPU
//   ./run sample 12_offline_plan show <plan>              says what the file holds
//   ./run sample 12_offline_plan run <plan>               needs such a GPU
#include <cudnn_frontend/stored_plan.h>

#include <fstream>
#include <iterator>

#include "gpu_problem.h"

namespace fe = cudnn_frontend;
using Bytes = std::vector<std::uint8_t>;

namespace {

Bytes read(char const* path) {
    std::ifstream file(path, std::ios::binary);
    if (!file.good()) samples::skip((std::string("there is no file ") + path).c_str());
    return Bytes{std::istreambuf_iterator<char>(file), {}};
}

int write(char const* path, Bytes const& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    return file.good() ? 0 : 1;
}

int describe_gpu(char const* path) {
    samples::Gpu const gpu;
    fe::DeviceProperties device;
    samples::require(device.set_handle(gpu.handle()).build());
    Bytes bytes;
    samples::require(device.serialize(bytes));
    std::printf("12_offline_plan: %s\n", device.describe().c_str());
    return write(path, bytes);
}

fe::Target target_of(char const* device_path) {
    if (device_path == nullptr) return fe::Target::offline("h200");
    auto const device = std::make_shared<fe::DeviceProperties>();
    samples::require(device->deserialize(read(device_path)));
    return fe::Target::offline(device);
}

// Needs neither a GPU nor cuDNN.
int show(char const* path) {
    fe::Stored_plan plan;
    samples::require(fe::read_stored_plan(read(path), plan));
    std::printf("%s", plan.to_text().c_str());
    return 0;
}

int store(char const* path, char const* device_path) {
    fe::graph::Graph graph;
    samples::GpuProblem::describe(graph);
    fe::error_t const built = graph.build(target_of(device_path));  // before anything else loads the CUDA driver
    if (fe::runtime::cudnn_version() == 0) samples::skip("there is no cuDNN library here");
    samples::require(built);
    Bytes bytes;
    samples::require(graph.serialize(bytes));
    std::printf("12_offline_plan: %zu bytes written to %s\n", bytes.size(), path);
    return write(path, bytes) == 0 ? show(path) : 1;
}

int run(char const* path) {
    samples::Gpu const gpu;
    Bytes const bytes = read(path);

    // The graph is neither described nor compiled: the file holds it and its plan.
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
    std::string const command = argc > 2 ? argv[1] : "";
    if (argc == 3 && command == "device") return describe_gpu(argv[2]);
    if (argc <= 4 && command == "store") return store(argv[2], argc == 4 ? argv[3] : nullptr);
    if (argc == 3 && command == "show") return show(argv[2]);
    if (argc == 3 && command == "run") return run(argv[2]);
    std::fprintf(stderr, "usage: %s device <device>|store <plan> [device]|show <plan>|run <plan>\n", argv[0]);
    return 2;
}
