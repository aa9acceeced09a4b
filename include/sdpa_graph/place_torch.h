// Shared by the functions on at::Tensor: views of tensors, and where calls run.
#pragma once

#include "place.h"

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <map>
#include <optional>
#include <string>

namespace sdpa_graph {
namespace place_torch {

inline cudnn_frontend::DataType_t type_of(at::ScalarType type) {
    using cudnn_frontend::DataType_t;
    switch (type) {
        case at::kHalf: return DataType_t::HALF;
        case at::kBFloat16: return DataType_t::BFLOAT16;
        case at::kFloat: return DataType_t::FLOAT;
        case at::kDouble: return DataType_t::DOUBLE;
        case at::kInt: return DataType_t::INT32;
        case at::kLong: return DataType_t::INT64;
        case at::kByte: return DataType_t::UINT8;
        case at::kChar: return DataType_t::INT8;
        case at::kBool: return DataType_t::BOOLEAN;
        default: return DataType_t::NOT_SET;
    }
}

// PyTorch's type for those in which the functions ask for memory; bytes for all others.
inline at::ScalarType type_of(cudnn_frontend::DataType_t type) {
    using cudnn_frontend::DataType_t;
    switch (type) {
        case DataType_t::HALF: return at::kHalf;
        case DataType_t::BFLOAT16: return at::kBFloat16;
        case DataType_t::FLOAT: return at::kFloat;
        default: return at::kByte;
    }
}

// An undefined tensor gives a view without data.
inline Tensor_view view_of(at::Tensor const& tensor) {
    Tensor_view view;
    if (!tensor.defined()) return view;
    view.data = tensor.data_ptr();
    view.dim.assign(tensor.sizes().begin(), tensor.sizes().end());
    view.stride.assign(tensor.strides().begin(), tensor.strides().end());
    view.type = type_of(tensor.scalar_type());
    view.device = tensor.is_cuda() ? Device_kind::CUDA : tensor.is_cpu() ? Device_kind::CPU : Device_kind::UNKNOWN;
    view.device_index = tensor.is_cuda() ? tensor.get_device() : 0;
    return view;
}

inline std::optional<Tensor_view> view_of(std::optional<at::Tensor> const& tensor) {
    if (!tensor) return std::nullopt;
    return view_of(*tensor);
}

// c10::Stream has a function that returns its handle since PyTorch 2.11.
template <class Stream>
auto handle_of(Stream const& stream, int) -> decltype(static_cast<CUstream_st*>(stream.native_handle())) {
    return static_cast<CUstream_st*>(stream.native_handle());
}
template <class Stream>
CUstream_st* handle_of(Stream const& stream, long) {
    TORCH_CHECK(stream.id() == 0, "on another stream than the default one, PyTorch 2.11 or newer is needed");
    return nullptr;
}

// The tensors that a call makes, by the names of its results.
class Call {
   public:
    explicit Call(at::Tensor const& like) : like_(like), guard_(like.device()) {
        place_.allocator.context = this;
        place_.allocator.allocate = [](void* context, char const* name, Tensor_view const& wanted) -> void* {
            return static_cast<Call*>(context)->make(name, wanted);
        };
        place_.is_deterministic = at::globalContext().deterministicAlgorithms();
        if (like.is_cuda())
            place_.stream = handle_of(c10::impl::VirtualGuardImpl(at::kCUDA).getStream(like.device()), 0);
    }
    Call(Call const&) = delete;
    Call& operator=(Call const&) = delete;

    Place const& place() const { return place_; }
    // The tensor of a result: the caller's, or the one that was made for it; undefined where there is none.
    at::Tensor result(char const* name, Tensor_view const& view, std::optional<at::Tensor> const& given = {}) const {
        if (given) return *given;
        auto const made = made_.find(name);
        if (made != made_.end()) return made->second;
        return view.dim.empty() ? at::Tensor() : empty(view);
    }

   private:
    at::Tensor empty(Tensor_view const& wanted) const {
        return at::empty(wanted.dim, like_.options().dtype(type_of(wanted.type)));
    }
    // Exceptions must not pass through the library: memory that cannot be made is null, and an error of the call.
    void* make(char const* name, Tensor_view const& wanted) noexcept {
        try {
            return (made_[name] = empty(wanted)).data_ptr();
        } catch (...) {
            return nullptr;
        }
    }

    at::Tensor like_;
    c10::DeviceGuard guard_;
    Place place_;
    std::map<std::string, at::Tensor> made_;
};

inline void check(cudnn_frontend::error_object const& error) { TORCH_CHECK(error.is_good(), error.get_message()); }

}  // namespace place_torch
}  // namespace sdpa_graph
