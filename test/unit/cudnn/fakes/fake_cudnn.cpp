#include "unit/cudnn/fakes/fake_cudnn.h"

#include "cudnn/library/backend_enums.h"

#include <algorithm>
#include <cstring>

namespace sdpa_test {
namespace {

FakeCudnn* fake = nullptr;

std::string type_name(cudnnBackendDescriptorType_t type) {
    switch (type) {
        case CUDNN_BACKEND_TENSOR_DESCRIPTOR: return "TENSOR";
        case CUDNN_BACKEND_POINTWISE_DESCRIPTOR: return "POINTWISE";
        case CUDNN_BACKEND_MATMUL_DESCRIPTOR: return "MATMUL";
        case CUDNN_BACKEND_REDUCTION_DESCRIPTOR: return "REDUCTION";
        case CUDNN_BACKEND_RNG_DESCRIPTOR: return "RNG";
        case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: return "OPERATION_POINTWISE";
        case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: return "OPERATION_MATMUL";
        case CUDNN_BACKEND_OPERATION_BLOCK_SCALE_DEQUANTIZE_DESCRIPTOR: return "OPERATION_BLOCK_SCALE_DEQUANTIZE";
        case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: return "OPERATION_REDUCTION";
        case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR: return "OPERATION_RESHAPE";
        case CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR: return "OPERATION_RNG";
        case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR: return "OPERATIONGRAPH";
        case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: return "ENGINEHEUR";
        case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR: return "ENGINECFG";
        case CUDNN_BACKEND_ENGINE_DESCRIPTOR: return "ENGINE";
        case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: return "EXECUTION_PLAN";
        case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR: return "VARIANT_PACK";
        case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR: return "DEVICEPROP";
        default: return "DESCRIPTOR_" + std::to_string(static_cast<int>(type));
    }
}

template <class T>
std::string list_text(std::int64_t count, void const* values) {
    std::string text;
    for (std::int64_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, static_cast<char const*>(values) + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
        std::string item = std::to_string(value);
        if constexpr (std::is_floating_point_v<T>) {
            item.erase(item.find_last_not_of('0') + 1);
            if (item.ends_with('.')) item.pop_back();
        }
        text += " " + item;
    }
    return text;
}

template <class T>
int give(T value, std::int64_t capacity, std::int64_t* count, void* values) {
    *count = 1;
    if (capacity > 0) std::memcpy(values, &value, sizeof(value));
    return 0;
}

template <class T>
int give_list(std::vector<T> const& list, std::int64_t capacity, std::int64_t* count, void* values) {
    *count = static_cast<std::int64_t>(list.size());
    auto const given = static_cast<std::size_t>(std::min(capacity, *count));
    if (given > 0) std::memcpy(values, list.data(), given * sizeof(T));
    return 0;
}

int give_text(std::string const& text, std::int64_t capacity, std::int64_t* count, void* values) {
    *count = static_cast<std::int64_t>(text.size()) + 1;
    if (capacity > 0) std::memcpy(values, text.c_str(), static_cast<std::size_t>(std::min(capacity, *count)));
    return 0;
}

}  // namespace

// The functions of the table.
struct FakeCalls {
    static cudnnStatus_t create(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* made) {
        std::lock_guard const lock(fake->mutex_);
        if (fake->fails()) return CUDNN_STATUS_ALLOC_FAILED;
        std::intptr_t const number = ++fake->last_descriptor_;
        *made = reinterpret_cast<cudnnBackendDescriptor_t>(number);
        std::string const name = "#" + std::to_string(number);
        fake->descriptors_.emplace(*made, FakeCudnn::Made{type, name, {}});
        return CUDNN_STATUS_SUCCESS;
    }

    static cudnnStatus_t destroy(cudnnBackendDescriptor_t descriptor) {
        std::lock_guard const lock(fake->mutex_);
        if (fake->descriptors_.erase(descriptor) == 1) return CUDNN_STATUS_SUCCESS;
        fake->faults_.push_back("destroyed what is not alive");
        return CUDNN_STATUS_BAD_PARAM;
    }

    static cudnnStatus_t set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t attribute,
                             cudnnBackendAttributeType_t type, std::int64_t count, void const* values) {
        std::lock_guard const lock(fake->mutex_);
        if (fake->fails()) return CUDNN_STATUS_BAD_PARAM;
        auto const at = fake->descriptors_.find(descriptor);
        if (at == fake->descriptors_.end() || at->second.is_finalized) {
            fake->faults_.push_back("set an attribute of what is finalized or not alive");
            return CUDNN_STATUS_BAD_PARAM;
        }
        FakeCudnn::Made& made = at->second;
        std::string const value = fake->value_text(type, count, values);
        bool const has_failed = fake->failing_call_ >= 0 && fake->calls_ > fake->failing_call_;
        if (!has_failed && value.find("(not finalized)") != value.npos) {
            fake->faults_.push_back("named what is not finalized");
        }
        std::string name = cudnn_frontend::cudnn::attribute_name(attribute);
        if (auto const from = name.find("CUDNN_ATTR_"); from == 0) name.erase(0, 11);
        if (attribute == CUDNN_ATTR_TENSOR_UNIQUE_ID) made.name = "uid" + value;
        if (attribute == CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION) {
            fake->given_kernels.emplace_back(static_cast<char const*>(values), static_cast<std::size_t>(count));
        }
        made.attributes += (made.attributes.empty() ? "" : ", ") + name + value;
        return CUDNN_STATUS_SUCCESS;
    }

    static cudnnStatus_t get(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t attribute,
                             cudnnBackendAttributeType_t type, std::int64_t capacity, std::int64_t* count,
                             void* values) {
        std::lock_guard const lock(fake->mutex_);
        if (fake->fails()) return CUDNN_STATUS_BAD_PARAM;
        auto const at = fake->descriptors_.find(descriptor);
        if (at == fake->descriptors_.end()) {
            fake->faults_.push_back("read an attribute of what is not alive");
            return CUDNN_STATUS_BAD_PARAM;
        }
        auto const status = static_cast<cudnnStatus_t>(fake->answer(at->second, attribute, capacity, count, values));
        // Descriptors that the backend fills are ready for use.
        std::int64_t const filled = type == CUDNN_TYPE_BACKEND_DESCRIPTOR ? std::min(*count, capacity) : 0;
        for (std::int64_t i = 0; i < filled; ++i) {
            fake->descriptors_.at(static_cast<cudnnBackendDescriptor_t*>(values)[i]).is_finalized = true;
        }
        return status;
    }

    static bool is_plan(cudnnBackendDescriptor_t descriptor) {
        std::lock_guard const lock(fake->mutex_);
        auto const at = fake->descriptors_.find(descriptor);
        return at != fake->descriptors_.end() && at->second.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR;
    }

    static cudnnStatus_t finalize(cudnnBackendDescriptor_t descriptor) {
        if (is_plan(descriptor)) fake->while_building();
        std::lock_guard const lock(fake->mutex_);
        if (fake->fails()) return CUDNN_STATUS_NOT_SUPPORTED;
        auto const at = fake->descriptors_.find(descriptor);
        if (at == fake->descriptors_.end() || at->second.is_finalized) {
            fake->faults_.push_back("finalized twice, or what is not alive");
            return CUDNN_STATUS_BAD_PARAM;
        }
        at->second.is_finalized = true;
        fake->log_ += type_name(at->second.type) + " " + at->second.name + ": " + at->second.attributes + "\n";
        return CUDNN_STATUS_SUCCESS;
    }

    static cudnnStatus_t execute(cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t pack) {
        std::lock_guard const lock(fake->mutex_);
        if (fake->fails()) return CUDNN_STATUS_EXECUTION_FAILED;
        auto const at = fake->descriptors_.find(pack);
        if (at == fake->descriptors_.end() || !at->second.is_finalized) fake->faults_.push_back("ran no pack");
        return CUDNN_STATUS_SUCCESS;
    }

    static cudnnStatus_t with_cuda_graph(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                         cudnnBackendDescriptor_t pack, cudaGraph_t) {
        return execute(handle, plan, pack);
    }

    static void last_error(char* text, std::size_t size) {
        std::lock_guard const lock(fake->mutex_);
        std::snprintf(text, size, "%s", fake->last_error_.c_str());
        fake->last_error_.clear();
    }
};

FakeCudnn::FakeCudnn() {
    fake = this;
    api_.get_version = [] { return fake->version; };
    api_.get_error_string = [](cudnnStatus_t status) -> char const* {
        return status == CUDNN_STATUS_ALLOC_FAILED       ? "CUDNN_STATUS_ALLOC_FAILED"
               : status == CUDNN_STATUS_NOT_SUPPORTED    ? "CUDNN_STATUS_NOT_SUPPORTED"
               : status == CUDNN_STATUS_EXECUTION_FAILED ? "CUDNN_STATUS_EXECUTION_FAILED"
                                                         : "CUDNN_STATUS_BAD_PARAM";
    };
    api_.get_last_error_string = FakeCalls::last_error;
    api_.create_descriptor = FakeCalls::create;
    api_.destroy_descriptor = FakeCalls::destroy;
    api_.set_attribute = FakeCalls::set;
    api_.get_attribute = FakeCalls::get;
    api_.finalize = FakeCalls::finalize;
    api_.execute = FakeCalls::execute;
    api_.populate_cuda_graph = api_.update_cuda_graph = FakeCalls::with_cuda_graph;
}

FakeCudnn::~FakeCudnn() { fake = nullptr; }

bool FakeCudnn::fails() { return calls_++ == failing_call_; }

std::string FakeCudnn::value_text(cudnnBackendAttributeType_t type, std::int64_t count, void const* values) const {
    switch (type) {
        case CUDNN_TYPE_INT64: return list_text<std::int64_t>(count, values);
        case CUDNN_TYPE_FLOAT: return list_text<float>(count, values);
        case CUDNN_TYPE_DOUBLE: return list_text<double>(count, values);
        case CUDNN_TYPE_BOOLEAN: return list_text<unsigned char>(count, values);
        case CUDNN_TYPE_CHAR: return " text";
        case CUDNN_TYPE_VOID_PTR: return " " + std::to_string(count) + " addresses";
        case CUDNN_TYPE_BACKEND_DESCRIPTOR: break;
        default: return list_text<std::int32_t>(count, values);  // enumerations
    }
    std::string text;
    for (std::int64_t i = 0; i < count; ++i) {
        auto const at = descriptors_.find(static_cast<cudnnBackendDescriptor_t const*>(values)[i]);
        bool const is_ready = at != descriptors_.end() && at->second.is_finalized;
        text += " " + (is_ready ? at->second.name : std::string("(not finalized)"));
    }
    return text;
}

int FakeCudnn::answer(Made const& made, cudnnBackendAttributeName_t attribute, std::int64_t capacity,
                      std::int64_t* count, void* values) {
    switch (attribute) {
        case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT: return give(std::int64_t{2}, capacity, count, values);
        case CUDNN_ATTR_ENGINEHEUR_RESULTS: *count = 2; return 0;
        case CUDNN_ATTR_ENGINECFG_ENGINE: *count = 1; return 0;
        case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE: return give_list(behavior_notes, capacity, count, values);
        case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE: return give_list(numerical_notes, capacity, count, values);
        case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE: return give(config_workspace_bytes, capacity, count, values);
        case CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED: return give(shared_memory_bytes, capacity, count, values);
        case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES: *count = 1; return 0;
        case CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG: *count = 1; return 0;
        // Engines differ by the descriptor that asks.
        case CUDNN_ATTR_ENGINE_GLOBAL_INDEX: {
            std::int64_t const number = std::stoll(made.name.substr(1));
            return give(has_one_engine ? 0 : number, capacity, count, values);
        }
        case CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE: return give(knob, capacity, count, values);
        case CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE: return give(knob_value, capacity, count, values);
        case CUDNN_ATTR_ENGINE_KNOB_INFO: *count = 1; return 0;
        case CUDNN_ATTR_KNOB_INFO_TYPE: return give(knob, capacity, count, values);
        case CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE: return give(std::int64_t{9}, capacity, count, values);
        case CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE: return give(std::int64_t{3}, capacity, count, values);
        case CUDNN_ATTR_KNOB_INFO_STRIDE: return give(std::int64_t{2}, capacity, count, values);
        case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE: return give(workspace_bytes, capacity, count, values);
        case CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION: return give_text("{\"plan\":1}", capacity, count, values);
        case CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION: return give_text(kernels, capacity, count, values);
        case CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION: return give_text(device, capacity, count, values);
        default: *count = 0; return 0;
    }
}

}  // namespace sdpa_test
