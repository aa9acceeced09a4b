// sdpa doctor: what is installed here, and what works.
#include "input.h"
#include "output.h"
#include "progress.h"

#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/runtime.h>
#include <sdpa_graph/plan_store.h>

#include <sys/utsname.h>
#include <unistd.h>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <thread>

extern char** environ;

namespace sdpa {
namespace {

namespace fe = cudnn_frontend;
namespace fs = std::filesystem;

struct Doctor_options {
    bool is_json = false, is_quick = false;
};

std::string dotted(std::array<int, 3> const& parts) {
    return std::to_string(parts[0]) + "." + std::to_string(parts[1]) + "." + std::to_string(parts[2]);
}

std::string system_text() {
    utsname name{};
    uname(&name);
    std::string distribution, line;
    for (std::ifstream file("/etc/os-release"); std::getline(file, line);) {
        if (line.starts_with("PRETTY_NAME=")) distribution = line.substr(line.find('=') + 1);
    }
    std::erase(distribution, '"');
    return (distribution.empty() ? "" : distribution + ", ") + name.sysname + " " + name.release + ", " + name.machine;
}

// The kernel's driver, which can be there although the user's libraries of it are not.
std::string kernel_driver() {
    std::ifstream file("/proc/driver/nvidia/version");
    std::string line;
    return std::getline(file, line) ? line : "none: there is no /proc/driver/nvidia/version";
}

// "NVIDIA H100 80GB HBM3, compute capability 9.0, 132 multiprocessors, 79 GiB", from cuDNN's description.
std::string summary_of(Json const& properties, std::string const& otherwise) {
    auto const number = [&](char const* name) { return properties.value(name, std::int64_t{0}); };
    std::string const name = properties.value("deviceName", "");
    if (name.empty()) return otherwise;
    std::int64_t const version = number("deviceVer");
    return name + ", compute capability " + std::to_string(version / 100) + "." + std::to_string(version / 10 % 10) +
           ", " + std::to_string(number("multiProcessorCount")) + " multiprocessors, " +
           std::to_string(number("totalGlobalMem") >> 30) + " GiB";
}

// The GPU's description, or the reason why there is none.
Json describe_gpu() {
    cudnnHandle_t handle = nullptr;
    fe::error_t error = fe::runtime::create_handle(&handle);
    if (error.is_bad()) return {{"usable", false}, {"reason", error.err_msg}};
    fe::DeviceProperties device;
    error = device.set_handle(handle).build();
    if (auto const destroyed = fe::runtime::destroy_handle(handle); error.is_good()) error = destroyed;
    if (error.is_bad()) return {{"usable", false}, {"reason", error.err_msg}};
    Json gpu = {{"usable", true}, {"description", device.describe()}};
    Json const properties = Json::parse(device.to_json(), nullptr, false);
    if (!properties.is_object()) return gpu;
    gpu["properties"] = properties;
    gpu["description"] = summary_of(properties, device.describe());
    return gpu;
}

// The quirks of this cuDNN on the GPU that is here, or on an H100, for which plans are tried.
Json describe_quirks(Json const& gpu) {
    constexpr std::int64_t kH100 = 90;
    std::int64_t const compute_capability = member(gpu, "properties").value("deviceVer", kH100 * 10) / 10;
    Json quirks = Json::array();
    for (auto const& [id, evidence, summary] : fe::runtime::known_quirks(static_cast<int>(compute_capability)))
        quirks.push_back({{"id", id}, {"evidence", evidence}, {"expected", summary}});
    return {{"compute_capability", compute_capability}, {"quirks", quirks}};
}

// Plans a small graph for a GPU that is not here, in less than two seconds.
Json try_offline() {
    auto graph = fe::graph::Graph().set_io_data_type(fe::DataType_t::HALF).set_compute_data_type(fe::DataType_t::FLOAT);
    auto const shape = fe::graph::Tensor_attributes().set_dim({1, 1, 128, 64}).set_stride({8192, 8192, 64, 1});
    auto const options = fe::graph::SDPA_attributes().set_name("attention").set_attn_scale(0.125F);
    auto q = graph.tensor(shape), k = graph.tensor(shape), v = graph.tensor(shape);
    graph.output(graph.sdpa(q, k, v, options)[0]);
    auto const begin = std::chrono::steady_clock::now();
    fe::error_t const error = graph.build(fe::Target::offline("h100"));
    std::chrono::duration<double> const time = std::chrono::steady_clock::now() - begin;
    if (error.is_bad()) return {{"usable", false}, {"reason", error.err_msg}};
    std::string name;
    if (graph.get_plan_name(name).is_bad()) name.clear();
    return {{"usable", true}, {"plan", name}, {"seconds", time.count()}};
}

Json describe_store() {
    auto const store = sdpa_graph::plan_store();
    if (store.folder.empty()) return {{"folder", nullptr}};
    std::int64_t files = 0;
    std::uint64_t bytes = 0;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(store.folder, error), end; !error && entry != end;
         entry.increment(error)) {
        if (!entry->is_regular_file(error)) continue;
        ++files;
        bytes += entry->file_size(error);
    }
    bool const exists = fs::is_directory(store.folder, error);
    return {{"folder", store.folder},
            {"exists", exists},
            {"writable", exists && access(store.folder.c_str(), W_OK) == 0},
            {"frozen", store.is_frozen || sdpa_graph::is_plan_store_frozen(store.folder)},
            {"wanted", store.wanted},
            {"files", files},
            {"bytes", bytes}};
}

// The variables that the library reads, of those that are set.
Json describe_environment() {
    Json variables = Json::object();
    constexpr std::array others = {"CUDNN_PATH",  "CUDNN_HOME",   "CUDA_HOME",       "CUDA_PATH",
                                   "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"};
    for (char** entry = environ; *entry != nullptr; ++entry) {
        std::string const text = *entry, name = text.substr(0, text.find('='));
        bool const is_ours = name.starts_with("SDPA_GRAPH_") || name.starts_with("CUDNN_FRONTEND_");
        if (is_ours || std::find(others.begin(), others.end(), name) != others.end())
            variables[name] = text.substr(std::min(text.size(), name.size() + 1));
    }
    return variables;
}

Json examine(Doctor_options const& options) {
    Progress progress("looking at libraries");
    Json report;
    report["library"] = dotted({SDPA_GRAPH_VERSION_MAJOR, SDPA_GRAPH_VERSION_MINOR, SDPA_GRAPH_VERSION_PATCH});
    report["graph_api"] =
        dotted({CUDNN_FRONTEND_MAJOR_VERSION, CUDNN_FRONTEND_MINOR_VERSION, CUDNN_FRONTEND_PATCH_VERSION});
    report["system"] = system_text();
    report["threads"] = std::thread::hardware_concurrency();
    report["kernel_driver"] = kernel_driver();
    report["gpu"] = describe_gpu();
    report["cudnn_version"] = fe::runtime::cudnn_version();
    report["known_quirks"] = describe_quirks(report["gpu"]);
    report["libraries"] = fe::runtime::describe();  // before planning, which loads a stand-in for the driver
    bool const has_gpu = report["gpu"]["usable"].get<bool>();
    progress.show("planning offline");
    if (!has_gpu && !options.is_quick) report["offline"] = try_offline();
    report["plan_store"] = describe_store();
    report["environment"] = describe_environment();
    return report;
}

std::string offline_text(Json const& report) {
    if (!report.contains("offline")) return report["gpu"]["usable"].get<bool>() ? "in another process" : "not tried";
    Json const& offline = report["offline"];
    if (!offline["usable"].get<bool>()) return colored(Color::Red, "no") + ": " + offline["reason"].get<std::string>();
    std::array<char, 32> time{};
    std::snprintf(time.data(), time.size(), "%.2f s", offline["seconds"].get<double>());
    return colored(Color::Green, "works") + ": " + offline["plan"].get<std::string>() + " for an H100 in " +
           time.data();
}

std::string store_text(Json const& store) {
    if (store["folder"].is_null()) return "none; SDPA_GRAPH_PLAN_STORE=FOLDER sets one";
    std::string text = store["folder"].get<std::string>();
    if (!store["exists"].get<bool>()) return text + ", which does not exist yet";
    text += ", " + std::to_string(store["files"].get<std::int64_t>()) + " files of " +
            bytes_text(store["bytes"].get<std::uint64_t>()) + " in all";
    if (store["frozen"].get<bool>()) return text + ", frozen";
    return text + (store["writable"].get<bool>() ? "" : ", not writable");
}

// How many there are of each evidence; --json has the quirks themselves.
std::string quirks_text(Json const& known) {
    std::map<std::string, int> counts;
    for (Json const& quirk : known["quirks"]) ++counts[quirk["evidence"].get<std::string>()];
    if (counts.empty()) return "none, since there is no cuDNN";
    std::vector<std::string> parts;
    parts.reserve(counts.size());
    for (auto const& [evidence, count] : counts) parts.push_back(evidence + " " + std::to_string(count));
    std::int64_t const version = known["compute_capability"].get<std::int64_t>();
    return std::to_string(known["quirks"].size()) + " of cuDNN apply on compute capability " +
           std::to_string(version / 10) + "." + std::to_string(version % 10) + ", and graphs with them are refused (" +
           joined(parts) + "): docs/cudnn-quirks.md";
}

std::string to_text(Json const& report) {
    Json const& gpu = report["gpu"];
    std::string const gpu_text =
        gpu["usable"].get<bool>() ? gpu["description"].get<std::string>() : "none: " + gpu["reason"].get<std::string>();
    std::string text = table({
        {"sdpa-graph", report["library"].get<std::string>() + ", graph API " + report["graph_api"].get<std::string>()},
        {"system",
         report["system"].get<std::string>() + ", " + std::to_string(report["threads"].get<int>()) + " threads"},
        {"driver", report["kernel_driver"].get<std::string>()},
        {"GPU", gpu_text},
        {"offline", offline_text(report)},
        {"store", store_text(report["plan_store"])},
        {"quirks", quirks_text(report["known_quirks"])},
    });
    text += "libraries\n" + indented(report["libraries"].get<std::string>(), "  ");
    std::vector<std::vector<std::string>> variables;
    for (auto const& [name, value] : report["environment"].items())
        variables.push_back({name, value.get<std::string>()});
    text += "environment" + std::string(variables.empty() ? ": none of the variables is set\n" : "\n");
    return text + table(variables, "  ");
}

int run_doctor(Doctor_options const& options) {
    Json const report = examine(options);
    if (options.is_json) print_json(report);
    else print(to_text(report));
    bool const plans = report["gpu"]["usable"].get<bool>() ||
                       (report.contains("offline") ? report["offline"]["usable"].get<bool>() : options.is_quick);
    return plans ? kYes : kNo;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Doctor_options>();
    CLI::App* const command =
        app.add_subcommand("doctor", "What is installed and loaded here, what is missing, what works");
    command->add_flag("--json", options->is_json, "Print JSON");
    command->add_flag("--quick", options->is_quick, "Without a GPU, do not try to plan for one");
    command->footer(
        footer("  sdpa doctor\n  sdpa doctor --json | jq .gpu", "0: plans for GPUs can be made here; 1: they cannot"));
    command->callback([options, &action] { action = [options] { return run_doctor(*options); }; });
}

}  // namespace sdpa
