// Owns one descriptor of cuDNN's backend API.
#pragma once

#include "core/result.h"
#include "cudnn/library/api.h"
#include "cudnn/library/backend_enums.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudnn_frontend::cudnn {

// The backend API's tag for each C++ type that an attribute can have.
template <class T>
struct AttributeType;
template <cudnnBackendAttributeType_t tag>
struct AttributeTag {
    static constexpr cudnnBackendAttributeType_t value = tag;
};
template <>
struct AttributeType<std::int64_t> : AttributeTag<CUDNN_TYPE_INT64> {};
template <>
struct AttributeType<std::int32_t> : AttributeTag<CUDNN_TYPE_INT32> {};
template <>
struct AttributeType<float> : AttributeTag<CUDNN_TYPE_FLOAT> {};
template <>
struct AttributeType<double> : AttributeTag<CUDNN_TYPE_DOUBLE> {};
template <>
struct AttributeType<bool> : AttributeTag<CUDNN_TYPE_BOOLEAN> {};
template <>
struct AttributeType<char> : AttributeTag<CUDNN_TYPE_CHAR> {};
template <>
struct AttributeType<cudnnHandle_t> : AttributeTag<CUDNN_TYPE_HANDLE> {};
template <>
struct AttributeType<cudnnDataType_t> : AttributeTag<CUDNN_TYPE_DATA_TYPE> {};
template <>
struct AttributeType<cudnnPointwiseMode_t> : AttributeTag<CUDNN_TYPE_POINTWISE_MODE> {};
template <>
struct AttributeType<cudnnReduceTensorOp_t> : AttributeTag<CUDNN_TYPE_REDUCTION_OPERATOR_TYPE> {};
template <>
struct AttributeType<cudnnRngDistribution_t> : AttributeTag<CUDNN_TYPE_RNG_DISTRIBUTION> {};
template <>
struct AttributeType<cudnnBackendHeurMode_t> : AttributeTag<CUDNN_TYPE_HEUR_MODE> {};
template <>
struct AttributeType<cudnnBackendKnobType_t> : AttributeTag<CUDNN_TYPE_KNOB_TYPE> {};
template <>
struct AttributeType<cudnnBackendBehaviorNote_t> : AttributeTag<CUDNN_TYPE_BEHAVIOR_NOTE> {};
template <>
struct AttributeType<cudnnBackendNumericalNote_t> : AttributeTag<CUDNN_TYPE_NUMERICAL_NOTE> {};
template <>
struct AttributeType<cudnnBackendTensorReordering_t> : AttributeTag<CUDNN_TYPE_TENSOR_REORDERING_MODE> {};
template <>
struct AttributeType<ReshapeMode> : AttributeTag<kReshapeModeType> {};
template <>
struct AttributeType<cudnnBackendDescriptor_t> : AttributeTag<CUDNN_TYPE_BACKEND_DESCRIPTOR> {};

// Create, set attributes, finalize, then read or use. The first failure is kept and later calls do nothing, so that
// callers check only the result of finalize().
class Descriptor {
   public:
    Descriptor() = default;
    // The subject names the object in messages: "tensor 'Q'".
    Descriptor(Api const& api, cudnnBackendDescriptorType_t type, std::string subject);
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();

    template <class T>
    Descriptor& set(cudnnBackendAttributeName_t attribute, T const& value) {
        // NOLINTNEXTLINE(bugprone-sizeof-expression): a handle is a pointer to a struct
        return set_raw(attribute, AttributeType<T>::value, 1, &value, sizeof value);
    }
    template <class T>
    Descriptor& set_list(cudnnBackendAttributeName_t attribute, std::span<T const> values) {
        return set_raw(attribute, AttributeType<T>::value, static_cast<std::int64_t>(values.size()), values.data(),
                       sizeof(T));
    }
    Descriptor& set_text(cudnnBackendAttributeName_t attribute, std::string_view text) {
        return set_list(attribute, std::span<char const>(text.data(), text.size()));
    }
    // Sets addresses of memory. With set() they would count as descriptors: these are void* too.
    Descriptor& set_addresses(cudnnBackendAttributeName_t attribute, std::span<void* const> addresses) {
        return set_raw(attribute, CUDNN_TYPE_VOID_PTR, static_cast<std::int64_t>(addresses.size()), addresses.data(),
                       sizeof(void*));
    }
    Descriptor& set(cudnnBackendAttributeName_t attribute, Descriptor const& part) {
        return set(attribute, part.get());
    }

    error_t finalize();

    template <class T>
    Result<T> read(cudnnBackendAttributeName_t attribute) const {
        T value{};
        SDPA_GRAPH_TRY(get_raw(attribute, AttributeType<T>::value, 1, nullptr, &value));
        return value;
    }
    template <class T>
    Result<std::vector<T>> read_list(cudnnBackendAttributeName_t attribute) const {
        std::int64_t count = 0;
        SDPA_GRAPH_TRY(get_raw(attribute, AttributeType<T>::value, 0, &count, nullptr));
        std::vector<T> values(static_cast<std::size_t>(count));
        if (count > 0) {
            SDPA_GRAPH_TRY(get_raw(attribute, AttributeType<T>::value, count, &count, values.data()));
            values.resize(std::min(values.size(), static_cast<std::size_t>(count)));
        }
        return values;
    }
    Result<std::string> read_text(cudnnBackendAttributeName_t attribute) const;
    // Reads an attribute that is a list of descriptors: the caller creates them, the backend fills them.
    Result<std::vector<Descriptor>> read_parts(cudnnBackendAttributeName_t attribute, cudnnBackendDescriptorType_t type,
                                               std::string const& subject, std::int64_t limit = -1) const;

    cudnnBackendDescriptor_t get() const { return descriptor_; }
    explicit operator bool() const { return descriptor_ != nullptr; }
    Api const& api() const { return *api_; }
    error_t const& error() const { return error_; }

   private:
    Descriptor& set_raw(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type, std::int64_t count,
                        void const* values, std::size_t element_bytes);
    error_t get_raw(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type, std::int64_t capacity,
                    std::int64_t* count, void* values) const;

    Api const* api_ = nullptr;
    cudnnBackendDescriptor_t descriptor_ = nullptr;
    std::string subject_;
    error_t error_;
};

// While it lives, keeps all descriptors that this thread makes and sets, as bytes: equal ones mean that the backend got
// the same. A descriptor that is set on another one counts as its number in the order of their making. One at a time.
class DescriptorRecording {
   public:
    DescriptorRecording();
    ~DescriptorRecording();
    DescriptorRecording(DescriptorRecording const&) = delete;
    DescriptorRecording& operator=(DescriptorRecording const&) = delete;

    // Empty if a descriptor was set that was made before.
    std::string take() { return is_whole_ ? std::move(bytes_) : std::string(); }

   private:
    friend class Descriptor;

    void make(cudnnBackendDescriptor_t descriptor, cudnnBackendDescriptorType_t type);
    void set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t attribute,
             cudnnBackendAttributeType_t type, std::int64_t count, void const* values, std::size_t element_bytes);
    std::int64_t number_of(cudnnBackendDescriptor_t descriptor);
    template <class T>
    void add(T value) {
        bytes_.append(reinterpret_cast<char const*>(&value), sizeof value);
    }

    std::string bytes_;
    bool is_whole_ = true;
    std::vector<cudnnBackendDescriptor_t> made_;
};

}  // namespace cudnn_frontend::cudnn
