#include "api/backends.h"

#include "cpu/cpu_backend.h"
#include "cpu/memory/indices.h"
#include "cudnn/planning/cudnn_backend.h"
#include "cudnn/planning/planning_device.h"
#include "kernels/kernels_backend.h"
#include "kernels/launch/stream_device.h"

namespace cudnn_frontend::api {

static Result<kernels::QueueDevice> queue_device(Target const& target, plan::Settings const& settings) {
    if (target.kind() == Target::Kind::STREAM) return kernels::stream_device(target, settings);
    auto found = cudnn::find_planning_device(target, settings.device.get());
    if (found.is_bad()) return found.error();
    auto const device = std::move(found).value();
    auto const facts = cudnn::facts_of(*device.device);
    if (facts.is_bad()) return facts.error();
    return kernels::QueueDevice{
        facts.value(), [device](plan::Queue queue) { return cudnn::check_queue(device, queue); },
        [device](plan::Queue queue) { return cudnn::stream_of(device, queue); },
        [device](plan::Queue queue) { return cudnn::stopwatch_of(device, queue); }, device.device->name()};
}

static Result<std::string> identity_of_device(Target const& target, plan::Settings const& settings) {
    if (target.kind() == Target::Kind::STREAM) return kernels::identity_of_stream(target, settings);
    return cudnn::identity_of_device(target, settings.device.get());
}

// They are never destroyed: static objects of the program may still plan after this library's were destroyed.
plan::Backends const& backends() {
    static auto const& cudnn = *new cudnn::CudnnBackend(cpu::check_indices_elsewhere);
    static auto const& kernels = *new kernels::KernelsBackend({true, queue_device, identity_of_device});
    static auto const& all = *new plan::Backends{&cudnn, &kernels, &cpu::backend()};
    return all;
}

}  // namespace cudnn_frontend::api
