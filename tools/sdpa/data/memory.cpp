#include "data/memory.h"

#include <cudnn_frontend/fp8.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace sdpa {
namespace {

// Storage of FP8_E8M0: a power of two.
struct Power_of_two {
    std::uint8_t bits = 127;

    Power_of_two() = default;
    explicit Power_of_two(float value)
        : bits(value > 0.0F ? static_cast<std::uint8_t>(std::lround(std::log2(value)) + 127) : std::uint8_t{0}) {}
    explicit operator float() const { return std::ldexp(1.0F, int{bits} - 127); }
};

template <class T>
double load(std::byte const* from) {
    T value{};
    std::memcpy(&value, from, sizeof(T));
    if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(value);
    else return static_cast<double>(static_cast<float>(value));
}

template <class T>
void store(std::byte* to, double number) {
    T value{};
    if constexpr (std::is_arithmetic_v<T>) value = static_cast<T>(number);
    else value = T(static_cast<float>(number));
    std::memcpy(to, &value, sizeof(T));
}

// Calls the function with an object of the type's storage.
template <class Function>
auto with_storage(fe::DataType_t type, Function const& function) {
    using fe::DataType_t;
    switch (type) {
        case DataType_t::FLOAT: return function(float{});
        case DataType_t::DOUBLE: return function(double{});
        case DataType_t::HALF: return function(fe::float16());
        case DataType_t::BFLOAT16: return function(fe::bfloat16());
        case DataType_t::INT8: return function(std::int8_t{});
        case DataType_t::INT32: return function(std::int32_t{});
        case DataType_t::INT64: return function(std::int64_t{});
        case DataType_t::UINT8:
        case DataType_t::BOOLEAN: return function(std::uint8_t{});
        case DataType_t::FP8_E4M3: return function(fe::fp8_e4m3());
        case DataType_t::FP8_E5M2: return function(fe::fp8_e5m2());
        case DataType_t::FP8_E8M0: return function(Power_of_two());
        default:
            throw Failure("", std::string("a tensor of type ") + to_string(type), "one for which data can be made");
    }
}

}  // namespace

std::int64_t element_bits(fe::DataType_t type) {
    return with_storage(type, [](auto value) { return static_cast<std::int64_t>(sizeof(value)) * 8; });
}

double Memory::get(std::int64_t element) const {
    return with_storage(type, [&](auto value) {
        return load<decltype(value)>(bytes.data() + static_cast<std::size_t>(element) * sizeof(value));
    });
}

void Memory::set(std::int64_t element, double number) {
    with_storage(type, [&](auto value) {
        store<decltype(value)>(bytes.data() + static_cast<std::size_t>(element) * sizeof(value), number);
    });
}

void Memory::generate(std::function<double()> const& next) {
    with_storage(type, [&](auto value) {
        for (std::size_t at = 0; at + sizeof(value) <= bytes.size(); at += sizeof(value))
            store<decltype(value)>(bytes.data() + at, next());
    });
}

std::int64_t Memory::place(Sizes const& index) const {
    std::int64_t element = starts.empty() ? 0 : starts[static_cast<std::size_t>(index[0])];
    for (std::size_t axis = starts.empty() ? 0 : 1; axis < index.size(); ++axis) element += index[axis] * stride[axis];
    return element;
}

std::int64_t Memory::size() const { return static_cast<std::int64_t>(bytes.size()) * 8 / element_bits(type); }

void Memory::for_each(std::function<void(Sizes const&, std::int64_t)> const& visit) const {
    Sizes index(dim.size(), 0);
    for (std::int64_t const length : dim) {
        if (length == 0) return;
    }
    while (true) {
        bool const exists = rows.empty() || index[2] < rows[static_cast<std::size_t>(index[0])];
        if (exists) visit(index, place(index));
        std::size_t axis = dim.size();
        while (axis > 0 && ++index[axis - 1] == dim[axis - 1]) index[--axis] = 0;
        if (axis == 0) return;
    }
}

std::map<std::int64_t, void*> host_pack(Memories& memories) {
    std::map<std::int64_t, void*> pack;
    for (auto& [uid, memory] : memories) pack[uid] = memory.bytes.data();
    return pack;
}

}  // namespace sdpa
