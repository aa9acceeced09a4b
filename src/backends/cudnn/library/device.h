// The device that plans are made for, as cuDNN describes it. A description suffices for planning without the device.
#pragma once

#include "cudnn/library/descriptor.h"

#include <memory>
#include <string>
#include <string_view>

namespace cudnn_frontend::cudnn {

class Device {
   public:
    static Result<std::shared_ptr<Device const>> from_handle(Api const& api, cudnnHandle_t handle);
    static Result<std::shared_ptr<Device const>> from_id(Api const& api, std::int32_t id);
    // cuDNN's JSON form, as json() gives it.
    static Result<std::shared_ptr<Device const>> from_json(Api const& api, std::string const& json);

    Descriptor const& descriptor() const { return descriptor_; }
    std::string const& json() const { return json_; }
    int sm() const { return sm_; }  // compute capability, 90 for 9.0
    std::string const& name() const { return name_; }
    int ordinal() const { return ordinal_; }
    int multiprocessors() const { return multiprocessors_; }  // 0 if the description does not say it

   private:
    static Result<std::shared_ptr<Device const>> finish(Descriptor descriptor);

    Descriptor descriptor_;
    std::string json_, name_;
    int sm_ = 0, ordinal_ = 0, multiprocessors_ = 0;
};

// The text of a device: cuDNN's JSON, a flat object without escapes. Other text does no harm, but has no use.

// The value of a member, without quotes; empty if there is none.
std::string_view device_member(std::string_view device, std::string_view name);

// The members that a compiled plan depends on, with their values.
std::string members_of_kernels(std::string_view device);

// Adds the width of the memory bus, which cuDNN leaves out up to 9.19 and requires from 9.28 on.
std::string with_bus_width(std::string device, int bits);

// The differences of two devices: "multiProcessorCount 114 instead of 132, ..."; empty if they are equal.
struct DeviceDifference {
    std::string of_kernels;  // properties that compiled kernels and their launches depend on
    std::string of_rest;     // names, clocks, memory, caches, drivers
};
DeviceDifference difference_of(std::string_view device, std::string_view reference);

}  // namespace cudnn_frontend::cudnn
