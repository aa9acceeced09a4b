#include "torch_c.h"

#include <dlfcn.h>

#include <cstring>
#include <stdexcept>
#include <string>

namespace binding::torch_c {
namespace {

namespace fe = cudnn_frontend;
using sdpa_graph::Device_kind;
using sdpa_graph::Tensor_view;

// Each function returns 0 unless it fails.
struct Functions {
    int (*library)(char const*, char const*, char const*, std::uint32_t, Object*) = nullptr;
    int (*implement)(Object, char const*, Kernel) = nullptr;
    int (*data)(Object, void**) = nullptr;
    int (*rank)(Object, std::int64_t*) = nullptr;
    int (*sizes)(Object, std::int64_t**) = nullptr;
    int (*strides)(Object, std::int64_t**) = nullptr;
    int (*type)(Object, std::int32_t*) = nullptr;
    int (*device_type)(Object, std::int32_t*) = nullptr;
    int (*device_index)(Object, std::int32_t*) = nullptr;
    int (*empty)(std::int64_t, std::int64_t const*, std::int64_t const*, std::int32_t, std::int32_t, std::int32_t,
                 Object*) = nullptr;
    int (*undefined)(Object*) = nullptr;
    int (*is_defined)(Object, bool*) = nullptr;
    int (*copy)(Object, Object, std::int32_t) = nullptr;
    int (*destroy)(Object) = nullptr;
    int (*destroy_list)(Object) = nullptr;
    std::int32_t (*half)() = nullptr, (*bfloat16)() = nullptr, (*single)() = nullptr, (*int64)() = nullptr,
                 (*bytes)() = nullptr;
    std::int32_t (*cuda)() = nullptr;
    // These are null in builds of PyTorch without CUDA.
    int (*stream)(std::int32_t, void**) = nullptr;
    int (*guard)(std::int32_t, Object*) = nullptr;
    int (*destroy_guard)(Object) = nullptr;

    bool load();
};

template <class Function>
bool find(void* library, char const* name, Function& function) {
    function = library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

bool Functions::load() {
    void* const cpu = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    void* const with_cuda = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
    find(with_cuda, "aoti_torch_get_current_cuda_stream", stream);
    find(with_cuda, "aoti_torch_create_cuda_guard", guard);
    find(with_cuda, "aoti_torch_delete_cuda_guard", destroy_guard);
    return find(cpu, "aoti_torch_library_init_impl", library) && find(cpu, "aoti_torch_library_impl", implement) &&
           find(cpu, "aoti_torch_get_data_ptr", data) && find(cpu, "aoti_torch_get_dim", rank) &&
           find(cpu, "aoti_torch_get_sizes", sizes) && find(cpu, "aoti_torch_get_strides", strides) &&
           find(cpu, "aoti_torch_get_dtype", type) && find(cpu, "aoti_torch_get_device_type", device_type) &&
           find(cpu, "aoti_torch_get_device_index", device_index) && find(cpu, "aoti_torch_empty_strided", empty) &&
           find(cpu, "aoti_torch_new_uninitialized_tensor", undefined) &&
           find(cpu, "aoti_torch_is_defined", is_defined) && find(cpu, "aoti_torch_copy_", copy) &&
           find(cpu, "aoti_torch_delete_tensor_object", destroy) &&
           find(cpu, "torch_delete_list", this->destroy_list) && find(cpu, "aoti_torch_dtype_float16", half) &&
           find(cpu, "aoti_torch_dtype_bfloat16", bfloat16) && find(cpu, "aoti_torch_dtype_float32", single) &&
           find(cpu, "aoti_torch_dtype_int64", int64) && find(cpu, "aoti_torch_dtype_uint8", bytes) &&
           find(cpu, "aoti_torch_device_type_cuda", cuda);
}

Functions torch;  // set once, before a kernel is registered

void expect(int failure, char const* what) {
    if (failure != 0) throw std::runtime_error(std::string("PyTorch failed to ") + what);
}

fe::DataType_t data_type_of(std::int32_t type) {
    if (type == torch.half()) return fe::DataType_t::HALF;
    if (type == torch.bfloat16()) return fe::DataType_t::BFLOAT16;
    if (type == torch.int64()) return fe::DataType_t::INT64;
    return type == torch.single() ? fe::DataType_t::FLOAT : fe::DataType_t::NOT_SET;
}

std::int32_t torchs_type_of(fe::DataType_t type) {
    switch (type) {
        case fe::DataType_t::HALF: return torch.half();
        case fe::DataType_t::BFLOAT16: return torch.bfloat16();
        case fe::DataType_t::FLOAT: return torch.single();
        default: return torch.bytes();
    }
}

}  // namespace

bool load() {
    static bool const is_loaded = torch.load();
    return is_loaded;
}

bool has_cuda() { return torch.guard != nullptr; }

bool implement(char const* key, std::vector<Named_kernel> const& kernels) {
    Object library = nullptr;
    if (torch.library("aten", key, __FILE__, __LINE__, &library) != 0) return false;
    for (auto const& [name, kernel] : kernels)
        if (torch.implement(library, name, kernel) != 0) return false;
    return true;
}

void destroy_list(Value list) { torch.destroy_list(reinterpret_cast<Object>(list)); }

Tensor::~Tensor() {
    if (object_ != nullptr) torch.destroy(object_);
}

Tensor Tensor::empty(Tensor_view const& wanted) {
    Tensor made;
    std::int32_t const device = wanted.device == Device_kind::CUDA ? torch.cuda() : 0;
    expect(torch.empty(static_cast<std::int64_t>(wanted.dim.size()), wanted.dim.data(), wanted.stride.data(),
                       torchs_type_of(wanted.type), device, wanted.device_index, &made.object_),
           "make a tensor");
    return made;
}

Tensor Tensor::undefined() {
    Tensor made;
    expect(torch.undefined(&made.object_), "make a tensor");
    return made;
}

bool Tensor::is_defined() const {
    bool is_defined = false;
    if (object_ != nullptr) expect(torch.is_defined(object_, &is_defined), "describe a tensor");
    return is_defined;
}

Tensor_view Tensor::view() const {
    Tensor_view view;
    std::int64_t rank = 0, *sizes = nullptr, *strides = nullptr;
    std::int32_t type = 0, device = 0;
    int const failures = torch.rank(object_, &rank) | torch.sizes(object_, &sizes) | torch.strides(object_, &strides) |
                         torch.data(object_, &view.data) | torch.type(object_, &type) |
                         torch.device_type(object_, &device) | torch.device_index(object_, &view.device_index);
    expect(failures, "describe a tensor");
    view.dim.assign(sizes, sizes + rank);
    view.stride.assign(strides, strides + rank);
    view.type = data_type_of(type);
    view.device = device == torch.cuda() ? Device_kind::CUDA : Device_kind::CPU;
    if (view.device == Device_kind::CPU) view.device_index = 0;
    return view;
}

Tensor Tensor::with_strides(std::vector<std::int64_t> const& strides) && {
    Tensor_view view = this->view();
    if (view.stride == strides) return std::move(*this);
    view.stride = strides;
    Tensor made = empty(view);
    expect(torch.copy(made.object_, object_, 0), "copy a tensor");
    return made;
}

Tensor Tensor::with_last_dim_packed() && {
    Tensor_view const view = this->view();
    bool const is_packed = view.dim.empty() || view.stride.back() == 1 || view.dim.back() == 1;
    return is_packed ? std::move(*this) : std::move(*this).with_strides(sdpa_graph::row_major(view.dim));
}

Guard::Guard(Tensor_view const& view) {
    if (view.device == Device_kind::CUDA) expect(torch.guard(view.device_index, &guard_), "change the device");
}

Guard::~Guard() {
    if (guard_ != nullptr) torch.destroy_guard(guard_);
}

Memory_of_call::Memory_of_call(Tensor_view const& like) {
    place_.allocator.context = this;
    place_.allocator.allocate = [](void* context, char const* name, Tensor_view const& wanted) -> void* {
        return static_cast<Memory_of_call*>(context)->make(name, wanted);
    };
    void* stream = nullptr;
    if (like.device == Device_kind::CUDA) expect(torch.stream(like.device_index, &stream), "name its stream");
    place_.stream = static_cast<CUstream_st*>(stream);
}

Tensor_view Memory_of_call::add(char const* name, Tensor_view const& wanted) {
    made_.emplace_back(name, Tensor::empty(wanted));
    return made_.back().second.view();
}

Tensor Memory_of_call::take(char const* name) {
    for (auto& [known, tensor] : made_)
        if (std::strcmp(known, name) == 0) return std::move(tensor);
    return Tensor::undefined();
}

void* Memory_of_call::make(char const* name, Tensor_view const& wanted) noexcept {
    try {
        return add(name, wanted).data;
    } catch (...) {
        return nullptr;
    }
}

}  // namespace binding::torch_c
