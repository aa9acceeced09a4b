#include "fuzz/graphs/schema.h"

#include <cmath>
#include <fstream>

namespace fuzz {
namespace {

Json const& schema() {
    static Json const all = Json::parse(std::ifstream(SDPA_GRAPH_SCHEMA));
    return all;
}

Json json_number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

// "#/$defs/tensor" is the pointer "/$defs/tensor".
Json const& resolved(std::string const& reference) { return schema().at(Json::json_pointer(reference.substr(1))); }

Json object_for(Json const& description, Bytes& bytes) {
    Json object = Json::object();
    for (auto const& [name, property] : description.at("properties").items()) {
        if (!bytes.chance(3)) object[name] = value_for(property, bytes);
    }
    return object;
}

Json list_for(Json const& items, Bytes& bytes) {
    Json list = Json::array();
    for (std::size_t left = bytes.chance(4) ? bytes.below(10) : 4; left > 0; --left)
        list.push_back(value_for(items, bytes));
    return list;
}

}  // namespace

Json const& tensor_properties() { return schema().at("$defs").at("tensor").at("properties"); }

Json const& node_properties(std::string const& tag, char const* part) {
    static Json const none = Json::object();
    Json const& definitions = schema().at("$defs");
    auto const found = definitions.find("node." + tag);
    if (found == definitions.end()) return none;
    return found->at("properties").at(part).at("properties");
}

std::vector<std::string> const& node_tags() {
    static std::vector<std::string> const tags = [] {
        std::vector<std::string> found;
        for (auto const& [name, definition] : schema().at("$defs").items()) {
            if (name.starts_with("node.")) found.push_back(name.substr(5));
        }
        return found;
    }();
    return tags;
}

Json value_for(Json const& description, Bytes& bytes) {
    if (auto const one_of = description.find("enum"); one_of != description.end()) return bytes.pick(*one_of);
    if (auto const any_of = description.find("anyOf"); any_of != description.end()) {
        return value_for(bytes.pick(*any_of), bytes);
    }
    if (auto const reference = description.find("$ref"); reference != description.end()) {
        auto const& target = reference->get_ref<std::string const&>();
        if (target.ends_with("/number") || target.ends_with("/single")) return json_number(bytes.number());
        return value_for(resolved(target), bytes);
    }
    std::string const type = description.value("type", "null");
    if (description.contains("pattern")) return "t" + std::to_string(bytes.below(12));  // a tensor's id
    if (type == "boolean") return bytes.chance(2);
    if (type == "integer") return bytes.integer();
    if (type == "number") return json_number(bytes.number());
    if (type == "string") return std::string(bytes.below(3), 'x');
    if (type == "array") return list_for(description.at("items"), bytes);
    if (type == "object") return object_for(description, bytes);
    return nullptr;
}

}  // namespace fuzz
