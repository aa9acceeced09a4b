// sdpa plan: compiles plans ahead of time, for GPUs that need not be here.
#include "data/data.h"
#include "data/wanted.h"
#include "input.h"
#include "output.h"
#include "plan_store_option.h"
#include "progress.h"

#include <cudnn_frontend/runtime.h>
#include <sdpa_graph/plan_store.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

namespace sdpa {
namespace {

namespace fs = std::filesystem;

struct Plan_options {
    Wanted_options wanted;
    std::string store, out;
    bool is_json = false;
};

struct Planned {
    std::string graph, device, refusal;
    std::int64_t compiled = 0, loaded = 0;
};

// A folder that is gone at the end.
class Scratch_folder {
   public:
    Scratch_folder() {
        std::string name = (fs::temp_directory_path() / "sdpa-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw Failure(name + ": the folder cannot be made");
        path_ = name;
    }
    Scratch_folder(Scratch_folder const&) = delete;
    Scratch_folder& operator=(Scratch_folder const&) = delete;
    ~Scratch_folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    fs::path const& path() const { return path_; }

   private:
    fs::path path_;
};

// fill_plan_store() on a folder with this graph alone. The file's name says whether the graph stands for a class of
// shapes.
Planned fill(Wanted const& graph, std::string const& device) {
    Scratch_folder const folder;
    std::string const name = graph.path == "-" ? "input.json" : fs::path(graph.path).filename().string();
    std::ofstream(folder.path() / (name.ends_with(".json") ? name : name + ".json")) << graph.document.dump();
    fe::runtime::forget_graphs();  // an equal graph before would count neither as compiled nor as loaded
    sdpa_graph::Filled_plans filled;
    fe::error_t const error = sdpa_graph::fill_plan_store(folder.path().string(), device, filled);
    if (error.is_bad()) throw Failure(error.err_msg);
    Planned planned{graph.name, device, {}, filled.compiled, filled.loaded};
    if (!filled.refused.empty()) planned.refusal = filled.refused.front().substr(filled.refused.front().find(": ") + 2);
    return planned;
}

// The plan of one graph with the graph, as Graph::serialize() gives it. Memory is bound to tensors by their uids.
Planned store_plan(Wanted const& wanted, std::string const& device, std::string const& out) {
    fe::graph::Graph graph;
    require(graph_of(with_uids(wanted.document), graph));
    std::vector<std::uint8_t> bytes;
    fe::error_t error = graph.build(parse_target(device));
    if (error.is_good()) error = graph.serialize(bytes);
    if (error.is_bad()) return {wanted.name, device, error.get_message(), 0, 0};
    write_file(out, {{reinterpret_cast<char const*>(bytes.data()), bytes.size()}});
    return {wanted.name, device, {}, 1, 0};
}

std::vector<Planned> plan_all(Plan_options const& options, std::vector<Wanted> const& graphs) {
    std::vector<std::string> const& devices = options.wanted.devices;
    if (!options.out.empty() && (graphs.size() != 1 || devices.size() != 1))
        throw Failure("--out",
                      std::to_string(graphs.size()) + " graphs for " + std::to_string(devices.size()) + " targets",
                      "one graph for one target");
    std::vector<Planned> all;
    Progress progress;
    for (Wanted const& graph : graphs) {
        for (std::string const& device : devices) {
            progress.show("planning " + graph.name + " for " + device);
            if (!options.store.empty()) all.push_back(fill(graph, device));
            if (!options.out.empty()) all.push_back(store_plan(graph, device, options.out));
        }
    }
    return all;
}

std::string state_of(Planned const& planned) {
    if (!planned.refusal.empty()) return colored(Color::Red, "refused");
    return planned.compiled > 0 ? "compiled" : planned.loaded > 0 ? "was there" : "needs nothing more";
}

std::string to_text(std::vector<Planned> const& all) {
    std::vector<std::vector<std::string>> rows;
    std::string refusals;
    for (Planned const& planned : all) {
        rows.push_back({planned.graph, planned.device, state_of(planned)});
        if (!planned.refusal.empty())
            refusals += planned.graph + " for " + planned.device + ":\n" + indented(planned.refusal, "  ");
    }
    return table(rows) + refusals;
}

void choose_store(Plan_options& options) {
    if (options.store.empty() && !options.out.empty()) return;
    options.store = choose_plan_store(options.store);
    if (options.store.empty())
        throw Failure("", "neither --store FOLDER nor --out FILE nor SDPA_GRAPH_PLAN_STORE", "a place for the plans",
                      "--store plans, a folder that is made where there is none");
    for (std::string const& device : options.wanted.devices) {
        if (fe::DeviceProperties::named(device).status().is_bad())
            throw Failure("--for", "'" + device + "'",
                          "a GPU that comes with the library: " + joined(fe::DeviceProperties::names()));
    }
}

int run_plan(Plan_options options) {
    if (!options.wanted.library.empty()) choose_library(options.wanted.library);
    std::vector<Wanted> const graphs = wanted_graphs(options.wanted);
    choose_store(options);
    std::vector<Planned> const all = plan_all(options, graphs);
    Json rows = Json::array();
    bool has_refusal = false;
    for (Planned const& planned : all) {
        has_refusal = has_refusal || !planned.refusal.empty();
        Json refusal = nullptr;
        if (!planned.refusal.empty()) refusal = planned.refusal;
        rows.push_back({{"graph", planned.graph},
                        {"target", planned.device},
                        {"compiled", planned.compiled},
                        {"loaded", planned.loaded},
                        {"refusal", refusal}});
    }
    if (options.is_json) print_json(rows);
    else print_text(to_text(all));
    return has_refusal ? kNo : kYes;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Plan_options>();
    CLI::App* const command = app.add_subcommand("plan", "Compile plans ahead of time, for GPUs that need not be here");
    add_wanted(*command, options->wanted);
    command->add_option("--store", options->store, "The plan store; the default is SDPA_GRAPH_PLAN_STORE");
    command->add_option("--out", options->out, "Write the plan of one graph to this file, for Graph::deserialize()");
    command->add_flag("--json", options->is_json, "Print JSON");
    command->footer(footer(
        "  sdpa plan graphs --for h100 --store plans\n  sdpa plan decode.json --for h100 --store plans --batch 1-64 "
        "--keys 1024-8192\n  sdpa plan graph.json --for h100 --out h100.plan",
        "0: all graphs have plans; 1: some were refused; 130: interrupted, plans that are in the store stay there"));
    command->callback([options, &action] { action = [options] { return run_plan(*options); }; });
}

}  // namespace sdpa
