#include "fuzz/graphs/graph_document.h"

#include <cmath>
#include <limits>

namespace fuzz {
namespace {

// JSON has no such numbers.
Json json_of(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

double number_of(Json const& value) {
    if (value.is_number()) return value.get<double>();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    auto const& text = value.get_ref<std::string const&>();
    return text == "inf" ? kInfinity : text == "-inf" ? -kInfinity : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::string to_text(GraphDocument const& c) {
    Json all{{"graph", c.graph}, {"seed", c.seed}, {"integers", Json::object()}, {"elements", Json::array()}};
    for (auto const& [uid, values] : c.integers) all["integers"][std::to_string(uid)] = values;
    for (Element const& e : c.elements) all["elements"].push_back({e.uid, e.index, json_of(e.value)});
    return all.dump(1) + "\n";
}

GraphDocument read_graph_document(std::string const& text) {
    Json const all = Json::parse(text);
    GraphDocument c{all.at("graph"), all.at("seed").get<std::uint64_t>(), {}, {}};
    for (auto const& [uid, values] : all.at("integers").items()) {
        c.integers[std::stoll(uid)] = values.get<std::vector<std::int64_t>>();
    }
    for (Json const& e : all.at("elements")) {
        c.elements.push_back({e.at(0).get<std::int64_t>(), e.at(1).get<std::size_t>(), number_of(e.at(2))});
    }
    return c;
}

}  // namespace fuzz
