// The device that plans are made for, as cuDNN describes it. A description suffices for planning without the device.
#pragma once

#include "cudnn/library/descriptor.h"

#include <memory>
#include <string>

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

   private:
    static Result<std::shared_ptr<Device const>> finish(Descriptor descriptor);

    Descriptor descriptor_;
    std::string json_, name_;
    int sm_ = 0, ordinal_ = 0;
};

}  // namespace cudnn_frontend::cudnn
