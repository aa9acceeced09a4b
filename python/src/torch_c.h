// Tensors, streams and operators of PyTorch through the C functions that it keeps stable, so that nothing of it is
// needed when this is built.
#pragma once

#include <sdpa_graph/place.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace binding::torch_c {

using Object = void*;         // a tensor, a library or a guard of PyTorch
using Value = std::uint64_t;  // an argument or a result, in PyTorch's stable form
using Kernel = void (*)(Value* stack, std::uint64_t arguments, std::uint64_t results);

// Looks up the functions in the libraries that the process has loaded. False if one is not there: nothing else may be
// called then.
bool load();
bool has_cuda();

// Makes the kernel that of the operator aten::<name> for tensors on a CPU or on GPUs, by PyTorch's key of these.
struct Named_kernel {
    char const* name;
    Kernel kernel;
};
bool implement(char const* key, std::vector<Named_kernel> const& kernels);

void destroy_list(Value list);

// Owns a tensor. Functions throw std::runtime_error where PyTorch fails.
class Tensor {
   public:
    Tensor() = default;
    explicit Tensor(Value value) : object_(reinterpret_cast<Object>(value)) {}
    Tensor(Tensor&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Tensor& operator=(Tensor&& other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Tensor();

    // With the dims, strides, type and device of the view.
    static Tensor empty(sdpa_graph::Tensor_view const& wanted);
    static Tensor undefined();

    Value release() { return reinterpret_cast<Value>(std::exchange(object_, nullptr)); }
    // A tensor that PyTorch left out is not.
    bool is_defined() const;
    sdpa_graph::Tensor_view view() const;
    // Copies a tensor that has other strides.
    Tensor with_strides(std::vector<std::int64_t> const& strides) &&;
    // The same for one whose last dim has gaps: autograd gives gradients of any strides.
    Tensor with_last_dim_packed() &&;

   private:
    Object object_ = nullptr;
};

// The GPU of the tensors is the current one as long as this lives.
class Guard {
   public:
    explicit Guard(sdpa_graph::Tensor_view const& view);
    ~Guard();
    Guard(Guard const&) = delete;
    Guard& operator=(Guard const&) = delete;

   private:
    Object guard_ = nullptr;
};

// Where a call runs, and the tensors that were made for it, by the names of results.
class Memory_of_call {
   public:
    explicit Memory_of_call(sdpa_graph::Tensor_view const& like);
    Memory_of_call(Memory_of_call const&) = delete;
    Memory_of_call& operator=(Memory_of_call const&) = delete;

    sdpa_graph::Place& place() { return place_; }
    // Makes a result whose strides the call does not choose.
    sdpa_graph::Tensor_view add(char const* name, sdpa_graph::Tensor_view const& wanted);
    // An undefined tensor if the call made none of the name.
    Tensor take(char const* name);

   private:
    // Null if there is no memory: exceptions do not pass through the library.
    void* make(char const* name, sdpa_graph::Tensor_view const& wanted) noexcept;

    sdpa_graph::Place place_;
    std::vector<std::pair<char const*, Tensor>> made_;
};

}  // namespace binding::torch_c
