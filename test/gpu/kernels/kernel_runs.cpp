#include "gpu/kernels/kernel_runs.h"

#include <memory>

namespace sdpa_test {
namespace {

using kernels::Kernel;

std::string problem(cudnn_frontend::error_t const& error) { return error.is_good() ? "" : error.err_msg; }
std::string problem(cudaError_t status) { return status == cudaSuccess ? "" : cudaGetErrorString(status); }

// A case's buffers on the GPU, moved on by some elements of each operand's.
class DeviceBuffers {
   public:
    DeviceBuffers(KernelCase const& made, std::size_t shift) {
        auto const operands = operands_of(made.steps.front().joint()).operands;
        for (std::size_t i = 0; i < operands.size(); ++i) {
            std::vector<std::byte> const& bytes = made.tensors[i].bytes;
            shifts_.push_back(shift * static_cast<std::size_t>(operands[i].element_bytes()));
            memory_.push_back(std::make_unique<DeviceBytes>(bytes.size() + shifts_[i]));
            std::byte* const start = memory_[i]->get() + shifts_[i];
            cudaMemcpy(start, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
            pointers_.push_back(start + made.tensors[i].start);
        }
    }
    std::vector<void*> const& pointers() const { return pointers_; }
    KernelTensors read(KernelTensors like) const {
        for (std::size_t i = 0; i < like.size(); ++i) {
            cudaMemcpy(like[i].bytes.data(), memory_[i]->get() + shifts_[i], like[i].bytes.size(),
                       cudaMemcpyDeviceToHost);
        }
        return like;
    }

   private:
    std::vector<std::unique_ptr<DeviceBytes>> memory_;
    std::vector<std::size_t> shifts_;
    std::vector<void*> pointers_;
};

struct Stream {
    Stream() { cudaStreamCreateWithFlags(&get, cudaStreamNonBlocking); }
    ~Stream() { cudaStreamDestroy(get); }
    cudaStream_t get = nullptr;
};

struct Graph {
    ~Graph() {
        if (instance != nullptr) cudaGraphExecDestroy(instance);
        if (get != nullptr) cudaGraphDestroy(get);
    }
    cudaGraph_t get = nullptr;
    cudaGraphExec_t instance = nullptr;
};

std::string capture(Kernel const& kernel, Stream const& stream, Graph& graph, kernels::Pointers pointers) {
    if (std::string text = problem(kernel.load()); !text.empty()) return text;
    cudaStreamBeginCapture(stream.get, cudaStreamCaptureModeGlobal);
    std::string text = problem(kernel.launch(stream.get, pointers));
    cudaStreamEndCapture(stream.get, &graph.get);
    return text;
}

std::string fill(Kernel const& kernel, WayToRun way, Graph& graph, kernels::Pointers pointers,
                 kernels::Pointers others) {
    cudaGraphCreate(&graph.get, 0);
    auto const node = kernel.add_node(graph.get, {}, way == WayToRun::Node ? pointers : others);
    if (node.is_bad()) return node.error().err_msg;
    if (way == WayToRun::UpdatedNode) return problem(kernel.update_node(node.value(), pointers));
    if (way == WayToRun::Node) return "";
    if (std::string text = problem(cudaGraphInstantiate(&graph.instance, graph.get, 0)); !text.empty()) return text;
    return problem(kernel.update_node(node.value(), graph.instance, pointers));
}

}  // namespace

std::string run_on_gpu(Kernel const& kernel, WayToRun way, kernels::Pointers pointers, kernels::Pointers others) {
    Stream const stream;
    Graph graph;
    std::string text;
    if (way == WayToRun::Launch) {
        text = problem(kernel.launch(stream.get, pointers));
    } else {
        text = way == WayToRun::CapturedLaunch ? capture(kernel, stream, graph, pointers)
                                               : fill(kernel, way, graph, pointers, others);
        if (text.empty() && graph.instance == nullptr) {
            text = problem(cudaGraphInstantiate(&graph.instance, graph.get, 0));
        }
        if (text.empty()) text = problem(cudaGraphLaunch(graph.instance, stream.get));
    }
    return text.empty() ? problem(cudaStreamSynchronize(stream.get)) : text;
}

std::string fault_on_gpu(KernelCase const& made, kernels::DeviceFacts const& device, WayToRun way) {
    auto const kernel = compile(made.steps.front().joint(), device);
    if (kernel.is_bad()) return kernel.error().err_msg;
    DeviceBuffers const buffers(made, 0), others(made, 1);  // of another alignment, so that updates change the function
    std::string const text = run_on_gpu(*kernel.value(), way, buffers.pointers(), others.pointers());
    if (!text.empty()) return text;
    KernelTensors const untouched = others.read(made.tensors);
    for (std::size_t i = 0; i < untouched.size(); ++i) {
        if (untouched[i].bytes != made.tensors[i].bytes) return "memory that the kernel was bound to before changed";
    }
    return fault_of_joint(made, buffers.read(made.tensors));
}

}  // namespace sdpa_test
