#include "cudnn/library/descriptor.h"

#include "cudnn/library/api.h"
#include "cudnn/library/backend_enums.h"

namespace cudnn_frontend::cudnn {

static thread_local DescriptorRecording* recording = nullptr;

DescriptorRecording::DescriptorRecording() { recording = this; }
DescriptorRecording::~DescriptorRecording() { recording = nullptr; }

void DescriptorRecording::make(cudnnBackendDescriptor_t descriptor, cudnnBackendDescriptorType_t type) {
    made_.push_back(descriptor);
    add(type);
}

void DescriptorRecording::set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t attribute,
                              cudnnBackendAttributeType_t type, std::int64_t count, void const* values,
                              std::size_t element_bytes) {
    add(number_of(descriptor));
    add(attribute), add(type), add(count);
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        auto const* const parts = static_cast<cudnnBackendDescriptor_t const*>(values);
        for (std::int64_t i = 0; i < count; ++i) add(number_of(parts[i]));
    } else {
        bytes_.append(static_cast<char const*>(values), static_cast<std::size_t>(count) * element_bytes);
    }
}

// Searches from the last one on: the address of one that is gone may be used again.
std::int64_t DescriptorRecording::number_of(cudnnBackendDescriptor_t descriptor) {
    auto const found = std::find(made_.rbegin(), made_.rend(), descriptor);
    is_whole_ = is_whole_ && found != made_.rend();
    return made_.rend() - found;
}

Descriptor::Descriptor(Api const& api, cudnnBackendDescriptorType_t type, std::string subject)
    : api_(&api), subject_(std::move(subject)) {
    cudnnStatus_t const status = api.create_descriptor(type, &descriptor_);
    if (status == CUDNN_STATUS_SUCCESS) {
        if (recording != nullptr) recording->make(descriptor_, type);
        return;
    }
    descriptor_ = nullptr;
    error_ = backend_error(api, status, "creating the backend descriptor of " + subject_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept { *this = std::move(other); }

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(subject_, other.subject_);
    std::swap(error_, other.error_);
    return *this;
}

// A failure to destroy is ignored: nothing could be done about it.
Descriptor::~Descriptor() {
    if (descriptor_ != nullptr) static_cast<void>(api_->destroy_descriptor(descriptor_));
}

Descriptor& Descriptor::set_raw(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type,
                                std::int64_t count, void const* values, std::size_t element_bytes) {
    if (error_.is_bad()) return *this;
    if (recording != nullptr) recording->set(descriptor_, attribute, type, count, values, element_bytes);
    cudnnStatus_t const status = api_->set_attribute(descriptor_, attribute, type, count, values);
    if (status != CUDNN_STATUS_SUCCESS) {
        error_ = backend_error(*api_, status, "setting " + attribute_name(attribute) + " of " + subject_);
    }
    return *this;
}

error_t Descriptor::finalize() {
    if (error_.is_bad()) return error_;
    cudnnStatus_t const status = api_->finalize(descriptor_);
    if (status != CUDNN_STATUS_SUCCESS) error_ = backend_error(*api_, status, "finalizing " + subject_);
    return error_;
}

error_t Descriptor::get_raw(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type,
                            std::int64_t capacity, std::int64_t* count, void* values) const {
    if (error_.is_bad()) return error_;
    std::int64_t ignored = 0;
    std::int64_t* const received = count == nullptr ? &ignored : count;
    cudnnStatus_t const status = api_->get_attribute(descriptor_, attribute, type, capacity, received, values);
    if (status == CUDNN_STATUS_SUCCESS) return {};
    return backend_error(*api_, status, "reading " + attribute_name(attribute) + " of " + subject_);
}

Result<std::string> Descriptor::read_text(cudnnBackendAttributeName_t attribute) const {
    auto letters = read_list<char>(attribute);
    if (letters.is_bad()) return letters.error();
    std::string text(letters.value().begin(), letters.value().end());
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
}

Result<std::vector<Descriptor>> Descriptor::read_parts(cudnnBackendAttributeName_t attribute,
                                                       cudnnBackendDescriptorType_t type, std::string const& subject,
                                                       std::int64_t limit) const {
    std::int64_t count = limit;
    if (limit < 0) SDPA_GRAPH_TRY(get_raw(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr));
    std::vector<Descriptor> parts;
    std::vector<cudnnBackendDescriptor_t> pointers;
    for (std::int64_t i = 0; i < count; ++i) {
        parts.emplace_back(*api_, type, subject + " " + std::to_string(i));
        if (parts.back().error().is_bad()) return parts.back().error();
        pointers.push_back(parts.back().get());
    }
    if (count > 0) SDPA_GRAPH_TRY(get_raw(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, pointers.data()));
    parts.resize(std::min(parts.size(), static_cast<std::size_t>(count)));
    return parts;
}

}  // namespace cudnn_frontend::cudnn
