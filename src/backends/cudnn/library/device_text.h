// The text of a device: cuDNN's JSON, a flat object without escapes. Other text does no harm, but has no use.
#pragma once

#include <string>
#include <string_view>

namespace cudnn_frontend::cudnn {

// The value of a member, without quotes; empty if there is none.
std::string_view device_member(std::string_view device, std::string_view name);

// Adds the width of the memory bus, which cuDNN leaves out up to 9.19 and requires from 9.28 on.
std::string with_bus_width(std::string device, int bits);

// The differences of two devices: "multiProcessorCount 114 instead of 132, ..."; empty if they are equal.
struct DeviceDifference {
    std::string of_kernels;  // properties that compiled kernels and their launches depend on
    std::string of_rest;     // names, clocks, memory, caches, drivers
};
DeviceDifference difference_of(std::string_view device, std::string_view reference);

}  // namespace cudnn_frontend::cudnn
