// The text of a device: cuDNN's JSON, a flat object without escapes. Any other text is read too, to no purpose.
#pragma once

#include <string>
#include <string_view>

namespace cudnn_frontend::cudnn {

// The value of a member, without the quotes of a text; empty where there is none.
std::string_view device_member(std::string_view device, std::string_view name);

// The device with the width of its memory bus, which cuDNN leaves out up to 9.19 and wants from 9.28 on.
std::string with_bus_width(std::string device, int bits);

// What two devices differ in: "multiProcessorCount 114 instead of 132, ...". Empty where they are equal.
struct DeviceDifference {
    std::string of_kernels;  // what compiled kernels and their launches depend on
    std::string of_rest;     // names, clocks, memory, caches, drivers
};
DeviceDifference difference_of(std::string_view device, std::string_view reference);

}  // namespace cudnn_frontend::cudnn
