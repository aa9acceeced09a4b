// sdpa store: lists, merges and prunes plan stores.
#include "output.h"

#include <sdpa_graph/plan_store.h>

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
    std::uint64_t most_bytes = 0;
    bool is_json = false;
};

struct Environment {
    std::int64_t files = 0;
    std::uint64_t bytes = 0;
    fs::file_time_type last = fs::file_time_type::min();
};

void need_folder(std::string const& folder) {
    std::error_code status;
    if (!fs::exists(folder, status)) throw Failure(folder + ": No such folder");
    if (!fs::is_directory(folder, status))
        throw Failure(folder + ": found a file, expected the folder of a plan store");
}

// By the folders of the store, each of which is for one environment.
std::map<std::string, Environment> environments_of(std::string const& folder) {
    need_folder(folder);
    std::map<std::string, Environment> all;
    for (auto const& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file()) continue;
        fs::path const below = fs::relative(entry.path(), folder);
        Environment& environment = all[below.has_parent_path() ? below.begin()->string() : "."];
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
    if (options.is_json) print_json(rows);
    else print(all.empty() ? options.folder + " has no plans\n" : table(lines));
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

}  // namespace

void add_store(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Store_options>();
    CLI::App* const command = app.add_subcommand("store", "List, merge or prune a plan store");
    command->add_option("folder", options->folder, "The plan store")->required();
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
        ->transform(CLI::AsSizeValue(false));
    command->footer(
        footer("  sdpa store plans list\n  sdpa store plans merge other-plans\n  sdpa store plans prune --most 2GB",
               "0: done; 1: list found no plans"));
}

}  // namespace sdpa
