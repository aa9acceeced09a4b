#include <cudnn_frontend/target.h>

#include <memory>
#include <utility>

namespace cudnn_frontend {

Target::Target(Kind kind, int threads, cudnnHandle_t handle) : kind_(kind), threads_(threads), handle_(handle) {}

Target Target::cpu(int threads) { return {Kind::CPU, threads, nullptr}; }
Target Target::reference() { return {Kind::REFERENCE, 1, nullptr}; }
Target Target::cuda(cudnnHandle_t handle) { return {Kind::CUDA, 0, handle}; }
Target Target::cuda(Cuda_stream stream) {
    Target target(Kind::STREAM, 0, nullptr);
    target.stream_ = stream;
    return target;
}
Target Target::offline(std::string const& device) {
    return offline(std::make_shared<DeviceProperties const>(DeviceProperties::named(device)));
}
Target Target::offline(std::shared_ptr<DeviceProperties const> device) {
    Target target(Kind::OFFLINE, 0, nullptr);
    target.device_ = std::move(device);
    return target;
}

char const* to_string(Target::Kind kind) {
    switch (kind) {
        case Target::Kind::CPU: return "cpu";
        case Target::Kind::REFERENCE: return "reference";
        case Target::Kind::CUDA: return "cuda";
        case Target::Kind::OFFLINE: return "offline";
        case Target::Kind::STREAM: return "stream";
    }
    return "?";
}

}  // namespace cudnn_frontend
