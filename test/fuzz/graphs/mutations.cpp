#include "fuzz/graphs/mutations.h"

#include "fuzz/graphs/schema.h"

#include <algorithm>
#include <numeric>

namespace fuzz {
namespace {

using Change = void (*)(Json& graph, Bytes& bytes);

constexpr std::size_t kMostTensors = 60, kMostNodes = 12;

Json& any_tensor(Json& graph, Bytes& bytes) {
    Json& tensors = graph["tensors"];
    return *std::next(tensors.begin(), static_cast<std::ptrdiff_t>(bytes.below(tensors.size())));
}

std::string any_id(Json const& graph, Bytes& bytes) {
    return "t" + std::to_string(bytes.below(graph["tensors"].size()));
}

// Null if there are no nodes.
Json* any_node(Json& graph, Bytes& bytes) {
    Json& nodes = graph["nodes"];
    return nodes.empty() ? nullptr : &nodes[bytes.below(nodes.size())];
}

std::string any_name(Json const& object, Bytes& bytes) {
    return std::next(object.begin(), static_cast<std::ptrdiff_t>(bytes.below(object.size()))).key();
}

std::string const& tag_of(Json const& node) { return node["tag"].get_ref<std::string const&>(); }

// "inputs", "outputs" or "fields" of a node, which a document may leave out.
Json& part_of(Json& node, char const* name) {
    if (!node.contains(name)) node[name] = Json::object();
    return node[name];
}

bool has_layout(Json const& tensor) {
    auto const is_list = [&](char const* name) { return tensor.contains(name) && !tensor[name].empty(); };
    return is_list("dim") && is_list("stride") && tensor["dim"].size() == tensor["stride"].size();
}

// Packs the tensor again, keeping the order of its strides.
void pack(Json& tensor) {
    if (!has_layout(tensor)) return;
    auto const dims = tensor["dim"].get<std::vector<std::int64_t>>();
    auto strides = tensor["stride"].get<std::vector<std::int64_t>>();
    std::vector<std::size_t> axes(dims.size());
    std::iota(axes.rbegin(), axes.rend(), std::size_t{0});
    std::stable_sort(axes.begin(), axes.end(), [&](auto a, auto b) { return strides[a] < strides[b]; });
    std::int64_t next = 1;
    for (std::size_t const axis : axes) {
        if (strides[axis] == 0) continue;
        strides[axis] = next;
        if (__builtin_mul_overflow(next, dims[axis], &next)) return;
    }
    tensor["stride"] = strides;
}

// Replaces a size everywhere, such as that of heads or rows.
void resize(Json& graph, Bytes& bytes) {
    Json const& model = any_tensor(graph, bytes);
    if (!has_layout(model)) return;
    Json const old = bytes.pick(model["dim"]), next = bytes.between(1, 8);
    for (Json& tensor : graph["tensors"]) {
        if (!has_layout(tensor)) continue;
        auto& dims = tensor["dim"];
        if (std::count(dims.begin(), dims.end(), old) == 0) continue;
        std::replace(dims.begin(), dims.end(), old, next);
        pack(tensor);
    }
}

void change_one_size(Json& graph, Bytes& bytes) {
    Json& tensor = any_tensor(graph, bytes);
    if (!has_layout(tensor)) return;
    Json& dims = tensor["dim"];
    dims[bytes.below(dims.size())] = bytes.chance(2) ? bytes.integer() : bytes.between(1, 8);
    if (!bytes.chance(4)) pack(tensor);
}

void change_strides(Json& graph, Bytes& bytes) {
    Json& tensor = any_tensor(graph, bytes);
    if (!has_layout(tensor)) return;
    Json& strides = tensor["stride"];
    Json& stride = strides[bytes.below(strides.size())];
    switch (bytes.below(4)) {
        case 0: return std::swap(stride, strides[bytes.below(strides.size())]);
        case 1: stride = 0; return;
        case 2: stride = bytes.integer(); return;
        default: std::swap(stride, strides[bytes.below(strides.size())]); return pack(tensor);
    }
}

void change_tensor(Json& graph, Bytes& bytes) {
    Json& tensor = any_tensor(graph, bytes);
    std::string const property = any_name(tensor_properties(), bytes);
    if (bytes.chance(3)) tensor.erase(property);
    else tensor[property] = value_for(tensor_properties()[property], bytes);
}

void change_type_everywhere(Json& graph, Bytes& bytes) {
    Json const& types = tensor_properties()["data_type"];
    Json const old = any_tensor(graph, bytes).value("data_type", Json()), next = value_for(types, bytes);
    for (Json& tensor : graph["tensors"]) {
        if (tensor.value("data_type", Json()) == old) tensor["data_type"] = next;
    }
}

void toggle_virtual(Json& graph, Bytes& bytes) {
    Json& tensor = any_tensor(graph, bytes);
    tensor["is_virtual"] = !tensor.value("is_virtual", false);
}

void change_field(Json& graph, Bytes& bytes) {
    Json* const node = any_node(graph, bytes);
    if (node == nullptr) return;
    Json const& fields = node_properties(tag_of(*node), "fields");
    std::string const name = any_name(fields, bytes);
    if (bytes.chance(4)) part_of(*node, "fields").erase(name);
    else part_of(*node, "fields")[name] = value_for(fields[name], bytes);
}

// A tensor like another one, with a uid of its own.
std::string new_tensor(Json& graph, Bytes& bytes) {
    Json& tensors = graph["tensors"];
    if (tensors.size() >= kMostTensors) return any_id(graph, bytes);
    Json tensor = any_tensor(graph, bytes);
    tensor["uid"] = 5000 + tensors.size();
    tensor["is_virtual"] = bytes.chance(2);
    if (bytes.chance(3)) tensor.erase("dim"), tensor.erase("stride");
    std::string const id = "t" + std::to_string(tensors.size());
    tensors[id] = tensor;
    return id;
}

void change_port(Json& graph, Bytes& bytes) {
    Json* const node = any_node(graph, bytes);
    if (node == nullptr) return;
    char const* const side = bytes.chance(2) ? "outputs" : "inputs";
    std::string const port = any_name(node_properties(tag_of(*node), side), bytes);
    switch (bytes.below(3)) {
        case 0: part_of(*node, side).erase(port); return;
        case 1: part_of(*node, side)[port] = any_id(graph, bytes); return;
        default: part_of(*node, side)[port] = new_tensor(graph, bytes);
    }
}

void add_node(Json& graph, Bytes& bytes) {
    if (graph["nodes"].size() >= kMostNodes) return;
    std::string const& tag = bytes.pick(node_tags());
    Json node{{"tag", tag}, {"inputs", Json::object()}, {"outputs", Json::object()}, {"fields", Json::object()}};
    for (auto const& [port, description] : node_properties(tag, "inputs").items()) {
        if (!bytes.chance(3)) node["inputs"][port] = any_id(graph, bytes);
    }
    for (auto const& [port, description] : node_properties(tag, "outputs").items()) {
        if (!bytes.chance(3)) node["outputs"][port] = new_tensor(graph, bytes);
    }
    for (auto const& [name, description] : node_properties(tag, "fields").items()) {
        if (!bytes.chance(3)) node["fields"][name] = value_for(description, bytes);
    }
    graph["nodes"].push_back(node);
}

// Adds a node x -> mode(x) with a new tensor like x.
void add_pointwise(Json& graph, Bytes& bytes) {
    if (graph["nodes"].size() >= kMostNodes || graph["tensors"].size() >= kMostTensors) return;
    Json const& modes = node_properties("POINTWISE", "fields")["mode"];
    std::string const operand = any_id(graph, bytes);
    std::string const result = "t" + std::to_string(graph["tensors"].size());
    Json tensor = graph["tensors"][operand];
    tensor["uid"] = 5000 + graph["tensors"].size();
    tensor["is_virtual"] = false;
    graph["tensors"][result] = tensor;
    Json inputs{{"IN_0", operand}};
    if (bytes.chance(2)) inputs["IN_1"] = bytes.chance(2) ? any_id(graph, bytes) : operand;
    graph["nodes"].push_back({{"tag", "POINTWISE"},
                              {"inputs", inputs},
                              {"outputs", {{"OUT_0", result}}},
                              {"fields", {{"mode", value_for(modes, bytes)}}}});
}

void copy_node(Json& graph, Bytes& bytes) {
    Json const* const node = any_node(graph, bytes);
    if (node == nullptr || graph["nodes"].size() >= kMostNodes) return;
    Json copy = *node;
    for (Json& id : part_of(copy, "outputs")) {
        Json tensor = graph["tensors"][id.get<std::string>()];
        std::size_t const number = graph["tensors"].size();
        if (number >= kMostTensors) return;
        tensor["uid"] = 5000 + number;
        id = "t" + std::to_string(number);
        graph["tensors"][id.get<std::string>()] = tensor;
    }
    graph["nodes"].push_back(copy);
}

void move_or_remove_node(Json& graph, Bytes& bytes) {
    Json& nodes = graph["nodes"];
    if (nodes.empty()) return;
    std::size_t const from = bytes.below(nodes.size());
    if (bytes.chance(3)) nodes.erase(from);
    else std::swap(nodes[from], nodes[bytes.below(nodes.size())]);
}

void change_context(Json& graph, Bytes& bytes) {
    constexpr char const* kMembers[] = {"io_data_type", "intermediate_data_type", "compute_data_type"};
    graph["context"][bytes.pick(kMembers)] = value_for(tensor_properties()["data_type"], bytes);
}

}  // namespace

void mutate(Json& graph, Bytes& bytes) {
    constexpr Change kChanges[] = {resize,
                                   change_field,
                                   change_field,
                                   change_port,
                                   toggle_virtual,
                                   change_strides,
                                   change_tensor,
                                   change_context,
                                   add_node,
                                   add_pointwise,
                                   copy_node,
                                   resize,
                                   change_field,
                                   change_one_size,
                                   change_type_everywhere,
                                   move_or_remove_node};
    bytes.pick(kChanges)(graph, bytes);
}

}  // namespace fuzz
