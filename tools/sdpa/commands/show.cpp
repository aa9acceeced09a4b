// sdpa show: a graph or a stored plan, without a GPU.
#include "graph_arguments.h"
#include "input.h"
#include "output.h"
#include "timing/expected.h"

#include <cudnn_frontend/runtime.h>
#include <sdpa_graph/plan_store.h>

#include <filesystem>
#include <memory>

namespace sdpa {
namespace {

struct Show_options {
    std::string path, store;
    bool is_json = false, has_times = false;
};

Json const& tensor_of(Json const& document, std::string const& id) { return member(document.at("tensors"), id); }

std::string name_of_tensor(Json const& tensor, std::string const& id) {
    std::string const name = tensor.value("name", "");
    return name.empty() ? id : name;
}

std::string text_of_list(Json const& tensor, char const* member) {
    return tensor.contains(member) ? list_text(tensor[member].get<std::vector<std::int64_t>>()) : "-";
}

std::string notes_of(Json const& document, Json const& tensor) {
    std::string notes;
    auto const add = [&notes](std::string const& note) { notes += (notes.empty() ? "" : ", ") + note; };
    if (tensor.value("is_virtual", false)) add("virtual");
    if (tensor.contains("value") && tensor["value"].is_object()) add("value " + tensor["value"].dump());
    else if (tensor.value("is_by_value", false)) add("by value");
    if (tensor.contains("ragged_offset")) {
        std::string const id = tensor["ragged_offset"].get<std::string>();
        add("ragged by " + name_of_tensor(tensor_of(document, id), id));
    }
    if (tensor.contains("reordering")) add("order " + tensor["reordering"].get<std::string>());
    if (tensor.contains("alignment")) add("aligned to " + tensor["alignment"].dump());
    return notes;
}

std::string tensors_text(Json const& document) {
    Json const& context = member(document, "context");
    std::vector<std::vector<std::string>> rows = {{"tensor", "uid", "type", "dims", "strides", ""}};
    for (auto const& [id, tensor] : document.at("tensors").items()) {
        bool const is_virtual = tensor.value("is_virtual", false);
        std::string const type =
            tensor.value("data_type", context.value(is_virtual ? "intermediate_data_type" : "io_data_type", "-"));
        bool const has_uid = tensor.contains("uid") && tensor["uid"].is_number();
        rows.push_back({name_of_tensor(tensor, id), has_uid ? tensor["uid"].dump() : "-", type,
                        text_of_list(tensor, "dim"), text_of_list(tensor, "stride"), notes_of(document, tensor)});
    }
    return table(rows, "  ");
}

std::string ports_text(Json const& document, Json const& node, char const* ports) {
    std::string text;
    for (auto const& [port, id] : member(node, ports).items()) {
        std::string const tensor = name_of_tensor(tensor_of(document, id.get<std::string>()), id.get<std::string>());
        text += (text.empty() ? "" : ", ") + port + (tensor == port ? "" : "=" + tensor);
    }
    return text;
}

// The nodes of a score modifier are below the attention that they belong to.
std::string nodes_text(Json const& document, Json const& nodes, std::string const& indent) {
    std::string text;
    for (Json const& node : nodes) {
        text += indent + node.at("tag").get<std::string>() + " " + node.value("name", "") + "\n";
        std::vector<std::vector<std::string>> rows = {{"reads", ports_text(document, node, "inputs")},
                                                      {"writes", ports_text(document, node, "outputs")}};
        for (auto const& [field, value] : member(node, "fields").items())
            rows.push_back({field, value.is_string() ? value.get<std::string>() : value.dump()});
        text += table(rows, indent + "  ");
        if (!node.contains("modifier")) continue;
        text += indent + "  modifier\n" + nodes_text(document, node["modifier"], indent + "    ");
    }
    return text;
}

// The document as the library writes it, so that what equals its default is left out.
Json normalized(fe::graph::Graph const& graph) {
    std::string text;
    if (fe::error_t const error = graph.serialize(text); error.is_bad()) throw Failure(error.err_msg);
    return Json::parse(text);
}

std::string graph_text(Json const& document) {
    Json const& context = member(document, "context");
    std::string const name = context.value("name", "");
    std::string text = colored(Color::Bold, "graph" + (name.empty() ? "" : " " + name)) + "\n";
    for (char const* type : {"io_data_type", "intermediate_data_type", "compute_data_type"}) {
        if (context.contains(type)) text += "  " + std::string(type) + " " + context[type].get<std::string>() + "\n";
    }
    return text + "tensors\n" + tensors_text(document) + "nodes\n" + nodes_text(document, document.at("nodes"), "  ");
}

using Measured_times = std::vector<sdpa_graph::Stored_times>;

// Nothing where there is no plan store, or the graph is not valid.
std::optional<Measured_times> measured_times(Show_options const& options, Graph_file const& file) {
    std::string const usual = sdpa_graph::plan_store().folder;
    std::string const& store = options.store.empty() ? usual : options.store;
    bool const has_no_store = options.store.empty() && !std::filesystem::exists(usual);
    if (has_no_store || !file.graph.check().ok()) return std::nullopt;
    Measured_times found;
    require(sdpa_graph::find_stored_times(store, file.graph, found));
    return found;
}

std::string to_text(Measured_times const& measured) {
    std::string text = "measured times\n";
    if (measured.empty()) text += "  none in the plan store\n";
    for (auto const& [environment, circumstances, candidates] : measured) {
        text += "  " + environment + (circumstances.empty() ? "" : ", " + circumstances) + "\n";
        std::vector<std::vector<std::string>> rows = {{"candidate", "runs", "median", "least", "greatest"}};
        for (sdpa_graph::Timed_candidate const& one : candidates) {
            rows.push_back({one.name, std::to_string(one.runs), us_text(one.median_us), us_text(one.least_us),
                            us_text(one.greatest_us)});
        }
        text += table(rows, "    ");
    }
    return text;
}

Json to_json(Measured_times const& measured) {
    Json all = Json::array();
    for (auto const& [environment, circumstances, candidates] : measured) {
        Json rows = Json::array();
        for (sdpa_graph::Timed_candidate const& one : candidates) {
            rows.push_back({{"backend", one.backend},
                            {"name", one.name},
                            {"measured_us", one.median_us},
                            {"measured_least_us", one.least_us},
                            {"measured_greatest_us", one.greatest_us},
                            {"measured_runs", one.runs}});
        }
        all.push_back({{"environment", environment}, {"circumstances", circumstances}, {"candidates", rows}});
    }
    return all;
}

// The times of a graph: expected ones where they are asked for, and measured ones of a plan store.
void add_times(Show_options const& options, Graph_file const& file, Json& json) {
    if (options.has_times) json["times"] = to_json(expected_times(file));
    if (auto const measured = measured_times(options, file)) json["measured"] = to_json(*measured);
}
std::string times_text(Show_options const& options, Graph_file const& file) {
    std::string text = options.has_times ? "times\n" + to_text(expected_times(file)) : "";
    auto const measured = measured_times(options, file);
    bool const is_of_interest = measured && (!measured->empty() || !options.store.empty());
    return is_of_interest ? text + to_text(*measured) : text;
}

int show_graph(Show_options const& options, std::string const& bytes) {
    Graph_file const file = parse_graph(name_of(options.path), bytes);
    fe::Report const report = file.graph.check();
    Json const document = normalized(file.graph);
    if (options.is_json) {
        Json json = {{"kind", "graph"}, {"valid", report.ok()}, {"graph", document}};
        add_times(options, file, json);
        print_json(json);
        return kYes;
    }
    std::string const verdict = report.ok() ? "valid" : "not valid: sdpa explain says why";
    print_text(graph_text(document) + colored(report.ok() ? Color::Green : Color::Red, verdict) + "\n" +
               times_text(options, file));
    return kYes;
}

int show_plan(Show_options const& options, fe::Stored_plan const& plan) {
    Graph_file const file = parse_graph(name_of(options.path), plan.graph);
    Json const document = normalized(file.graph);
    if (!options.is_json) {
        print_text(plan.to_text() + "\n" + graph_text(document) + times_text(options, file));
        return kYes;
    }
    Json cudnn = nullptr;
    if (plan.cudnn_version > 0) cudnn = fe::runtime::version_text(plan.cudnn_version);
    Json json = {{"kind", "plan"},          {"name", plan.name}, {"target", to_string(plan.target)},
                 {"device", plan.device},   {"cudnn", cudnn},    {"workspace_bytes", plan.workspace_bytes},
                 {"kernels", plan.kernels}, {"graph", document}};
    add_times(options, file, json);
    print_json(json);
    return kYes;
}

int run_show(Show_options const& options) {
    std::string const bytes = read_bytes(options.path);
    if (auto const plan = parse_stored_plan(name_of(options.path), bytes)) return show_plan(options, *plan);
    return show_graph(options, bytes);
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Show_options>();
    CLI::App* const command = app.add_subcommand("show", "A graph or a stored plan, without a GPU");
    add_graph(*command, options->path, "a stored plan");
    command->add_flag("--times", options->has_times,
                      "Plan the graph for each described GPU, and print how long it is expected to take");
    command->add_option("--store", options->store,
                        "The plan store that has measured times of the graph; the default is SDPA_GRAPH_PLAN_STORE");
    command->add_flag("--json", options->is_json, "Print JSON");
    command->footer(
        footer("  sdpa show graphs/gpt2-training.json --times\n  sdpa show attention.plan", "0: it could be read"));
    command->callback([options, &action] { action = [options] { return run_show(*options); }; });
}

}  // namespace sdpa
