#include "fuzz/bytes/base_bytes.h"

#include "fuzz/graphs/base_graphs.h"

#include <cudnn_frontend/graph.h>

#include <map>

namespace fuzz {
namespace {

using cudnn_frontend::DeviceProperties;
using cudnn_frontend::Target;

constexpr std::uint8_t kOfEach = 16;

std::string stored_plan(std::uint8_t which) {
    cudnn_frontend::graph::Graph graph;
    std::vector<std::uint8_t> bytes;
    Target const target = which % 3 == 0 ? Target::reference() : Target::cpu();
    bool const is_stored = graph.deserialize(base_graph(which).graph.dump()).is_good() &&
                           graph.build(target).is_good() && graph.serialize(bytes).is_good();
    return is_stored ? std::string(bytes.begin(), bytes.end()) : "";
}

std::string device(std::uint8_t which, bool as_bytes) {
    std::vector<std::string> const names = DeviceProperties::names();
    if (names.empty()) return "";
    DeviceProperties const known = DeviceProperties::named(names[which % names.size()]);
    std::vector<std::uint8_t> bytes;
    if (as_bytes && known.serialize(bytes).is_good()) return {bytes.begin(), bytes.end()};
    return known.to_json();
}

std::string make(std::string const& kind, std::uint8_t which) {
    if (kind == "graph") return base_graph(which).graph.dump(which % 2 == 0 ? 2 : -1);
    return kind == "plan" ? stored_plan(which) : device(which, kind != "device");
}

}  // namespace

std::string const& base_bytes(std::string const& kind, std::uint8_t which) {
    static std::map<std::pair<std::string, std::uint8_t>, std::string> made;
    which %= kOfEach;
    auto const found = made.find({kind, which});
    if (found != made.end()) return found->second;
    return made.emplace(std::pair(kind, which), make(kind, which)).first->second;
}

// FNV-1a over everything after the header: eight bytes of magic, the format's number, and the checksum itself.
std::string with_checksum(std::string plan) {
    constexpr std::size_t kPlace = 16, kHeader = 24;
    if (plan.size() < kHeader) return plan;
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (std::size_t i = kHeader; i < plan.size(); ++i) {
        hash = (hash ^ static_cast<unsigned char>(plan[i])) * 0x100000001b3u;
    }
    for (std::size_t i = 0; i < 8; ++i) plan[kPlace + i] = static_cast<char>(hash >> (8 * i) & 0xff);
    return plan;
}

}  // namespace fuzz
