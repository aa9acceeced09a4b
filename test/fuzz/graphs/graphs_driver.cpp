// Structurally mutated JSON graphs on both CPU targets, which must agree on whether they are valid, whether they can
// run, and on every output.
#include "fuzz/driver.h"
#include "fuzz/graphs/base_graphs.h"
#include "fuzz/graphs/bounds.h"
#include "fuzz/graphs/graph_checks.h"
#include "fuzz/graphs/mutations.h"

namespace fuzz {

char const* const kDriverName = "graphs";

namespace {

using cudnn_frontend::error_code_t;

// Sets some adjacent elements anywhere to unusual numbers.
void add_elements(GraphDocument& c, Bytes& bytes) {
    Json const& tensors = c.graph["tensors"];
    auto const tensor = tensors.find("t" + std::to_string(bytes.below(tensors.size())));
    if (tensor == tensors.end() || !tensor->value("uid", Json()).is_number()) return;
    std::size_t const first = bytes.below(40);
    double const value = bytes.number();
    for (std::size_t left = 1 + bytes.below(6); left > 0; --left) {
        c.elements.push_back({(*tensor)["uid"].get<std::int64_t>(), first + left - 1, value});
    }
}

struct Built {
    Graph graph;
    error_t status;
};

Built built(Json const& document, Target const& target) {
    Built result;
    result.status = result.graph.deserialize(document.dump());
    if (result.status.is_good()) result.status = result.graph.build(target);
    return result;
}

// Two runs of one plan, with different initial bytes in outputs and workspace, give the same bits.
struct Twice {
    Run run;
    std::string fault;
};

Twice run_twice(Graph const& graph, std::vector<Place> const& places, Data const& data) {
    Twice result{run(graph, places, data, std::byte{0xff}), {}};
    Run const again = run(graph, places, data, std::byte{0});
    figures().executions += 2;
    ++figures().comparisons;
    result.fault = result.run.fault + again.fault + wording_fault(result.run.status);
    if (result.run.status.get_code() != again.status.get_code()) {
        result.fault = "a second run of the same says something else: " + again.status.err_msg;
    }
    if (!result.fault.empty() || result.run.status.is_bad()) return result;
    for (Place const& place : places) {
        if (!place.is_output || place.is_ragged) continue;
        auto const& first = result.run.outputs.at(place.uid);
        auto const& second = again.outputs.at(place.uid);
        std::size_t const bytes = bytes_of(place.type);
        for (std::size_t const element : elements_of(place)) {
            auto const at = static_cast<std::ptrdiff_t>(element * bytes);
            if (std::equal(first.begin() + at, first.begin() + at + static_cast<std::ptrdiff_t>(bytes),
                           second.begin() + at))
                continue;
            result.fault = "element " + std::to_string(element) + " of the tensor with uid " +
                           std::to_string(place.uid) + " depends on what the memory held before";
            return result;
        }
    }
    return result;
}

bool is_read(Json const& graph, Json const& id) {
    for (Json const& node : graph["nodes"]) {
        for (Json const& input : node.value("inputs", Json::object())) {
            if (input == id) return true;
        }
    }
    return false;
}

// The graph without optional outputs, which must not change the others.
Json without_optional_outputs(Json graph) {
    for (Json& node : graph["nodes"]) {
        auto const outputs = node.find("outputs");
        if (outputs == node.end()) continue;
        for (char const* const port : {"Max", "Sum_exp", "rng_dump", "dBias", "dSink_token"}) {
            if (outputs->contains(port) && !is_read(graph, (*outputs)[port])) outputs->erase(port);
        }
    }
    return graph;
}

std::string fault_of_optional_outputs(GraphDocument const& c, Target const& target, Run const& whole,
                                      std::vector<Place> const& places, Bounds const& bounds) {
    GraphDocument fewer = c;
    fewer.graph = without_optional_outputs(c.graph);
    if (fewer.graph == c.graph) return {};
    Built const build = built(fewer.graph, target);
    if (build.status.is_bad()) return {};
    auto const fewer_places = places_of(build.graph, fewer);
    if (!fewer_places) return {};
    Run const part = run(build.graph, *fewer_places, make_data(*fewer_places, fewer), std::byte{0xff});
    ++figures().executions;
    if (part.status.is_bad()) return "without optional outputs it does not run: " + part.status.err_msg;
    for (Place const& place : places) {
        auto const found = part.outputs.find(place.uid);
        if (!place.is_output || found == part.outputs.end()) continue;
        if (found->second.size() != whole.outputs.at(place.uid).size()) continue;
        ++figures().comparisons;
        std::string const fault = difference(place, whole.outputs.at(place.uid), found->second,
                                             bounds.allowed.at(place.uid), Infinities::MustAgree);
        if (!fault.empty()) return "with and without optional outputs: " + fault;
    }
    return {};
}

std::string execution_fault(GraphDocument const& c, Graph const& on_reference, Graph const& on_cpu, Target const& cpu) {
    auto const places = places_of(on_reference, c);
    if (!places || !places_of(on_cpu, c)) return {};
    Data const data = make_data(*places, c);
    Twice const reference = run_twice(on_reference, *places, data), fused = run_twice(on_cpu, *places, data);
    if (!reference.fault.empty()) return "reference: " + reference.fault;
    if (!fused.fault.empty()) return "cpu: " + fused.fault;
    if (reference.run.status.get_code() != fused.run.status.get_code()) {
        return "one target runs it: reference \"" + reference.run.status.err_msg + "\", cpu \"" +
               fused.run.status.err_msg + "\"";
    }
    if (reference.run.status.is_bad()) return {};
    auto const bounds = bounds_of(c, *places, data);
    if (!bounds) return {};
    for (Place const& place : *places) {
        if (!place.is_output) continue;
        ++figures().comparisons;
        std::string const fault = difference(place, reference.run.outputs.at(place.uid),
                                             fused.run.outputs.at(place.uid), bounds->allowed.at(place.uid),
                                             bounds->is_moderate ? Infinities::MustAgree : Infinities::MayDiffer);
        if (!fault.empty()) return "reference and cpu: " + fault;
    }
    std::string const fault = fault_of_optional_outputs(c, Target::reference(), reference.run, *places, *bounds);
    if (!fault.empty()) return "reference: " + fault;
    std::string const other = fault_of_optional_outputs(c, cpu, fused.run, *places, *bounds);
    return other.empty() ? "" : "cpu: " + other;
}

}  // namespace

std::string make_case(Bytes& bytes) {
    constexpr int kMutations[] = {0, 1, 1, 2, 2, 3, 4, 6};
    GraphDocument c = base_graph(bytes.below(kBaseGraphs));
    c.seed = bytes.byte();
    for (int left = bytes.pick(kMutations); left > 0; --left) mutate(c.graph, bytes);
    constexpr int kElements[] = {0, 0, 1, 1, 2, 4};
    for (int left = bytes.pick(kElements); left > 0; --left) add_elements(c, bytes);
    return to_text(c);
}

std::string check_case(std::string const& text) {
    GraphDocument const c = read_graph_document(text);
    Graph graph;
    if (error_t const error = graph.deserialize(c.graph.dump()); error.is_bad()) {
        bool const is_named = error.get_code() == error_code_t::UNSUPPORTED_GRAPH_FORMAT;
        return is_named ? wording_fault(error) : "reading fails with another code: " + error.err_msg;
    }
    if (std::string const fault = rewriting_fault(graph) + validation_fault(graph); !fault.empty()) return fault;
    if (!graph.check().ok() || c.graph["nodes"].empty()) return {};  // nothing to plan
    ++figures().valid;
    Target const cpu = Target::cpu(1 + static_cast<int>(c.seed % 2));
    Built const reference = built(c.graph, Target::reference()), fused = built(c.graph, cpu);
    for (error_t const* const status : {&reference.status, &fused.status}) {
        if (status->is_bad() && status->get_code() != error_code_t::GRAPH_NOT_SUPPORTED) {
            return "a valid graph fails to build: " + status->err_msg;
        }
    }
    // A node that requires the unified operation is refused by the reference.
    if (fused.status.is_bad() && reference.status.is_good()) return "cpu refuses it: " + fused.status.err_msg;
    return reference.status.is_bad() ? "" : execution_fault(c, reference.graph, fused.graph, cpu);
}

}  // namespace fuzz
