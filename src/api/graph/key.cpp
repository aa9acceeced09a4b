#include "api/graph/spec_text.h"

#include "nodes/schema/schema.h"

#include <bit>
#include <cstdint>

namespace cudnn_frontend::graph {
namespace {

// Each word is mixed in with all its bits before the next comes: most words are small numbers, or -1 for none.
class Hasher {
   public:
    void add(std::uint64_t word) { state_ = mix(state_ * 0x9e3779b97f4a7c15ull + word); }
    void add(std::string const& text) {
        add(text.size());
        for (char const c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    }
    std::size_t result() const { return static_cast<std::size_t>(state_); }

   private:
    static std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
        return x ^ (x >> 31);
    }

    std::uint64_t state_ = 1;
};

struct AddValue {
    Hasher& hasher;

    void operator()(std::monostate) const {}
    void operator()(bool value) const { hasher.add(std::uint64_t{value}); }
    void operator()(std::int64_t value) const { hasher.add(static_cast<std::uint64_t>(value)); }
    void operator()(double value) const { hasher.add(std::bit_cast<std::uint64_t>(value)); }
    void operator()(std::string const& value) const { hasher.add(value); }
    void operator()(core::Dims const& value) const {
        hasher.add(value.size());
        for (std::int64_t const size : value) hasher.add(static_cast<std::uint64_t>(size));
    }
    void operator()(std::vector<bool> const& value) const {
        hasher.add(value.size());
        for (bool const element : value) (*this)(element);
    }
    void operator()(detail::Scalar const& value) const {
        hasher.add(static_cast<std::uint64_t>(value.type));
        hasher.add(value.bits);
    }
};

void add_fields(Hasher& hasher, std::span<nodes::Field const> fields, void const* object) {
    for (nodes::Field const& field : fields) {
        if (field.is_label) continue;
        nodes::FieldValue const value = field.get(object);
        hasher.add(value.index());
        std::visit(AddValue{hasher}, value);
    }
}

}  // namespace

std::size_t canonical_key(nodes::GraphSpec const& spec) {
    Hasher hasher;
    add_fields(hasher, nodes::graph_fields(), &spec);
    for (nodes::TensorSpec const& tensor : spec.tensors) {
        add_fields(hasher, nodes::tensor_fields(), &tensor);
        hasher.add(static_cast<std::uint64_t>(tensor.ragged_offset));
    }
    for (nodes::Node const& node : every_node(spec)) {
        hasher.add(static_cast<std::uint64_t>(node.kind()));
        hasher.add(static_cast<std::uint64_t>(node.compute_data_type));
        add_fields(hasher, nodes::schema_of(node.kind()).fields, nodes::fields_object(node));
        for (nodes::TensorId const id : node.ports) hasher.add(static_cast<std::uint64_t>(id));
    }
    return hasher.result();
}

}  // namespace cudnn_frontend::graph
