// Bytes in place of documents and stored plans: the library's own, truncated and changed anywhere, or none. A case is a
// line that names the kind, and the bytes.
#include "fuzz/bytes/base_bytes.h"
#include "fuzz/driver.h"
#include "fuzz/graphs/graph_checks.h"
#include "fuzz/graphs/runs.h"

#include <cudnn_frontend/planning.h>
#include <cudnn_frontend/stored_plan.h>

#include <algorithm>

namespace fuzz {

char const* const kDriverName = "bytes";

namespace {

using cudnn_frontend::DeviceProperties;
using cudnn_frontend::error_code_t;

constexpr std::size_t kMostBytes = 1 << 16;

std::string written(Graph const& graph) {
    std::string text;
    return graph.serialize(text).is_good() ? text : "";
}

// If reading fails, it returns an error and leaves the graph unchanged.
std::string refusal_fault(error_t const& error, std::string const& before, Graph const& graph) {
    ++figures().comparisons;
    if (written(graph) != before) return "reading that failed changed the graph: " + error.err_msg;
    return wording_fault(error);
}

Graph some_graph() {
    Graph graph;
    graph.set_name("what was there before");
    graph.tensor(cudnn_frontend::graph::Tensor_attributes().set_name("x").set_dim({2, 3}).set_stride({3, 1}));
    return graph;
}

std::string check_document(std::string const& text) {
    Graph graph = some_graph();
    std::string const before = written(graph);
    if (error_t const error = graph.deserialize(text); error.is_bad()) {
        if (error.get_code() != error_code_t::UNSUPPORTED_GRAPH_FORMAT) return "another code: " + error.err_msg;
        return refusal_fault(error, before, graph);
    }
    ++figures().valid;
    cudnn_frontend::Report const report = graph.check();
    if (!Json::accept(report.to_json())) return "the report is no JSON: " + report.to_json();
    return rewriting_fault(graph) + validation_fault(graph);
}

std::string check_plan(std::string const& text) {
    Graph graph = some_graph();
    std::string const before = written(graph);
    cudnn_frontend::Stored_plan told;
    bool const is_told = cudnn_frontend::read_stored_plan({text.begin(), text.end()}, told).is_good();
    if (error_t const error = graph.deserialize(nullptr, {text.begin(), text.end()}); error.is_bad()) {
        return refusal_fault(error, before, graph);
    }
    if (!is_told || told.to_text().empty()) return "a plan that loads is not told";
    ++figures().valid;
    GraphDocument const c{Json::parse(written(graph)), 1, {}, {}};
    if (auto const places = places_of(graph, c)) {
        Run const done = run(graph, *places, make_data(*places, c), std::byte{0xff});
        ++figures().executions;
        if (!done.fault.empty()) return done.fault;
    }
    std::vector<std::uint8_t> again;
    error_t const error = graph.serialize(again);
    return error.is_good() ? "" : "a plan that was read cannot be stored: " + error.err_msg;
}

std::string check_device(DeviceProperties const& device) {
    if (device.status().is_bad()) return wording_fault(device.status());
    ++figures().valid;
    std::vector<std::uint8_t> bytes;
    DeviceProperties again;
    ++figures().comparisons;
    if (device.describe().empty() || device.serialize(bytes).is_bad()) return "a device cannot be described";
    if (again.deserialize(bytes).is_bad() || again.to_json() != device.to_json()) return "a device is read otherwise";
    return {};
}

std::string check_device_bytes(std::string const& text) {
    DeviceProperties device;
    error_t const error = device.deserialize({text.begin(), text.end()});
    return error.is_bad() ? wording_fault(error) : check_device(device);
}

void edit(std::string& text, Bytes& bytes) {
    constexpr char const* kWords[] = {"{",     "}",    "[",    "]",   "\"",    ",",
                                      ":",     "null", "true", "-",   "1e999", "9223372036854775808",
                                      "\\u00", "nan",  "-inf", "0.1", "\xff",  "{\"t0\":"};
    std::size_t const at = bytes.below(text.size() + 1);
    std::size_t const count = std::min(bytes.below(24), text.size() - at);
    switch (bytes.below(7)) {
        case 0: text.insert(at, 1, static_cast<char>(bytes.byte())); return;
        case 1: text.insert(at, bytes.pick(kWords)); return;
        case 2: text.erase(at, count); return;
        case 3: text.insert(bytes.below(text.size() + 1), text.substr(at, count)); return;
        case 4: text.resize(at); return;
        case 5: text.replace(at, count, bytes.pick(kWords)); return;
        default:
            if (at < text.size()) text[at] = static_cast<char>(bytes.byte());
    }
}

std::string all_of(std::span<std::uint8_t const> bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

std::string make_case(Bytes& bytes) {
    std::string const kind = bytes.pick(kKinds);
    bool const starts_anew = bytes.chance(8);
    std::string text = starts_anew ? "" : base_bytes(kind, bytes.byte());
    bool const keeps_checksum = bytes.chance(4);
    for (std::size_t left = bytes.below(6); left > 0 && !starts_anew; --left) edit(text, bytes);
    if (starts_anew) text = all_of(bytes.rest());
    if (kind == "plan" && !keeps_checksum) text = with_checksum(text);
    return kind + "\n" + text;
}

std::string check_case(std::string const& text) {
    std::size_t const line = text.find('\n');
    std::string const kind = text.substr(0, line), content = text.substr(line + 1, kMostBytes);
    if (kind == "graph") return check_document(content);
    if (kind == "plan") return check_plan(content);
    if (kind == "device") return check_device(DeviceProperties::from_json(content));
    return check_device_bytes(content);
}

}  // namespace fuzz
