// Attention as a kernel of PyTorch's own operator for attention by other libraries, which has its gradient in C++. It
// is registered through the C functions that PyTorch keeps stable, so that nothing of it is needed when this is built.
#include "torch_operators.h"

#include <sdpa_graph/attention.h>

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace binding {
namespace {

namespace functions = sdpa_graph::attention;
namespace fe = cudnn_frontend;
using sdpa_graph::Device_kind;
using sdpa_graph::Tensor_view;

using Object = void*;         // a tensor, a library or a guard of PyTorch
using Value = std::uint64_t;  // an argument or a result, in PyTorch's stable form
using Kernel = void (*)(Value*, std::uint64_t, std::uint64_t);

// PyTorch's C functions, from the libraries that the process has loaded. Each returns 0 unless it fails.
struct Torch {
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
    int (*copy)(Object, Object, std::int32_t) = nullptr;
    int (*destroy)(Object) = nullptr;
    int (*destroy_list)(Object) = nullptr;
    std::int32_t (*half)() = nullptr, (*bfloat16)() = nullptr, (*single)() = nullptr, (*bytes)() = nullptr;
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

bool Torch::load() {
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
           find(cpu, "aoti_torch_new_uninitialized_tensor", undefined) && find(cpu, "aoti_torch_copy_", copy) &&
           find(cpu, "aoti_torch_delete_tensor_object", destroy) && find(cpu, "torch_delete_list", destroy_list) &&
           find(cpu, "aoti_torch_dtype_float16", half) && find(cpu, "aoti_torch_dtype_bfloat16", bfloat16) &&
           find(cpu, "aoti_torch_dtype_float32", single) && find(cpu, "aoti_torch_dtype_uint8", bytes) &&
           find(cpu, "aoti_torch_device_type_cuda", cuda);
}

Torch torch;  // set once, before a kernel is registered

void expect(int failure, char const* what) {
    if (failure != 0) throw std::runtime_error(std::string("PyTorch failed to ") + what);
}

// Owns a tensor.
class Tensor {
   public:
    Tensor() = default;
    explicit Tensor(Object object) : object_(object) {}
    Tensor(Tensor&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Tensor& operator=(Tensor&& other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Tensor() {
        if (object_ != nullptr) torch.destroy(object_);
    }

    static Tensor empty(Tensor_view const& wanted, std::int32_t type) {
        Object made = nullptr;
        std::int32_t const device = wanted.device == Device_kind::CUDA ? torch.cuda() : 0;
        expect(torch.empty(static_cast<std::int64_t>(wanted.dim.size()), wanted.dim.data(), wanted.stride.data(), type,
                           device, wanted.device_index, &made),
               "make a tensor");
        return Tensor(made);
    }
    static Tensor undefined() {
        Object made = nullptr;
        expect(torch.undefined(&made), "make a tensor");
        return Tensor(made);
    }

    Object get() const { return object_; }
    Value release() { return reinterpret_cast<Value>(std::exchange(object_, nullptr)); }
    Tensor_view view() const;

   private:
    Object object_ = nullptr;
};

fe::DataType_t data_type_of(std::int32_t type) {
    if (type == torch.half()) return fe::DataType_t::HALF;
    if (type == torch.bfloat16()) return fe::DataType_t::BFLOAT16;
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

// Autograd gives gradients of any strides.
Tensor with_last_dim_packed(Tensor tensor) {
    Tensor_view view = tensor.view();
    if (view.stride.back() == 1 || view.dim.back() == 1) return tensor;
    view.stride = sdpa_graph::row_major(view.dim);
    Tensor made = Tensor::empty(view, torchs_type_of(view.type));
    expect(torch.copy(made.get(), tensor.get(), 0), "copy a tensor");
    return made;
}

// The GPU of the tensors is the current one as long as this lives.
class Guard {
   public:
    explicit Guard(Tensor_view const& view) {
        if (view.device == Device_kind::CUDA) expect(torch.guard(view.device_index, &guard_), "change the device");
    }
    ~Guard() {
        if (guard_ != nullptr) torch.destroy_guard(guard_);
    }
    Guard(Guard const&) = delete;
    Guard& operator=(Guard const&) = delete;

   private:
    Object guard_ = nullptr;
};

// Where a call runs, and the tensors that were made for it, by the names of results.
class Memory_of_call {
   public:
    explicit Memory_of_call(Tensor_view const& like) {
        place_.allocator.context = this;
        place_.allocator.allocate = [](void* context, char const* name, Tensor_view const& wanted) -> void* {
            return static_cast<Memory_of_call*>(context)->make(name, wanted);
        };
        void* stream = nullptr;
        if (like.device == Device_kind::CUDA) expect(torch.stream(like.device_index, &stream), "name its stream");
        place_.stream = static_cast<CUstream_st*>(stream);
    }
    Memory_of_call(Memory_of_call const&) = delete;
    Memory_of_call& operator=(Memory_of_call const&) = delete;

    sdpa_graph::Place const& place() const { return place_; }
    Tensor take(char const* name) {
        for (auto& [known, tensor] : made_)
            if (std::strcmp(known, name) == 0) return std::move(tensor);
        return Tensor::undefined();
    }

   private:
    // Null if there is no memory: exceptions do not pass through the library.
    void* make(char const* name, Tensor_view const& wanted) noexcept {
        try {
            made_.emplace_back(name, Tensor::empty(wanted, torchs_type_of(wanted.type)));
            return made_.back().second.view().data;
        } catch (...) {
            return nullptr;
        }
    }

    sdpa_graph::Place place_;
    std::vector<std::pair<char const*, Tensor>> made_;
};

Tensor tensor_of(Value value) { return Tensor(reinterpret_cast<Object>(value)); }

double number_of(Value value) {
    double number = 0;
    std::memcpy(&number, &value, sizeof number);
    return number;
}

// An optional argument lies behind a pointer that the kernel owns.
std::optional<Value> optional_of(Value value) {
    if (value == 0) return std::nullopt;
    auto* const inner = reinterpret_cast<Value*>(value);
    Value const found = *inner;
    delete inner;
    return found;
}

functions::Options options_of(bool is_causal, std::optional<Value> scale) {
    functions::Options options;
    if (is_causal) options.right_bound = 0;
    if (scale) options.scale = static_cast<float>(number_of(*scale));
    return options;
}

void check_call(fe::error_t const& error) {
    if (error.is_bad()) throw std::runtime_error(error.get_message());
}

// (query, key, value, attn_bias?, dropout_p, is_causal, return_debug_mask, scale?) -> (output, logsumexp, cum_seq_q,
// cum_seq_k, max_q, max_k, philox_seed, philox_offset, debug_attn_mask). return_debug_mask says that no gradient
// follows.
void forward_kernel(Value* stack, std::uint64_t, std::uint64_t) {
    Tensor const q = tensor_of(stack[0]), k = tensor_of(stack[1]), v = tensor_of(stack[2]);
    auto const bias = optional_of(stack[3]);
    Tensor const bias_tensor = bias ? tensor_of(*bias) : Tensor();
    functions::Options const options = options_of((stack[5] & 1) != 0, optional_of(stack[7]));
    bool const needs_stats = (stack[6] & 1) == 0;
    if (bias || number_of(stack[4]) != 0.0) throw std::runtime_error("sdpa_graph.torch serves bias and dropout itself");
    functions::Inputs const inputs{q.view(), k.view(), v.view(), {}, {}, {}, {}, {}, {}, {}, {}};
    Guard const guard(inputs.q);
    Memory_of_call memory(inputs.q);
    functions::Forward_results results;
    check_call(functions::forward(inputs, options, needs_stats, memory.place(), results));
    stack[0] = memory.take("o").release();
    stack[1] = memory.take("stats").release();
    for (int const unused : {2, 3, 6, 7, 8}) stack[unused] = Tensor::undefined().release();
    stack[4] = stack[5] = 0;
}

// (grad_out, query, key, value, attn_bias, grad_input_mask, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k,
// dropout_p, is_causal, philox_seed, philox_offset, scale?) -> the gradients of query, key, value and attn_bias.
void backward_kernel(Value* stack, std::uint64_t, std::uint64_t) {
    Tensor const grad_o = with_last_dim_packed(tensor_of(stack[0]));
    Tensor const q = tensor_of(stack[1]), k = tensor_of(stack[2]), v = tensor_of(stack[3]), bias = tensor_of(stack[4]);
    torch.destroy_list(reinterpret_cast<Object>(stack[5]));
    Tensor const o = tensor_of(stack[6]), stats = tensor_of(stack[7]);
    Tensor const unused[] = {tensor_of(stack[8]), tensor_of(stack[9]), tensor_of(stack[14]), tensor_of(stack[15])};
    functions::Options const options = options_of((stack[13] & 1) != 0, optional_of(stack[16]));
    functions::Inputs const inputs{q.view(), k.view(), v.view(), {}, {}, {}, {}, {}, {}, {}, {}};
    Guard const guard(inputs.q);
    Memory_of_call memory(inputs.q);
    functions::Backward_results results;
    check_call(functions::backward(grad_o.view(), inputs, o.view(), stats.view(), options, memory.place(), results));
    stack[0] = memory.take("dq").release();
    stack[1] = memory.take("dk").release();
    stack[2] = memory.take("dv").release();
    stack[3] = Tensor::undefined().release();
}

bool implement(char const* key) {
    Object library = nullptr;
    return torch.library("aten", key, __FILE__, __LINE__, &library) == 0 &&
           torch.implement(library, "_scaled_dot_product_fused_attention_overrideable", &forward_kernel) == 0 &&
           torch.implement(library, "_scaled_dot_product_fused_attention_overrideable_backward", &backward_kernel) == 0;
}

}  // namespace

bool register_torch_operators() {
    static bool const is_registered = torch.load() && implement("CPU") && (torch.guard == nullptr || implement("CUDA"));
    return is_registered;
}

}  // namespace binding
