#include "cuda/device_facts.h"

#include "cuda/driver.h"

namespace cudnn_frontend::cuda {
namespace {

error_t get(int& value, CUdevice_attribute attribute, int ordinal) {
    return ask("asking for facts of the GPU",
               [&](Driver const& cuda) { return cuda.device_attribute(&value, attribute, ordinal); });
}

}  // namespace

Result<DeviceFacts> device_facts(int ordinal) {
    int major = 0, minor = 0;
    DeviceFacts facts;
    SDPA_GRAPH_TRY(check_driver());
    SDPA_GRAPH_TRY(get(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, ordinal));
    SDPA_GRAPH_TRY(get(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, ordinal));
    SDPA_GRAPH_TRY(get(facts.multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, ordinal));
    facts.compute_capability = major * 10 + minor;
    return facts;
}

}  // namespace cudnn_frontend::cuda
