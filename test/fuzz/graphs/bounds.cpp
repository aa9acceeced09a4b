#include "fuzz/graphs/bounds.h"

#include "reference/checks/tolerance.h"
#include "support/random.h"

#include <cmath>
#include <limits>
#include <sstream>

namespace fuzz {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnit = 0x1p-24;          // roundoff of FLOAT
constexpr double kChange = 64.0 * kUnit;   // of inputs: about the rounding error of sums as long as those here
constexpr double kChangeOfPairs = 0x1p-8;  // where the CPU may round probabilities to BFLOAT16
constexpr int kTrials = 3;

bool is_16_bit(Json const& type) { return type == "HALF" || type == "BFLOAT16"; }
// FP8 attention is interpreted on both targets, so the results must be equal.
bool is_exact(Json const& graph) {
    std::size_t attention = 0, exact = 0;
    for (Json const& node : graph["nodes"]) {
        attention += node["tag"].get_ref<std::string const&>().starts_with("SDPA");
        exact += node.value("inputs", Json::object()).contains("descale_q");
    }
    return exact > 0 && exact == attention;
}

GraphDocument widened(GraphDocument c) {
    for (Json& tensor : c.graph["tensors"]) {
        if (is_16_bit(tensor.value("data_type", Json()))) tensor["data_type"] = "FLOAT";
    }
    for (Json& type : c.graph["context"]) {
        if (is_16_bit(type)) type = "FLOAT";
    }
    return c;
}

Data changed(Data data, std::vector<Place> const& places, double change, std::uint64_t seed) {
    sdpa_test::Random random(seed);
    for (Place const& place : places) {
        if (place.is_output || !is_floating(place.type)) continue;
        for (double& value : data[place.uid]) value *= 1.0 + (random.flip() ? change : -change);
    }
    return data;
}

double greatest_input(std::vector<Place> const& places, Data const& data) {
    double greatest = 1.0;
    for (Place const& place : places) {
        if (place.is_output || !is_floating(place.type)) continue;
        for (double const value : data.at(place.uid)) {
            if (std::isfinite(value)) greatest = std::max(greatest, std::abs(value));
        }
    }
    return greatest;
}

// A score is rounded after its bias is added. A bias that all keys of a row share cancels in softmax, but the rounding
// does not.
double greatest_bias(Json const& graph, Data const& data) {
    double greatest = 0.0;
    for (Json const& node : graph["nodes"]) {
        Json const inputs = node.value("inputs", Json::object());
        for (char const* const port : {"bias", "Rel_pos_bias"}) {
            if (!inputs.contains(port)) continue;
            auto const values =
                data.find(graph["tensors"][inputs[port].get_ref<std::string const&>()].value("uid", -1));
            if (values == data.end()) continue;
            for (double const value : values->second) {
                if (std::isfinite(value)) greatest = std::max(greatest, std::abs(value));
            }
        }
    }
    return greatest;
}

// Whether numbers in the document, other than sizes, exceed this.
bool has_great_numbers(Json const& value, double most) {
    if (value.is_number_float()) return !(std::abs(value.get<double>()) <= most);
    if (value.is_string()) return value == "inf" || value == "-inf" || value == "nan";
    for (Json const& inner : value) {
        if (value.is_structured() && has_great_numbers(inner, most)) return true;
    }
    return false;
}

using Numbers = std::map<std::int64_t, std::vector<double>>;

Numbers numbers_of(Run const& run, std::vector<Place> const& places) {
    Numbers numbers;
    for (Place const& place : places) {
        if (!place.is_output) continue;
        std::vector<std::byte> const& memory = run.outputs.at(place.uid);
        for (std::size_t at = 0; at < memory.size(); at += bytes_of(place.type)) {
            numbers[place.uid].push_back(load(place.type, memory.data() + at));
        }
    }
    return numbers;
}

bool is_same_kind(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return std::isinf(a) || std::isinf(b) ? a == b : true;
}

// The allowed difference follows from the result and the results for slightly perturbed inputs.
std::vector<double> allowed_of(Place const& place, std::vector<Numbers> const& answers, double bias, double floor) {
    std::vector<double> const& exact = answers.front().at(place.uid);
    std::vector<double> allowed(exact.size(), 0.0);
    double greatest = 0.0;
    for (double const value : exact) {
        if (std::isfinite(value)) greatest = std::max(greatest, std::abs(value));
    }
    for (std::size_t i = 0; i < exact.size(); ++i) {
        double spread = 0.0;
        for (Numbers const& answer : answers) {
            double const value = answer.at(place.uid)[i];
            if (!is_same_kind(value, exact[i])) spread = kInfinity;
            else if (std::isfinite(value)) spread = std::max(spread, std::abs(value - exact[i]));
        }
        if (!std::isfinite(exact[i]) && spread == 0.0) continue;
        allowed[i] = 4.0 * spread + kUnit * (32.0 * std::abs(exact[i]) + (16.0 + 2.0 * bias) * greatest) + floor;
        if (!(std::abs(exact[i]) + allowed[i] < largest_of(place.type))) allowed[i] = kInfinity;
    }
    return allowed;
}

Bounds no_difference(std::vector<Place> const& places) {
    Bounds bounds;
    bounds.is_moderate = true;
    for (Place const& place : places) bounds.allowed[place.uid].assign(place.elements, 0.0);
    return bounds;
}

bool has_backward(Json const& graph) {
    for (Json const& node : graph["nodes"]) {
        if (node["tag"] == "SDPA_BACKWARD" || node["tag"] == "NEIGHBORHOOD_BACKWARD") return true;
    }
    return false;
}

}  // namespace

std::optional<Bounds> bounds_of(GraphDocument const& c, std::vector<Place> const& places, Data const& data) {
    if (is_exact(c.graph)) return no_difference(places);
    GraphDocument const wide = widened(c);
    Graph graph;
    if (graph.deserialize(wide.graph.dump()).is_bad() || graph.build(Target::reference()).is_bad()) return std::nullopt;
    auto const wide_places = places_of(graph, wide);
    if (!wide_places || wide_places->size() != places.size()) return std::nullopt;
    std::vector<Numbers> answers;
    double const change = c.graph.dump().find("BFLOAT16") == std::string::npos ? kChange : kChangeOfPairs;
    for (int trial = 0; trial <= kTrials; ++trial) {
        auto const seed = static_cast<std::uint64_t>(trial);
        Run const answer =
            run(graph, *wide_places, trial == 0 ? data : changed(data, places, change, seed), std::byte{0xff});
        if (answer.status.is_bad()) return std::nullopt;
        answers.push_back(numbers_of(answer, *wide_places));
    }
    Bounds bounds;
    double const greatest = greatest_input(places, data);
    double const bias = greatest_bias(wide.graph, data);
    // Backward's probabilities are exponentials of scores minus the caller's Stats, which need not fit the scores.
    double const most = has_backward(c.graph) ? 2.0 : 1e4;
    bounds.is_moderate = greatest <= most && !has_great_numbers(c.graph, 4.0);
    for (Place const& place : places) {
        // FLOAT flushes at most its smallest number to zero, times the factors that multiply it.
        double const floor = 1e-36 * greatest * greatest;
        if (place.is_output) bounds.allowed[place.uid] = allowed_of(place, answers, bias, floor);
        if (place.is_output && bounds.allowed[place.uid].size() != place.elements) return std::nullopt;
    }
    return bounds;
}

std::string difference(Place const& place, std::vector<std::byte> const& a, std::vector<std::byte> const& b,
                       std::vector<double> const& allowed, Infinities infinities) {
    for (std::size_t const element : elements_of(place)) {
        double const x = load(place.type, a.data() + element * bytes_of(place.type));
        double const y = load(place.type, b.data() + element * bytes_of(place.type));
        if (x == y || (std::isnan(x) && std::isnan(y)) || std::isinf(allowed[element])) continue;
        bool const are_finite = std::isfinite(x) && std::isfinite(y);
        if (!are_finite && infinities == Infinities::MayDiffer) continue;
        double const bound =
            allowed[element] + oracle::storage_error(place.type, x) + oracle::storage_error(place.type, y);
        if (are_finite && std::abs(x - y) <= bound) continue;
        std::ostringstream text;
        text.precision(9);
        text << "element " << element << " of the tensor with uid " << place.uid << " is " << x << " and " << y
             << ", which may differ by " << bound;
        return text.str();
    }
    return {};
}

}  // namespace fuzz
