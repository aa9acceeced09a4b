// sdpa store: lists, merges, prunes and freezes plan stores, and finds the graphs whose plans they lack.
#include "data/data.h"
#include "data/wanted.h"
#include "output.h"
#include "progress.h"

#include <cudnn_frontend/explanation.h>
#include <cudnn_frontend/runtime.h>
#include <sdpa_graph/plan_store.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>

namespace sdpa {
namespace {

namespace fs = std::filesystem;

struct Store_options {
    std::string folder;
    std::vector<std::string> from;
    Wanted_options wanted;
    std::uint64_t most_bytes = 0;
    bool is_json = false, is_undo = false;
};

struct Environment {
    std::int64_t files = 0;
    std::uint64_t bytes = 0;
    fs::file_time_type last = fs::file_time_type::min();
};

void need_folder(std::string const& folder) {
    std::error_code status;
    if (!fs::exists(folder, status))
        throw Failure(folder, "no such folder", "that of a plan store",
                      "sdpa plan graph.json --for h100 --store " + folder);
    if (!fs::is_directory(folder, status)) throw Failure(folder, "a file", "the folder of a plan store");
}

// The environments by the folders of the store, each of which is for one.
std::map<std::string, Environment> environments_of(std::string const& folder) {
    need_folder(folder);
    std::map<std::string, Environment> all;
    for (auto const& entry : fs::recursive_directory_iterator(folder)) {
        fs::path const below = fs::relative(entry.path(), folder);
        if (!entry.is_regular_file() || !below.has_parent_path()) continue;
        Environment& environment = all[below.begin()->string()];
        ++environment.files;
        environment.bytes += entry.file_size();
        environment.last = std::max(environment.last, entry.last_write_time());
    }
    return all;
}

std::string time_text(fs::file_time_type time) {
    auto const seconds = std::chrono::system_clock::to_time_t(std::chrono::file_clock::to_sys(time));
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts);
    return text.data();
}

int list(Store_options const& options) {
    auto const all = environments_of(options.folder);
    Json rows = Json::array();
    std::vector<std::vector<std::string>> lines = {{"environment", "files", "size", "last use (UTC)"}};
    for (auto const& [name, environment] : all) {
        rows.push_back({{"environment", name},
                        {"files", environment.files},
                        {"bytes", environment.bytes},
                        {"last_use", time_text(environment.last)}});
        lines.push_back(
            {name, std::to_string(environment.files), bytes_text(environment.bytes), time_text(environment.last)});
    }
    std::string const state = sdpa_graph::is_plan_store_frozen(options.folder) ? "frozen: it is only read\n" : "";
    if (options.is_json) print_json(rows);
    else print((all.empty() ? options.folder + " has no plans\n" : table(lines)) + state);
    return all.empty() ? kNo : kYes;
}

int merge(Store_options const& options) {
    std::int64_t copied = 0;
    for (std::string const& from : options.from) {
        need_folder(from);
        std::int64_t files = 0;
        auto const error = sdpa_graph::merge_plan_stores(from, options.folder, files);
        if (error.is_bad()) throw Failure(error.err_msg);
        copied += files;
    }
    if (options.is_json) print_json({{"copied", copied}});
    else print("copied " + std::to_string(copied) + " files to " + options.folder + "\n");
    return kYes;
}

int prune(Store_options const& options) {
    need_folder(options.folder);
    std::int64_t removed = 0;
    auto const error = sdpa_graph::prune_plan_store(options.folder, options.most_bytes, removed);
    if (error.is_bad()) throw Failure(error.err_msg);
    if (options.is_json) print_json({{"removed", removed}});
    else print("removed " + std::to_string(removed) + " files from " + options.folder + "\n");
    return kYes;
}

int freeze(Store_options const& options) {
    need_folder(options.folder);
    require(sdpa_graph::freeze_plan_store(options.folder, !options.is_undo));
    if (options.is_json) print_json({{"frozen", !options.is_undo}});
    else print(options.folder + (options.is_undo ? " may be written again\n" : " is frozen: it is only read\n"));
    return kYes;
}

// Whether the store has the plan of a graph for a GPU. The graph is planned, and nothing is written.
struct Stock {
    std::string graph, device, state, reason;

    bool is_missing() const { return state == "missing"; }
};

Stock stock_of(Wanted const& wanted, std::string const& device) {
    fe::runtime::forget_graphs();  // of an equal graph before, nothing would be looked up
    fe::graph::Graph graph;
    require(graph_of(wanted.document, graph));
    graph.set_shape_policy(wanted.is_of_class ? fe::ShapePolicy_t::CLASSES : fe::ShapePolicy_t::EXACT);
    fe::Explanation const explanation = graph.explain(parse_target(device));
    if (!explanation.has_plan()) return {wanted.name, device, "refused", explanation.refusal.get_message()};
    Stock stock{wanted.name, device, "needs nothing more", {}};
    for (fe::Plan_candidate const& candidate : explanation.candidates.candidates) {
        if (candidate.origin == fe::PlanOrigin::COMPILED)
            return {wanted.name, device, "missing", candidate.name + ": " + candidate.store_miss};
        if (candidate.origin == fe::PlanOrigin::STORED) stock.state = "there";
    }
    return stock;
}

int missing(Store_options const& options) {
    need_folder(options.folder);
    if (!options.wanted.library.empty()) choose_library(options.wanted.library);
    sdpa_graph::set_plan_store({options.folder, true});
    std::vector<Stock> all;
    Progress progress;
    for (Wanted const& graph : wanted_graphs(options.wanted)) {
        for (std::string const& device : options.wanted.devices) {
            progress.show("planning " + graph.name + " for " + device);
            all.push_back(stock_of(graph, device));
        }
    }
    Json rows = Json::array();
    std::vector<std::vector<std::string>> lines;
    std::string reasons;
    for (Stock const& stock : all) {
        Json reason = nullptr;
        if (!stock.reason.empty()) reason = stock.reason;
        rows.push_back({{"graph", stock.graph}, {"target", stock.device}, {"state", stock.state}, {"reason", reason}});
        lines.push_back(
            {stock.graph, stock.device, stock.is_missing() ? colored(Color::Red, stock.state) : stock.state});
        if (!stock.reason.empty())
            reasons += stock.graph + " for " + stock.device + ":\n" + indented(stock.reason, "  ");
    }
    bool const lacks_any = std::any_of(all.begin(), all.end(), [](Stock const& stock) { return stock.is_missing(); });
    if (options.is_json) print_json(rows);
    else print(table(lines) + reasons);
    return lacks_any ? kNo : kYes;
}

// Refuses the name of an action in place of the store, of which "A subcommand is required" would say nothing.
CLI::Validator no_action(CLI::App& command) {
    auto const find_fault = [&command](std::string const& folder) -> std::string {
        if (!has_subcommand(command, folder)) return {};
        return fault_text("", "the action '" + folder + "'",
                          "the store before it, as in sdpa store FOLDER " + folder + ", or ./" + folder +
                              " for a folder of this name");
    };
    return {find_fault, {}, "no_action"};
}

// CLI11 would take -1 for 2^64 - 1 bytes.
std::string without_sign(std::string const& text) {
    return text.starts_with('-') ? fault_text("", "'" + text + "'", "a size, such as 500MB") : std::string();
}

}  // namespace

void add_store(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Store_options>();
    CLI::App* const command =
        app.add_subcommand("store", "List, merge, prune or freeze a plan store; find what it lacks");
    command->add_option("folder", options->folder, "The plan store")->required()->check(no_action(*command));
    command->require_subcommand(1);
    command->fallthrough();
    command->add_flag("--json", options->is_json, "Print JSON");
    auto const add = [&](char const* name, char const* help, int (*run)(Store_options const&)) {
        CLI::App* const part = command->add_subcommand(name, help);
        part->fallthrough();
        part->callback([options, &action, run] { action = [options, run] { return run(*options); }; });
        return part;
    };
    add("list", "What is in it, by environment: library, cuDNN, CUDA and GPU", list);
    add("merge", "Copy what the store lacks from other stores", merge)
        ->add_option("from", options->from, "The other stores")
        ->required();
    add("prune", "Remove what was used least recently", prune)
        ->add_option("--most", options->most_bytes, "The size to keep, such as 500MB or 2GB")
        ->required()
        ->transform(CLI::AsSizeValue(false))
        ->transform(CLI::Validator(without_sign, {}, "without_sign"));
    add("freeze", "From now on it is only read, by every process", freeze)
        ->add_flag("--undo", options->is_undo, "It may be written again");
    add_wanted(*add("missing", "Which graphs have no plan in it; nothing is written", missing), options->wanted);
    command->footer(
        footer("  sdpa store plans list\n  sdpa store plans merge other-plans\n  sdpa store plans prune --most 2GB\n"
               "  sdpa store plans missing graphs --for h100\n"
               "  sdpa store plans missing decode.json --for h100 --batch 1-64\n  sdpa store plans freeze",
               "0: done; 1: list found no plans, or missing found a graph without one"));
}

}  // namespace sdpa
