#include "core/process/standard_arithmetic.h"
#include "json/document.h"
#include "json/field_json.h"
#include "json/graph_json.h"
#include "json/problems.h"
#include "nodes/schema/schema.h"
#include "nodes/validation/modifiers.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

namespace cudnn_frontend::json {
namespace {

using nodes::Direction;
using nodes::NodeSchema;

using Names = std::vector<char const*>;

std::string unknown(char const* what, std::string_view name) {
    return std::string("the unknown ") + what + " " + excerpt(std::string(name));
}

// The number in a tensor's id; empty for other text, such as "t01", so that each tensor has one id.
std::optional<std::size_t> index_of(std::string_view id) {
    std::size_t index = 0;
    if (id.empty()) return std::nullopt;
    std::from_chars(id.data() + 1, id.data() + id.size(), index);
    return id == tensor_id(index) ? std::optional(index) : std::nullopt;
}

NodeSchema const* find_schema(std::string_view tag) {
    for (NodeSchema const* schema : nodes::all_schemas()) {
        if (tag == schema->tag) return schema;
    }
    return nullptr;
}

Names port_names(NodeSchema const& schema, Direction direction) {
    Names names;
    for (nodes::PortRow const& row : schema.ports) {
        if (row.direction == direction) names.push_back(row.name);
    }
    return names;
}

// The owner of a list of nodes.
enum class Owner { Graph, Attention };

class SpecReader {
   public:
    explicit SpecReader(Problems& problems) : problems_(problems) {}

    nodes::GraphSpec read(Json const& document) {
        Place const root;
        if (!is_object(document, root) || !check_header(document, root)) return {};
        require(document, root, key::kTensors, "{...}");
        require(document, root, key::kNodes, "[...]");
        count_tensors(document);
        for_each_member(document, root, [&](std::string const& name, Json const& value, Place const& place) {
            read_section(name, value, place);
        });
        return std::move(spec_);
    }

   private:
    void read_section(std::string_view name, Json const& value, Place const& place) {
        if (name == key::kFormat || name == key::kVersion) return;
        if (name == key::kContext) return read_fields(value, place, nodes::graph_fields(), &spec_);
        if (name == key::kTensors) return read_tensors(value, place);
        if (name == key::kNodes) return read_nodes(value, place, spec_.nodes, Owner::Graph);
        refuse_name(place, "member", name, {key::kFormat, key::kVersion, key::kContext, key::kTensors, key::kNodes});
    }

    template <class Visit>
    void for_each_member(Json const& value, Place const& place, Visit visit) {
        if (!is_object(value, place)) return;
        for (auto const& [name, member] : value.members()) {
            if (problems_.is_full()) return;
            visit(name, member, place / name);
        }
    }

    bool is_object(Json const& value, Place const& place) {
        if (value.is_object()) return true;
        problems_.add(place.pointer(), excerpt(value), "an object");
        return false;
    }

    bool require(Json const& object, Place const& place, char const* name, std::string const& value) {
        if (object.find(name) != nullptr) return true;
        problems_.add(place.pointer(), "no member " + json_string(name), json_string(name) + ": " + value);
        return false;
    }

    void refuse_name(Place const& place, char const* what, std::string_view name, Names const& known) {
        problems_.add_unknown(place.pointer(), unknown(what, name), name, known);
    }

    bool check_header(Json const& document, Place const& root) {
        if (!check_value(document, root, key::kFormat, {kFormatName})) return false;
        if (!check_value(document, root, key::kVersion, {kFlatVersion, kFormatVersion})) return false;
        may_own_nodes_ = *document.find(key::kVersion) == kFormatVersion;
        return true;
    }

    bool check_value(Json const& document, Place const& root, char const* name, std::initializer_list<Json> known) {
        std::string needed;
        for (Json const& value : known) needed += (needed.empty() ? "" : " or ") + excerpt(value);
        if (!require(document, root, name, needed)) return false;
        Json const& found = *document.find(name);
        if (std::ranges::find(known, found) != known.end()) return true;
        problems_.add((root / name).pointer(), excerpt(found), needed);
        return false;
    }

    void count_tensors(Json const& document) {
        Json const* const tensors = document.find(key::kTensors);
        if (tensors != nullptr) spec_.tensors.resize(tensors->members().size());
    }

    // Reads the members that the table names into the object. Members with one of the other names go to read_other.
    template <class ReadOther>
    void read_fields(Json const& value, Place const& place, std::span<nodes::Field const> fields, void* object,
                     Names const& others, ReadOther read_other) {
        for_each_member(value, place, [&](std::string const& name, Json const& member, Place const& at) {
            auto const field =
                std::find_if(fields.begin(), fields.end(), [&](auto const& f) { return name == f.name; });
            if (field != fields.end()) {
                if (auto const read = from_json(*field, member, at, problems_)) field->set(object, *read);
            } else if (std::find(others.begin(), others.end(), name) != others.end()) {
                read_other(name, member, at);
            } else {
                Names known;
                for (nodes::Field const& row : fields) known.push_back(row.name);
                known.insert(known.end(), others.begin(), others.end());
                refuse_name(at, "member", name, known);
            }
        });
    }

    void read_fields(Json const& value, Place const& place, std::span<nodes::Field const> fields, void* object) {
        read_fields(value, place, fields, object, {}, [](auto const&...) {});
    }

    void read_tensors(Json const& value, Place const& place) {
        for_each_member(value, place, [&](std::string const& id, Json const& tensor, Place const& at) {
            auto const index = index_of(id);
            if (index && *index < spec_.tensors.size()) {
                read_tensor(tensor, at, spec_.tensors[*index]);
            } else {
                problems_.add(at.pointer(), "the tensor id " + excerpt(id), known_ids());
            }
        });
        check_ragged_offsets(place);
    }

    // Offsets that have no offsets of their own form no cycles, which would keep their tensors alive forever.
    void check_ragged_offsets(Place const& place) {
        for (std::size_t i = 0; i < spec_.tensors.size(); ++i) {
            nodes::TensorId const offset = spec_.tensors[i].ragged_offset;
            if (offset == nodes::kNoTensor) continue;
            if (spec_.tensors[static_cast<std::size_t>(offset)].ragged_offset == nodes::kNoTensor) continue;
            std::string const id = tensor_id(static_cast<std::size_t>(offset));
            problems_.add((place / tensor_id(i) / key::kRaggedOffset).pointer(),
                          "the tensor \"" + id + "\", which has a ragged offset itself", "a tensor without one");
        }
    }

    std::string known_ids() const {
        std::size_t const count = spec_.tensors.size();
        return count == 0 ? "no tensor id: the document has no tensors"
                          : "the ids " + tensor_id(0) + " to " + tensor_id(count - 1) + ", one for each of " +
                                std::to_string(count) + " tensors";
    }

    void read_tensor(Json const& value, Place const& place, nodes::TensorSpec& tensor) {
        read_fields(
            value, place, nodes::tensor_fields(), &tensor, {key::kRaggedOffset},
            [&](std::string const&, Json const& id, Place const& at) { read_reference(id, at, tensor.ragged_offset); });
    }

    void read_reference(Json const& value, Place const& place, nodes::TensorId& tensor) {
        std::string const* const id = value.text();
        if (id == nullptr) return problems_.add(place.pointer(), excerpt(value), "a tensor id as a string");
        auto const index = index_of(*id);
        if (index && *index < spec_.tensors.size()) {
            tensor = static_cast<nodes::TensorId>(*index);
        } else {
            problems_.add(place.pointer(), "the missing tensor " + excerpt(value), known_ids());
        }
    }

    void read_nodes(Json const& value, Place const& place, std::vector<nodes::Node>& nodes, Owner owner) {
        if (!value.is_list()) return problems_.add(place.pointer(), excerpt(value), "a list of nodes");
        Json::List const& list = value.elements();
        nodes.reserve(list.size());
        for (std::size_t i = 0; i < list.size() && !problems_.is_full(); ++i) {
            read_node(list[i], place / i, nodes, owner);
        }
    }

    void read_node(Json const& value, Place const& place, std::vector<nodes::Node>& nodes, Owner owner) {
        if (!is_object(value, place)) return;
        NodeSchema const* const schema = read_tag(value, place, owner);
        if (schema == nullptr) return;
        nodes::Node& node = nodes.emplace_back(nodes::make_node(schema->kind));
        Names members = {key::kTag, key::kInputs, key::kOutputs, key::kFields};
        if (may_own_nodes_ && nodes::attention_fields(node) != nullptr) members.push_back(key::kModifier);
        read_fields(value, place, node_fields(), &node, members,
                    [&](std::string const& name, Json const& member, Place const& at) {
                        if (name == key::kInputs) read_ports(member, at, *schema, Direction::Input, node);
                        if (name == key::kOutputs) read_ports(member, at, *schema, Direction::Output, node);
                        if (name == key::kFields) read_fields(member, at, schema->fields, nodes::fields_object(node));
                        if (name == key::kModifier) read_nodes(member, at, node.modifier, Owner::Attention);
                    });
    }

    // The rest of the node depends on its tag: without one, nothing else is read.
    NodeSchema const* read_tag(Json const& node, Place const& place, Owner owner) {
        Names tags;
        for (NodeSchema const* schema : nodes::all_schemas()) {
            if (owner == Owner::Graph || nodes::may_be_of_modifier(schema->kind)) tags.push_back(schema->tag);
        }
        Json const* const tag = node.find(key::kTag);
        if (tag == nullptr) {
            problems_.add_unknown(place.pointer(), std::string("no member ") + json_string(key::kTag), "", tags);
            return nullptr;
        }
        Place const at = place / key::kTag;
        std::string const* const name = tag->text();
        if (name == nullptr) {
            problems_.add(at.pointer(), excerpt(*tag), "a tag as a string");
            return nullptr;
        }
        bool const is_known = std::ranges::any_of(tags, [&](std::string_view known) { return known == *name; });
        if (!is_known) refuse_name(at, "tag", *name, tags);
        return is_known ? find_schema(*name) : nullptr;
    }

    void read_ports(Json const& value, Place const& place, NodeSchema const& schema, Direction direction,
                    nodes::Node& node) {
        for_each_member(value, place, [&](std::string const& name, Json const& id, Place const& at) {
            for (nodes::PortRow const& row : schema.ports) {
                if (row.direction != direction || name != row.name) continue;
                return read_reference(id, at, node.ports[static_cast<std::size_t>(row.port)]);
            }
            refuse_name(at, direction == Direction::Input ? "input" : "output", name, port_names(schema, direction));
        });
    }

    Problems& problems_;
    nodes::GraphSpec spec_;
    bool may_own_nodes_ = false;  // attention in this version of the format
};

}  // namespace

Result<nodes::GraphSpec> read_graph(std::string_view text) {
    core::process::StandardArithmetic const standard;
    Problems problems;
    Json const document = parse(text, problems);
    nodes::GraphSpec spec;
    bool const is_complete = problems.empty();
    if (is_complete) spec = SpecReader(problems).read(document);
    if (!problems.empty()) return problems.to_error();
    return spec;
}

}  // namespace cudnn_frontend::json
