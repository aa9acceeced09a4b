#include "data/npy.h"

#include "output.h"

#include <cudnn_frontend/fp8.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

static_assert(std::endian::native == std::endian::little);

namespace sdpa {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

std::string shape_text(Sizes const& shape) { return list_text(shape); }

// Throws with the file's name.
[[noreturn]] void refuse(std::string const& name, std::string const& found, std::string const& expected,
                         std::string const& fix = {}) {
    throw Failure(name, found, expected, fix);
}

std::int64_t product(Sizes const& shape) {
    std::int64_t count = 1;
    for (std::int64_t const size : shape) {
        if (__builtin_mul_overflow(count, size, &count)) return -1;
    }
    return count;
}

// The header is a Python dictionary with three members.
class Header {
   public:
    Header(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}

    std::string type() const {
        std::string const value = value_of("descr");
        if (value.size() < 3 || (value.front() != '\'' && value.front() != '"'))
            refuse(name_, "elements with fields, " + excerpt(value), "an array of numbers");
        return value.substr(1, value.find(value.front(), 1) - 1);
    }

    bool is_fortran() const { return value_of("fortran_order").starts_with("True"); }

    Sizes shape() const {
        std::string const value = value_of("shape");
        Sizes sizes;
        char const* at = value.data();
        char const* const end = at + value.size();
        if (at == end || *at != '(') refuse(name_, "the shape " + excerpt(value), "a tuple such as (2, 8, 512, 128)");
        for (++at; at != end && *at != ')';) {
            if (*at == ' ' || *at == ',') {
                ++at;
                continue;
            }
            std::int64_t size = 0;
            auto const read = std::from_chars(at, end, size);
            if (read.ec != std::errc() || size < 0)
                refuse(name_, "the shape " + excerpt(value), "a tuple such as (2, 8, 512, 128)");
            sizes.push_back(size);
            at = read.ptr;
        }
        return sizes;
    }

   private:
    static std::string excerpt(std::string const& text) { return text.substr(0, 40); }

    // The text behind the member's colon.
    std::string value_of(std::string const& key) const {
        auto at = text_.find("'" + key + "'");
        if (at != std::string::npos) at = text_.find(':', at);
        if (at == std::string::npos) refuse(name_, "a header without " + key, "a file that numpy.save() wrote");
        return text_.substr(text_.find_first_not_of(": ", at));
    }

    std::string name_, text_;
};

constexpr char const* kArrayFile = "a file that numpy.save() wrote (.npy)";

// Room for arrays of other shapes, so that the message can have the shape.
Expected_file array_file_for(Memory const& memory) {
    constexpr std::size_t kRoom = std::size_t{64} << 20, kMostBytesOfElement = 8;
    constexpr std::int64_t kMostElements = std::int64_t{1} << 48;
    std::int64_t const elements = std::clamp(product(memory.dim), std::int64_t{0}, kMostElements);
    std::size_t const most = kRoom + static_cast<std::size_t>(elements) * kMostBytesOfElement;
    return {kArrayFile, "numpy.save(file, array) with an array of the tensor's dims", most, kMagic};
}

// The length of the header's text, and where it starts.
std::pair<std::size_t, std::size_t> find_header(std::string const& name, std::string const& bytes) {
    if (bytes.starts_with("PK"))
        refuse(name, "an archive of arrays (.npz)", "one array (.npy)", "numpy.save() for each of its arrays");
    if (!bytes.starts_with(kMagic) || bytes.size() < 12) refuse(name, "no array of NumPy", kArrayFile);
    auto const byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at])); };
    bool const is_old = byte(6) == 1;
    std::size_t const start = is_old ? 10 : 12;
    std::size_t length = byte(8) + (byte(9) << 8);
    if (!is_old) length += (byte(10) << 16) + (byte(11) << 24);
    if (start + length > bytes.size())
        refuse(name, std::to_string(bytes.size()) + " bytes, which end within the header",
               std::to_string(start + length) + " or more", "write the file again: it was cut off");
    return {start, length};
}

std::int64_t size_of_type(std::string const& name, std::string const& type) {
    std::int64_t size = 0;
    char const* const end = type.data() + type.size();
    bool const is_number = type.size() >= 3 && std::from_chars(type.data() + 2, end, size).ptr == end && size > 0;
    if (!is_number) refuse(name, "elements of type " + type, "numbers, such as <f4, <f2, <i4 or <i8");
    if (type[0] == '>')
        refuse(name, "elements of type " + type + ", most significant byte first", "the least significant byte first",
               "array.astype('<" + type.substr(1) + "')");
    return size;
}

template <class T>
double load(char const* from) {
    T value{};
    std::memcpy(&value, from, sizeof(T));
    if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(value);
    else return static_cast<double>(static_cast<float>(value));
}

using Load = double (*)(char const*);

// How elements of the array's type become numbers of the tensor's; null where they do not.
Load loader(std::string const& kind, fe::DataType_t type) {
    using fe::DataType_t;
    bool const is_integer = type == DataType_t::INT32 || type == DataType_t::INT64 || type == DataType_t::INT8 ||
                            type == DataType_t::UINT8 || type == DataType_t::BOOLEAN;
    if (kind == "V2") return type == DataType_t::BFLOAT16 ? Load(load<fe::bfloat16>) : nullptr;
    if (kind == "V1" || (kind == "u1" && !is_integer)) {
        if (type == DataType_t::FP8_E4M3) return load<fe::fp8_e4m3>;
        return type == DataType_t::FP8_E5M2 ? Load(load<fe::fp8_e5m2>) : nullptr;
    }
    if (is_integer) {
        if (kind == "i4") return load<std::int32_t>;
        if (kind == "i8") return load<std::int64_t>;
        if (kind == "i1") return load<std::int8_t>;
        return kind == "u1" || kind == "b1" ? Load(load<std::uint8_t>) : nullptr;
    }
    if (kind == "f2") return load<fe::float16>;
    if (kind == "f4") return load<float>;
    return kind == "f8" ? Load(load<double>) : nullptr;
}

std::string types_for(fe::DataType_t type) {
    switch (type) {
        case fe::DataType_t::INT32:
        case fe::DataType_t::INT64:
        case fe::DataType_t::INT8: return "<i4 or <i8";
        case fe::DataType_t::UINT8:
        case fe::DataType_t::BOOLEAN: return "|u1";
        case fe::DataType_t::BFLOAT16: return "<f4, <f2, <f8 or the bits as |V2";
        case fe::DataType_t::FP8_E4M3:
        case fe::DataType_t::FP8_E5M2: return "<f4, <f2, <f8 or the bits as |u1";
        default: return "<f4, <f2 or <f8";
    }
}

Sizes without_ones(Sizes shape) {
    std::erase(shape, 1);
    return shape;
}

struct Written_type {
    char const* name;
    fe::DataType_t type;
};

Written_type written_type(fe::DataType_t type) {
    using fe::DataType_t;
    switch (type) {
        case DataType_t::DOUBLE: return {"<f8", type};
        case DataType_t::HALF: return {"<f2", type};
        case DataType_t::INT32: return {"<i4", type};
        case DataType_t::INT64: return {"<i8", type};
        case DataType_t::INT8: return {"|i1", type};
        case DataType_t::UINT8:
        case DataType_t::BOOLEAN: return {"|u1", type};
        default: return {"<f4", DataType_t::FLOAT};
    }
}

std::string header_of(char const* type, Sizes const& shape) {
    std::string sizes;
    for (std::int64_t const size : shape) sizes += std::to_string(size) + ", ";
    std::string text = std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
    constexpr std::size_t kAlignment = 64, kBefore = 10;
    text.append((kAlignment - (kBefore + text.size() + 1) % kAlignment) % kAlignment, ' ');
    text += '\n';
    std::string header(kMagic);
    header += {'\x01', '\x00', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
    return header + text;
}

}  // namespace

Array read_npy(std::string const& path, Memory const& memory) {
    std::string const bytes = read_bytes(path, array_file_for(memory));
    auto const [start, length] = find_header(path, bytes);
    Header const header(path, bytes.substr(start, length));
    Array array{path, header.type(), header.shape(), {}};
    std::int64_t const size = size_of_type(path, array.type), count = product(array.shape);
    if (header.is_fortran() && std::ranges::count_if(array.shape, [](auto dim) { return dim > 1; }) > 1)
        refuse(path, "Fortran order", "C order", "numpy.save(file, numpy.ascontiguousarray(array))");
    std::size_t const found = bytes.size() - start - length;
    std::int64_t needed = 0;
    bool const is_too_large = count < 0 || __builtin_mul_overflow(count, size, &needed);
    if (is_too_large || found != static_cast<std::size_t>(needed))
        refuse(path, std::to_string(found) + " bytes of data",
               (is_too_large ? "fewer than 2^63" : std::to_string(needed)) + " for shape " + shape_text(array.shape) +
                   " of " + array.type,
               "write the file again: it was cut off or changed");
    array.bytes = bytes.substr(start + length);
    return array;
}

static void need_32_bits(Array const& array, std::vector<double> const& numbers, Memory const& memory) {
    constexpr double kLeast = std::numeric_limits<std::int32_t>::min(),
                     kMost = std::numeric_limits<std::int32_t>::max();
    auto const large = std::ranges::find_if(numbers, [&](double number) { return number < kLeast || number > kMost; });
    if (large != numbers.end())
        refuse(array.name, "the number " + std::to_string(static_cast<std::int64_t>(*large)),
               "numbers that fit " + memory.name + " of type INT32");
}

std::vector<double> numbers_of(Array const& array, Memory const& memory) {
    if (array.shape != memory.dim && without_ones(array.shape) != without_ones(memory.dim))
        refuse(array.name, "an array of shape " + shape_text(array.shape),
               shape_text(memory.dim) + ", the dims of " + memory.name);
    Load const load_one = loader(array.type.substr(1), memory.type);
    if (load_one == nullptr)
        refuse(array.name, "elements of type " + array.type,
               types_for(memory.type) + " for " + memory.name + " of type " + to_string(memory.type));
    std::size_t const size =
        array.bytes.size() / static_cast<std::size_t>(std::max<std::int64_t>(product(array.shape), 1));
    std::vector<double> numbers;
    for (std::size_t at = 0; at < array.bytes.size(); at += size) numbers.push_back(load_one(array.bytes.data() + at));
    if (memory.type == fe::DataType_t::INT32) need_32_bits(array, numbers, memory);
    return numbers;
}

void write_npy(std::string const& path, Memory const& memory) {
    auto const [name, type] = written_type(memory.type);
    Memory packed{memory.name, memory.port, type, memory.dim, Sizes(memory.dim.size(), 1)};
    for (std::size_t axis = memory.dim.size(); axis-- > 1;)
        packed.stride[axis - 1] = packed.stride[axis] * memory.dim[axis];
    packed.bytes.resize(static_cast<std::size_t>(product(memory.dim) * element_bits(type) / 8));
    memory.for_each([&](Sizes const& index, std::int64_t at) { packed.set(packed.place(index), memory.get(at)); });
    std::string const header = header_of(name, memory.dim);
    write_file(path, {header, {reinterpret_cast<char const*>(packed.bytes.data()), packed.bytes.size()}});
}

}  // namespace sdpa
