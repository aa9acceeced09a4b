#include "fingerprint.h"

#include <bit>
#include <sstream>
#include <type_traits>

namespace cudnn_frontend::test {
namespace {

using namespace nodes;

void put(std::ostream& out, bool value) { out << (value ? "true" : "false"); }
void put(std::ostream& out, std::int32_t value) { out << value; }
void put(std::ostream& out, std::int64_t value) { out << value; }
void put(std::ostream& out, float value) { out << std::hex << std::bit_cast<std::uint32_t>(value) << std::dec; }
void put(std::ostream& out, double value) { out << std::hex << std::bit_cast<std::uint64_t>(value) << std::dec; }
void put(std::ostream& out, std::string const& value) {
    for (char const byte : value) out << static_cast<int>(byte) << '.';
}
void put(std::ostream& out, detail::Scalar const& value) { out << static_cast<int>(value.type) << ':' << value.bits; }
template <class Enum>
std::enable_if_t<std::is_enum_v<Enum>> put(std::ostream& out, Enum value) {
    out << "#" << static_cast<int>(value);
}
template <class T>
void put(std::ostream& out, std::vector<T> const& list) {
    for (T const& element : list) {
        put(out, element);
        out << ' ';
    }
}
template <class T>
void put(std::ostream& out, std::optional<T> const& value) {
    if (!value) return void(out << "null");
    put(out, *value);
}

template <class... Member>
std::string lines(Member const&... members) {
    std::ostringstream out;
    ((put(out, members), out << '\n'), ...);
    return out.str();
}

// Structured bindings name every member: one that is added to attention's does not compile until it is added here.
std::string fields_of(AttentionFields const& fields) {
    auto const& [a, b, c, d, e, f, g, h, i, j, k, said] = fields;
    (void)said;  // never part of a document
    return lines(a, b, c, d, e, f, g, h, i, j, k);
}
std::string fields_of(SdpaForwardFields const& fields) {
    static_assert(sizeof(SdpaForwardFields) == sizeof(AttentionFields) + 32);
    return fields_of(static_cast<AttentionFields const&>(fields)) +
           lines(fields.generate_stats, fields.implementation, fields.max_seq_len_kv, fields.unfuse_fma);
}
std::string fields_of(SdpaBackwardFields const& fields) {
    return fields_of(static_cast<AttentionFields const&>(fields)) + lines(fields.deterministic);
}

// The fields of a neighborhood's window as text.
std::string window_of(NeighborhoodFields const& fields) {
    auto const& [a, b, c] = fields;
    return lines(a, b, c);
}
template <class Fields>
requires std::is_base_of_v<NeighborhoodFields, Fields> std::string fields_of(Fields const& fields) {
    static_assert(sizeof(NeighborhoodForwardFields) == sizeof(NeighborhoodFields) + 16);
    static_assert(sizeof(NeighborhoodBackwardFields) == sizeof(NeighborhoodFields) + 8);
    std::string text = window_of(fields);
    if constexpr (requires { fields.attn_scale; }) text += lines(fields.attn_scale);
    if constexpr (requires { fields.generate_stats; }) text += lines(fields.generate_stats);
    return text;
}

// Converts to any member's type, so that a struct's members can be counted.
template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;
struct Anything {
    template <class T>
    requires(!is_optional<T>)  // an optional is covered through its value
    operator T() const;
};

template <class T, class... Members>
constexpr std::size_t member_count() {
    if constexpr (requires { T{Members{}..., Anything{}}; }) return member_count<T, Members..., Anything>();
    else return sizeof...(Members);
}

// All members of any other kind of node, which need no name here.
template <class Fields>
std::string fields_of(Fields const& fields) {
    constexpr std::size_t kCount = member_count<Fields>();
    static_assert(kCount <= 8, "one more case for a node with more fields");
    if constexpr (kCount == 0) {
        return "";
    } else if constexpr (kCount == 1) {
        auto const& [a] = fields;
        return lines(a);
    } else if constexpr (kCount == 2) {
        auto const& [a, b] = fields;
        return lines(a, b);
    } else if constexpr (kCount == 3) {
        auto const& [a, b, c] = fields;
        return lines(a, b, c);
    } else if constexpr (kCount == 4) {
        auto const& [a, b, c, d] = fields;
        return lines(a, b, c, d);
    } else if constexpr (kCount <= 8) {
        static_assert(kCount == 8, "one more case for a node with that many fields");
        auto const& [a, b, c, d, e, f, g, h] = fields;
        return lines(a, b, c, d, e, f, g, h);
    }
}
static_assert(member_count<MatmulFields>() == 1 && member_count<ReductionFields>() == 2 &&
              member_count<PointwiseFields>() == 8);

// All members except those that are never part of a document.
std::string fingerprint(Node const& node) {
    auto const& [name, compute_data_type, fields, modifier_faults] = static_cast<NodeBody const&>(node);
    (void)modifier_faults;
    return lines(name, compute_data_type, node.ports) + test::fingerprint(fields);
}

}  // namespace

std::string fingerprint(Fields const& fields) {
    return std::visit([](auto const& alternative) { return fields_of(alternative); }, fields);
}

// The same.
std::string fingerprint(TensorSpec const& tensor) {
    auto const& [name, uid, automatic_uid, data_type, dim, stride, is_virtual, is_by_value, value, is_constant,
                 ragged_offset, multiplier, alignment, reordering, vector_count, vector_dimension, is_foreign] = tensor;
    (void)automatic_uid;
    (void)is_foreign;
    return lines(name, uid, data_type, dim, stride, is_virtual, is_by_value, value, is_constant, ragged_offset,
                 multiplier, alignment, reordering, vector_count, vector_dimension);
}

std::string fingerprint(GraphSpec const& spec) {
    auto const& [name, io, intermediate, compute, missing_outputs] = static_cast<GraphHead const&>(spec);
    (void)missing_outputs;
    std::string text = lines(name, io, intermediate, compute);
    for (TensorSpec const& tensor : spec.tensors) text += "tensor\n" + fingerprint(tensor);
    for (Node const& node : every_node(spec)) text += "node\n" + fingerprint(node);
    return text;
}

}  // namespace cudnn_frontend::test
