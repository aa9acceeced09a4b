// Stores cuDNN's description of this machine's GPU in a file for devices/:
//   record_device <folder> [name]   without a name by that of its model, as h100
#include "cudnn/library/api.h"
#include "cudnn/library/device.h"
#include "cudnn/offline/devices.h"

#include <cudnn_frontend/runtime.h>

#include <cstdio>
#include <fstream>

namespace {

using namespace cudnn_frontend;
using offline::DeviceDescription;

Result<std::string> properties_of_gpu() {
    cudnnHandle_t handle = nullptr;
    SDPA_GRAPH_TRY(runtime::create_handle(&handle));
    DeviceProperties device;
    error_object const built = device.set_handle(handle).build();
    SDPA_GRAPH_TRY(runtime::destroy_handle(handle));
    SDPA_GRAPH_TRY(built);
    return device.to_json();
}

Result<DeviceDescription> recorded(std::string const& name) {
    auto const properties = properties_of_gpu();
    if (properties.is_bad()) return properties.error();
    return offline::recorded_device(properties.value(), name, cudnn::version_text(runtime::cudnn_version()));
}

// Two models may have one name, as H100 boards of 132 and 114 multiprocessors do. A given name replaces the file.
error_object check_name(DeviceDescription const& device, bool is_name_given) {
    auto const known = offline::find_device(device.name);
    if (known.is_bad()) return {};
    auto const [of_kernels, of_rest] = cudnn::difference_of(device.properties, known.value().properties);
    if (of_kernels.empty() || is_name_given) {
        std::string const changes = of_kernels + (of_kernels.empty() || of_rest.empty() ? "" : ", ") + of_rest;
        std::printf("the library's %s, %s, becomes: %s\n", device.name.c_str(), known.value().source.c_str(),
                    changes.empty() ? "the same figures" : changes.c_str());
        return {};
    }
    return {error_code_t::INVALID_VALUE,
            device.name + " is another device, and this one has " + of_kernels + "; './run device " + device.name +
                "-2', or any other name, adds this one, './run device " + device.name + "' replaces the other"};
}

error_object record(std::string const& folder, std::string const& name) {
    auto const device = recorded(name);
    if (device.is_bad()) return device.error();
    SDPA_GRAPH_TRY(check_name(device.value(), !name.empty()));
    std::string const path = folder + "/" + device.value().name + ".json", text = offline::to_json(device.value());
    std::ofstream file(path);
    file << text << std::flush;
    if (!file.good()) return {error_code_t::INVALID_VALUE, "cannot write " + path};
    std::printf("%s\n%s", path.c_str(), text.c_str());
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2 && argc != 3) {
        std::puts("usage: record_device <folder> [name]");
        return 2;
    }
    error_object const error = record(argv[1], argc == 3 ? argv[2] : "");
    if (error.is_bad()) std::fprintf(stderr, "no device was recorded: %s\n", error.err_msg.c_str());
    return error.is_good() ? 0 : 1;
}
