#include "fuzz/graphs/runs.h"

#include "support/random.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace fuzz {
namespace {

constexpr std::int64_t kMostElements = 1 << 13;
constexpr std::int64_t kMostWorkspace = 1 << 20;

// The document's tensor with that uid; null if there is none, or more than one.
Json const* tensor_of(Json const& graph, std::int64_t uid) {
    Json const* found = nullptr;
    for (Json const& tensor : graph["tensors"]) {
        if (tensor.value("uid", Json()) != Json(uid)) continue;
        if (found != nullptr) return nullptr;
        found = &tensor;
    }
    return found;
}

std::set<Json> outputs_of(Json const& graph) {
    std::set<Json> ids;
    for (Json const& node : graph["nodes"]) {
        for (Json const& id : node.value("outputs", Json::object())) ids.insert(id);
    }
    return ids;
}

bool is_made_by_node(Json const& graph, std::int64_t uid) {
    std::set<Json> const ids = outputs_of(graph);
    return std::any_of(ids.begin(), ids.end(), [&](Json const& id) {
        auto const tensor = graph["tensors"].find(id.get<std::string>());
        return tensor != graph["tensors"].end() && tensor->value("uid", Json()) == Json(uid);
    });
}

// The value of elements that the case does not set: small numbers, so that offsets stay within memory.
double seeded_value(std::uint64_t seed, std::int64_t uid, std::size_t index, DataType_t type) {
    sdpa_test::Random random(seed + 1'000'003 * static_cast<std::uint64_t>(uid) + index);
    if (is_floating(type)) return rounded(type, random.real(-1.0, 1.0));
    return static_cast<double>(random.between(0, type == DataType_t::BOOLEAN ? 1 : 2));
}

std::vector<double> values_of(Place const& place, GraphDocument const& c) {
    std::vector<double> values(place.elements);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = seeded_value(c.seed, place.uid, i, place.type);
    auto const integers = c.integers.find(place.uid);
    if (integers != c.integers.end() && !is_floating(place.type)) {
        for (std::size_t i = 0; i < std::min(values.size(), integers->second.size()); ++i) {
            values[i] = static_cast<double>(integers->second[i]);
        }
    }
    for (Element const& e : c.elements) {
        if (e.uid == place.uid && e.index < values.size()) values[e.index] = rounded(place.type, e.value);
    }
    return values;
}

// The number of elements that the offsets of a ragged tensor add to its memory.
std::optional<std::int64_t> reach_of_offsets(cudnn_frontend::graph::Tensor_attributes const& tensor,
                                             GraphDocument const& c, Json const& described) {
    auto const offset = c.graph["tensors"].find(described["ragged_offset"].get<std::string>());
    if (offset == c.graph["tensors"].end() || !offset->value("uid", Json()).is_number()) return std::nullopt;
    Place place;
    place.uid = (*offset)["uid"].get<std::int64_t>();
    place.type = type_named(offset->value("data_type", "NOT_SET"));
    place.elements = 64;  // as many as any batch of a case needs
    double most = 2.0;
    for (double const value : values_of(place, c)) {
        if (value < 0.0) return std::nullopt;
        most = std::max(most, value);
    }
    double const reach = most * static_cast<double>(tensor.get_ragged_offset_multiplier());
    if (!(reach >= 0.0 && reach < static_cast<double>(kMostElements))) return std::nullopt;
    return static_cast<std::int64_t>(reach);
}

std::optional<Place> place_of(Graph const& graph, std::int64_t uid, GraphDocument const& c) {
    cudnn_frontend::graph::Tensor_attributes tensor;
    Json const* const described = tensor_of(c.graph, uid);
    if (described == nullptr || graph.query_tensor_attributes_of_uid(uid, tensor).is_bad()) return std::nullopt;
    Place place{uid,
                tensor.get_data_type(),
                tensor.get_dim(),
                tensor.get_stride(),
                0,
                is_made_by_node(c.graph, uid),
                described->contains("ragged_offset")};
    auto const span = span_of(place.dim, place.stride);
    if (!span || bytes_of(place.type) == 0) return std::nullopt;
    place.elements = static_cast<std::size_t>(*span);
    if (!place.is_ragged) return place;
    auto const reach = reach_of_offsets(tensor, c, *described);
    if (!reach) return std::nullopt;
    place.elements += static_cast<std::size_t>(*reach);
    return place;
}

// Where a byte changed that does not belong to an output.
std::string change_outside(Place const& place, std::vector<std::byte> const& before,
                           std::vector<std::byte> const& after) {
    std::size_t const bytes = bytes_of(place.type);
    std::vector<bool> may_change(before.size(), place.is_output && place.is_ragged);
    if (place.is_output) {
        for (std::size_t const element : elements_of(place)) {
            for (std::size_t i = 0; i < bytes; ++i) may_change[element * bytes + i] = true;
        }
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i] == after[i] || may_change[i]) continue;
        return "byte " + std::to_string(i) + " of the tensor with uid " + std::to_string(place.uid) +
               " was written, which is no output's element";
    }
    return {};
}

std::vector<std::byte> memory_of(Place const& place, Data const& data, std::byte poison) {
    std::size_t const bytes = bytes_of(place.type);
    std::vector<std::byte> memory(place.elements * bytes, poison);
    auto const values = data.find(place.uid);
    if (values == data.end()) return memory;
    for (std::size_t i = 0; i < place.elements; ++i) store(place.type, memory.data() + i * bytes, values->second[i]);
    return memory;
}

}  // namespace

std::optional<std::int64_t> span_of(std::vector<std::int64_t> const& dim, std::vector<std::int64_t> const& stride) {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < dim.size(); ++i) {
        if (i >= stride.size() || dim[i] < 1 || dim[i] > kMostElements || stride[i] < 0 || stride[i] > kMostElements)
            return std::nullopt;
        last += (dim[i] - 1) * stride[i];
    }
    if (last >= kMostElements) return std::nullopt;
    return last + 1;
}

std::vector<std::size_t> elements_of(Place const& place) {
    std::vector<std::size_t> elements{0};
    if (place.is_ragged) {
        elements.resize(place.elements);
        for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = i;
        return elements;
    }
    for (std::size_t axis = 0; axis < place.dim.size(); ++axis) {
        std::vector<std::size_t> next;
        for (std::size_t const start : elements) {
            for (std::int64_t i = 0; i < place.dim[axis]; ++i) {
                next.push_back(start + static_cast<std::size_t>(i * place.stride[axis]));
            }
        }
        elements = std::move(next);
    }
    return elements;
}

std::optional<std::vector<Place>> places_of(Graph const& graph, GraphDocument const& c) {
    std::int64_t workspace = 0;
    if (graph.get_workspace_size(workspace).is_bad() || workspace > kMostWorkspace) return std::nullopt;
    std::vector<Place> places;
    for (std::int64_t const uid : graph.get_variant_pack_uids_sorted()) {
        std::optional<Place> const place = place_of(graph, uid, c);
        std::int64_t volume = 1;
        if (place) {
            for (std::int64_t const size : place->dim) volume = std::min(volume * size, kMostElements + 1);
        }
        if (!place || volume > kMostElements) return std::nullopt;
        places.push_back(*place);
    }
    return places;
}

Data make_data(std::vector<Place> const& places, GraphDocument const& c) {
    Data data;
    for (Place const& place : places) {
        if (!place.is_output) data[place.uid] = values_of(place, c);
    }
    return data;
}

Run run(Graph const& graph, std::vector<Place> const& places, Data const& data, std::byte poison) {
    std::map<std::int64_t, std::vector<std::byte>> before;
    for (Place const& place : places) before[place.uid] = memory_of(place, data, poison);
    auto memory = before;
    std::map<std::int64_t, void*> pack;
    for (auto& [uid, bytes] : memory) pack[uid] = bytes.data();
    std::int64_t size = 0;
    Run result;
    result.status = graph.get_workspace_size(size);
    if (result.status.is_bad()) return result;
    std::vector<std::byte> workspace(static_cast<std::size_t>(size), poison);
    result.status = graph.execute(pack, workspace.data(), size);
    for (Place const& place : places) {
        if (result.status.is_bad() && memory[place.uid] != before[place.uid]) {
            result.fault = "a run that failed wrote to the tensor with uid " + std::to_string(place.uid);
        }
        if (result.fault.empty()) result.fault = change_outside(place, before[place.uid], memory[place.uid]);
        if (place.is_output) result.outputs[place.uid] = std::move(memory[place.uid]);
    }
    return result;
}

}  // namespace fuzz
