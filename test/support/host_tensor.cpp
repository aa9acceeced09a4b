#include "support/host_tensor.h"

#include <cudnn_frontend/fp8.h>
#include <cudnn_frontend/scalar.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace sdpa_test {
namespace {

constexpr std::size_t kGuard = 512;
constexpr std::size_t kAlignment = 256;
constexpr std::byte kPoison{0xff};  // NaN in every floating point format

template <class T>
double load(std::byte const* from) {
    T value;
    std::memcpy(static_cast<void*>(&value), from, sizeof(T));
    return static_cast<double>(value);
}
template <class T>
double load_narrow(std::byte const* from) {
    T value;
    std::memcpy(static_cast<void*>(&value), from, sizeof(T));
    return static_cast<double>(static_cast<float>(value));
}
template <class T>
void store(std::byte* to, T const& value) {
    std::memcpy(to, static_cast<void const*>(&value), sizeof(T));
}

}  // namespace

std::int64_t element_size(DataType_t type) {
    switch (type) {
        case DataType_t::HALF:
        case DataType_t::BFLOAT16: return 2;
        case DataType_t::FP8_E4M3:
        case DataType_t::FP8_E5M2: return 1;
        case DataType_t::INT64: return 8;
        case DataType_t::UINT8: return 1;
        default: return 4;
    }
}

bool is_fp8(DataType_t type) { return type == DataType_t::FP8_E4M3 || type == DataType_t::FP8_E5M2; }

char const* name_of(DataType_t type) {
    switch (type) {
        case DataType_t::HALF: return "HALF";
        case DataType_t::BFLOAT16: return "BFLOAT16";
        case DataType_t::FP8_E4M3: return "FP8_E4M3";
        case DataType_t::FP8_E5M2: return "FP8_E5M2";
        case DataType_t::FLOAT: return "FLOAT";
        case DataType_t::INT32: return "INT32";
        case DataType_t::INT64: return "INT64";
        case DataType_t::UINT8: return "UINT8";
        default: return "?";
    }
}

std::string to_string(Index4 const& index) {
    std::string text = "(";
    for (std::size_t i = 0; i < 4; ++i) text += (i ? ", " : "") + std::to_string(index[i]);
    return text + ")";
}

HostMemory::HostMemory(std::int64_t bytes)
    : storage_(static_cast<std::size_t>(bytes) + 2 * kGuard + kAlignment, kPoison), size_(bytes) {
    auto const address = reinterpret_cast<std::uintptr_t>(storage_.data()) + kGuard;
    begin_ = storage_.data() + kGuard + (kAlignment - address % kAlignment) % kAlignment;
}

bool HostMemory::guards_intact() const {
    auto const poisoned = [](std::byte byte) { return byte == kPoison; };
    std::byte const* const end = storage_.data() + storage_.size();
    return std::all_of(storage_.data(), static_cast<std::byte const*>(begin_), poisoned) &&
           std::all_of(static_cast<std::byte const*>(begin_ + size_), end, poisoned);
}

bool HostTensor::has(Index4 const& at) const {
    auto const b = static_cast<std::size_t>(at[0]);
    if (page_rows > 0) return at[2] / page_rows < static_cast<std::int64_t>(pages[b].size());
    return starts.empty() || at[2] < rows[b];
}

std::byte* HostTensor::element(Index4 const& at) const {
    if (page_rows > 0) {
        std::int64_t const page = pages[static_cast<std::size_t>(at[0])][static_cast<std::size_t>(at[2] / page_rows)];
        return container->element({page, at[1], at[2] % page_rows, at[3]});
    }
    std::int64_t index = starts.empty() ? at[0] * stride[0] : starts[static_cast<std::size_t>(at[0])];
    for (std::size_t i = 1; i < 4; ++i) index += at[i] * stride[i];
    return data() + index * element_size(type);
}

double HostTensor::get(Index4 const& at) const {
    if (!has(at)) return 0.0;
    std::byte const* const from = element(at);
    switch (type) {
        case DataType_t::HALF: return load_narrow<cudnn_frontend::float16>(from);
        case DataType_t::BFLOAT16: return load_narrow<cudnn_frontend::bfloat16>(from);
        case DataType_t::FP8_E4M3: return load_narrow<cudnn_frontend::fp8_e4m3>(from);
        case DataType_t::FP8_E5M2: return load_narrow<cudnn_frontend::fp8_e5m2>(from);
        case DataType_t::INT32: return load<std::int32_t>(from);
        case DataType_t::INT64: return load<std::int64_t>(from);
        case DataType_t::UINT8: return load<std::uint8_t>(from);
        default: return load<float>(from);
    }
}

void HostTensor::set(Index4 const& at, double value) const {
    if (!has(at)) return;
    std::byte* const to = element(at);
    switch (type) {
        case DataType_t::HALF: return store(to, cudnn_frontend::float16(static_cast<float>(value)));
        case DataType_t::BFLOAT16: return store(to, cudnn_frontend::bfloat16(static_cast<float>(value)));
        case DataType_t::FP8_E4M3: return store(to, cudnn_frontend::fp8_e4m3(static_cast<float>(value)));
        case DataType_t::FP8_E5M2: return store(to, cudnn_frontend::fp8_e5m2(static_cast<float>(value)));
        case DataType_t::INT32: return store(to, static_cast<std::int32_t>(value));
        case DataType_t::INT64: return store(to, static_cast<std::int64_t>(value));
        case DataType_t::UINT8: return store(to, static_cast<std::uint8_t>(value));
        default: return store(to, static_cast<float>(value));
    }
}

std::int64_t HostTensor::alignment() const {
    auto const address = reinterpret_cast<std::uintptr_t>(data());
    std::int64_t alignment = 16;
    while (address % static_cast<std::uintptr_t>(alignment) != 0) alignment /= 2;
    return alignment;
}

Index4 packed_strides(Index4 const& dim) { return {dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1}; }

std::int64_t span_of(Index4 const& dim, Index4 const& stride) {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < 4; ++i) last += (dim[i] - 1) * stride[i];
    return last + 1;
}

HostTensor make_tensor(DataType_t type, Index4 const& dim, Index4 const& stride) {
    return {type, dim, stride, std::make_shared<HostMemory>(span_of(dim, stride) * element_size(type)), 0};
}

HostTensor make_tensor(DataType_t type, Index4 const& dim) { return make_tensor(type, dim, packed_strides(dim)); }

bool same_bits(HostTensor const& a, HostTensor const& b) {
    if (a.type != b.type || a.dim != b.dim) return false;
    bool same = true;
    auto const bytes = static_cast<std::size_t>(element_size(a.type));
    for_each_index(a.dim, [&](Index4 const& at) {
        if (a.has(at)) same = same && std::memcmp(a.element(at), b.element(at), bytes) == 0;
    });
    return same;
}

MemorySnapshot::MemorySnapshot(std::vector<HostTensor> const& tensors) {
    for (HostTensor const& tensor : tensors) {
        if (!tensor) continue;
        auto const same = [&](Block const& block) { return block.memory == tensor.memory; };
        if (std::any_of(blocks_.begin(), blocks_.end(), same)) continue;
        HostMemory const& memory = *tensor.memory;
        blocks_.push_back({tensor.memory, {memory.first(), memory.first() + memory.extent()}});
    }
}

std::string MemorySnapshot::change_outside(std::vector<HostTensor> const& outputs) const {
    for (std::size_t number = 0; number < blocks_.size(); ++number) {
        Block const& block = blocks_[number];
        std::byte const* const now = block.memory->first();
        std::vector<std::byte> expected = block.bytes;
        for (HostTensor const& output : outputs) {
            if (output.memory != block.memory) continue;
            auto const size = static_cast<std::size_t>(element_size(output.type));
            for_each_index(output.dim, [&](Index4 const& at) {
                if (!output.has(at)) return;
                std::byte const* const element = output.element(at);
                std::memcpy(&expected[static_cast<std::size_t>(element - now)], element, size);
            });
        }
        auto const changed = std::mismatch(expected.begin(), expected.end(), now).first - expected.begin();
        if (changed == std::ssize(expected)) continue;
        std::int64_t const place = changed - (block.memory->data() - now);
        return "byte " + std::to_string(place) + " of memory " + std::to_string(number) + " (" +
               std::to_string(block.memory->size()) + " bytes) changed but belongs to no output";
    }
    return {};
}

}  // namespace sdpa_test
