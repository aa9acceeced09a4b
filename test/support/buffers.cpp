#include "support/buffers.h"

#include <algorithm>

namespace sdpa_test {

Buffer::Buffer(DataType_t type, Dims const& dim, Dims const& stride) {
    auto const elements = static_cast<std::size_t>(sdpa_graph::span_of(dim, stride));
    auto const bytes = elements * static_cast<std::size_t>(cudnn_frontend::core::size_of(type));
    memory_ = std::make_shared<std::vector<std::byte>>(bytes, std::byte{0xff});
    view_.data = memory_->data();
    view_.dim = dim;
    view_.stride = stride;
    view_.type = type;
    view_.device = sdpa_graph::Device_kind::CPU;
}

Buffer Buffer::random(Random& random, DataType_t type, Dims const& dim, Dims const& stride) {
    Buffer buffer(type, dim, stride);
    for (std::int64_t i = 0; i < sdpa_graph::span_of(dim, stride); ++i)
        cudnn_frontend::core::store(type, buffer.view_.data, i, random.real(-1.0, 1.0));
    return buffer;
}

Buffer Buffer::integers(std::vector<std::int32_t> const& values) {
    Buffer buffer(DataType_t::INT32, {static_cast<std::int64_t>(values.size())});
    std::ranges::copy(values, static_cast<std::int32_t*>(buffer.view_.data));
    return buffer;
}

Buffer Buffer::long_integers(std::vector<std::int64_t> const& values) {
    Buffer buffer(DataType_t::INT64, {static_cast<std::int64_t>(values.size())});
    std::ranges::copy(values, static_cast<std::int64_t*>(buffer.view_.data));
    return buffer;
}

Buffer Buffer::floats(std::vector<float> const& values, Dims const& dim) {
    Buffer buffer(DataType_t::FLOAT, dim);
    std::ranges::copy(values, static_cast<float*>(buffer.view_.data));
    return buffer;
}

double value_at(Tensor_view const& view, Dims const& index) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * view.stride[d];
    return cudnn_frontend::core::load(view.type, view.data, at);
}

sdpa_graph::Place Arena::place() {
    sdpa_graph::Place place;
    place.allocator.context = this;
    place.allocator.allocate = [](void* context, char const* name, Tensor_view const& wanted) -> void* {
        auto& arena = *static_cast<Arena*>(context);
        arena.names.emplace_back(name);
        if (arena.is_exhausted) return nullptr;
        return arena.buffers.emplace_back(wanted.type, wanted.dim, wanted.stride).view().data;
    };
    return place;
}

}  // namespace sdpa_test
