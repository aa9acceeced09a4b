// sdpa matrix: which graphs have a plan on which GPUs, asked of the real library, for one cuDNN or several.
#include "child.h"
#include "graph_arguments.h"
#include "input.h"
#include "output.h"
#include "progress.h"
#include "timing/expected.h"

#include <cudnn_frontend/runtime.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <thread>

namespace sdpa {
namespace {

struct Matrix_options {
    std::vector<std::string> paths, devices, libraries, answers;
    std::string format = "text";
    bool is_json = false, has_plans = false;
};

// The answers of one cuDNN: for each graph and device the plan's name and its expected time, or the rule that refuses
// it.
struct Matrix {
    std::string cudnn;
    std::vector<std::string> devices, graphs;
    std::vector<Json> cells;  // by graph, then by device

    Json const& at(std::size_t graph, std::size_t device) const { return cells[graph * devices.size() + device]; }
};

Json answer_of(fe::graph::Graph const& graph, std::string const& device) {
    fe::Explanation const explanation = graph.explain(fe::Target::offline(device), 0);
    fe::error_t const& refusal = explanation.refusal;
    if (refusal.is_bad()) return {{"rule", refusal.where.rule}, {"message", refusal.err_msg}};
    double const expected_us = expected_us_of(explanation);
    return {{"plan", explanation.plan}, {"expected_us", expected_us > 0.0 ? Json(expected_us) : Json()}};
}

// Asks about several cells at once; the calling thread also shows how far they are.
void fill(Matrix& matrix, std::vector<Graph_file> const& files) {
    matrix.cells.resize(files.size() * matrix.devices.size());
    std::atomic<std::size_t> next{0};
    auto const work = [&](auto const& report) {
        for (std::size_t i = next++; i < matrix.cells.size(); i = next++) {
            report(i);
            std::string const& device = matrix.devices[i % matrix.devices.size()];
            try {
                matrix.cells[i] = answer_of(files[i / matrix.devices.size()].graph, device);
            } catch (std::exception const& error) {
                matrix.cells[i] = {{"rule", ""}, {"message", error.what()}};
            }
        }
    };
    Progress progress;
    std::vector<std::thread> others;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i)
        others.emplace_back([&] { work([](std::size_t) {}); });
    work([&](std::size_t i) {
        progress.show("answer " + std::to_string(i + 1) + " of " + std::to_string(matrix.cells.size()));
    });
    for (std::thread& other : others) other.join();
}

std::string row_name(std::string const& path) {
    return path == "-" ? name_of(path) : std::filesystem::path(path).stem().string();
}

Matrix ask_here(Matrix_options const& options) {
    std::size_t const version = fe::runtime::cudnn_version();
    if (version == 0) throw Failure("there is no usable cuDNN library to ask. Try: sdpa doctor, which says why");
    Matrix matrix{fe::runtime::version_text(version), options.devices, {}, {}};
    std::vector<Graph_file> files;
    for (std::string const& path : files_of(options.paths)) {
        files.push_back(read_graph(path));
        matrix.graphs.push_back(row_name(path));
    }
    fill(matrix, files);
    return matrix;
}

Json to_json(Matrix const& matrix) {
    Json rows = Json::array();
    for (std::size_t graph = 0; graph < matrix.graphs.size(); ++graph) {
        Json answers;
        for (std::size_t device = 0; device < matrix.devices.size(); ++device)
            answers[matrix.devices[device]] = matrix.at(graph, device);
        rows.push_back({{"graph", matrix.graphs[graph]}, {"answers", answers}});
    }
    return {{"cudnn", matrix.cudnn}, {"devices", matrix.devices}, {"rows", rows}};
}

// A cell of another run, which may be any JSON.
Json checked_cell(Json const& cell, std::string const& graph, std::string const& device) {
    auto const has_text = [&](char const* name) { return cell.contains(name) && cell[name].is_string(); };
    if (cell.is_object() && (has_text("plan") || has_text("rule"))) return cell;
    throw Failure("", cell.dump() + " as the answer for " + graph + " on " + device,
                  "an object with the name of a plan or of a rule, as sdpa matrix --json prints it");
}

Matrix from_json(Json const& json) {
    Matrix matrix{json.at("cudnn"), json.at("devices"), {}, {}};
    for (Json const& row : json.at("rows")) {
        matrix.graphs.push_back(row.at("graph"));
        for (std::string const& device : matrix.devices)
            matrix.cells.push_back(checked_cell(row.at("answers").at(device), matrix.graphs.back(), device));
    }
    return matrix;
}

// Asks in a process of its own, in which this library is the only cuDNN.
Matrix ask_library(Matrix_options const& options, std::string const& library) {
    std::vector<std::string> arguments = {"matrix", "--json"};
    arguments.insert(arguments.end(), options.paths.begin(), options.paths.end());
    for (std::string const& device : options.devices) arguments.insert(arguments.end(), {"--for", device});
    Child const child = run_child(arguments, {{"SDPA_GRAPH_CUDNN_PATH", library}});
    if (child.status != kYes)
        throw Failure("--cudnn " + library + ": the process that asked it ended with " + std::to_string(child.status) +
                      ". Try: SDPA_GRAPH_CUDNN_PATH=" + library + " sdpa doctor");
    return from_json(Json::parse(child.output).at("matrices").at(0));
}

// The output of an earlier run with --json.
Matrix read_answers(std::string const& path) {
    constexpr Expected_file expected{"the output of sdpa matrix --json", "sdpa matrix graphs --json > answers.json"};
    std::string const text = read_bytes(path, expected);
    try {
        return from_json(Json::parse(text).at("matrices").at(0));
    } catch (Failure const& error) {
        throw Failure("--answers: " + path + ": " + error.what());
    } catch (Json::exception const&) {
        throw Failure("--answers: " + path, "other text", expected.kind, expected.source);
    }
}

std::vector<Matrix> collect(Matrix_options const& options) {
    std::vector<Matrix> matrices;
    for (std::string const& path : options.answers) matrices.push_back(read_answers(path));
    for (std::string const& library : options.libraries) matrices.push_back(ask_library(options, library));
    if (options.libraries.empty() && !options.paths.empty()) matrices.push_back(ask_here(options));
    if (matrices.empty())
        throw Failure("matrix", "no files", "graphs as JSON, folders of them, or answers", kSourcesOfGraphs);
    for (Matrix const& matrix : matrices) {
        if (matrix.graphs != matrices[0].graphs || matrix.devices != matrices[0].devices)
            throw Failure("--answers",
                          "other graphs or GPUs with cuDNN " + matrix.cudnn + " than with cuDNN " + matrices[0].cudnn,
                          "the same");
    }
    return matrices;
}

constexpr char kYesText[] = "yes", kNoText[] = "no";

std::string answer_text(Json const& answer, bool has_plans) {
    if (!answer.contains("plan")) {
        std::string const rule = answer["rule"].get<std::string>();
        return rule.empty() ? kNoText : rule;
    }
    if (!has_plans) return kYesText;
    bool const has_time = answer.contains("expected_us") && answer["expected_us"].is_number();
    return answer["plan"].get<std::string>() + (has_time ? " " + us_text(answer["expected_us"].get<double>()) : "");
}

struct Cell {
    std::string text;
    bool is_plan = false, is_changed = false;
};
using Cells = std::vector<std::vector<Cell>>;  // the first row and column have names

// The answers of all versions; one where they are equal.
Cell cell_of(std::vector<Matrix> const& matrices, std::size_t graph, std::size_t device, bool has_plans) {
    Cell cell;
    std::string last;
    for (Matrix const& matrix : matrices) {
        Json const& answer = matrix.at(graph, device);
        std::string const text = answer_text(answer, has_plans);
        cell.text += (cell.text.empty() ? "" : " -> ") + text;
        cell.is_plan = answer.contains("plan");
        cell.is_changed = cell.is_changed || (!last.empty() && text != last);
        last = text;
    }
    if (!cell.is_changed) cell.text = last;
    return cell;
}

Cells cells_of(std::vector<Matrix> const& matrices, bool has_plans) {
    Matrix const& first = matrices.front();
    Cells cells = {{{"graph"}}};
    for (std::string const& device : first.devices) cells[0].push_back({device});
    for (std::size_t graph = 0; graph < first.graphs.size(); ++graph) {
        cells.push_back({{first.graphs[graph]}});
        for (std::size_t device = 0; device < first.devices.size(); ++device)
            cells.back().push_back(cell_of(matrices, graph, device, has_plans));
    }
    return cells;
}

std::string head_text(std::vector<Matrix> const& matrices, Cells const& cells, bool has_plans) {
    std::string text = "cuDNN " + matrices.front().cudnn;
    for (std::size_t i = 1; i < matrices.size(); ++i) text += " -> " + matrices[i].cudnn;
    std::size_t changes = 0, answers = 0;
    for (std::size_t row = 1; row < cells.size(); ++row) {
        answers += cells[row].size() - 1;
        for (Cell const& cell : cells[row]) changes += cell.is_changed ? 1 : 0;
    }
    if (matrices.size() > 1)
        text += ", " + std::to_string(changes) + " of " + std::to_string(answers) + " answers differ";
    std::string const plan = has_plans ? "; a plan and its expected time" : "; yes: there is a plan";
    return text + plan + "; no: cuDNN has none; else the rule that refuses the graph";
}

// The first line of a message, without the graph's name and with the first item of a list that it introduces.
std::string reason_of(Json const& cell) {
    if (!cell.contains("message") || !cell["message"].is_string()) return {};
    std::string message = cell["message"].get<std::string>();
    if (auto const end = message.find("': "); message.starts_with("graph '") && end != std::string::npos)
        message.erase(0, end + 3);
    std::size_t const line = message.find('\n');
    if (line == std::string::npos || line == 0 || message[line - 1] != ':') return message.substr(0, line);
    std::size_t const item = message.find_first_not_of(" \n", line);
    if (item == std::string::npos) return message.substr(0, line);
    return message.substr(0, line) + " " + message.substr(item, message.find('\n', item) - item);
}

// A line for each different reason of a "no", with the first cell that has it.
std::string reasons_text(std::vector<Matrix> const& matrices) {
    std::map<std::string, std::pair<std::string, int>> cells_of_reason;
    for (Matrix const& matrix : matrices) {
        for (std::size_t i = 0; i < matrix.cells.size(); ++i) {
            Json const& cell = matrix.cells[i];
            if (answer_text(cell, false) != kNoText) continue;
            auto& [first, count] = cells_of_reason[reason_of(cell)];
            std::string const& device = matrix.devices[i % matrix.devices.size()];
            if (count++ == 0)
                first = matrix.graphs[i / matrix.devices.size()] + " on " + device + ", cuDNN " + matrix.cudnn;
        }
    }
    std::string text;
    for (auto const& [reason, cells] : cells_of_reason) {
        auto const& [first, count] = cells;
        text +=
            "no: " + first + (count > 1 ? ", and " + std::to_string(count - 1) + " more" : "") + ": " + reason + "\n";
    }
    return text;
}

std::vector<std::vector<std::string>> texts_of(Cells const& cells) {
    std::vector<std::vector<std::string>> texts(cells.size());
    for (std::size_t row = 0; row < cells.size(); ++row) {
        for (Cell const& cell : cells[row]) texts[row].push_back(cell.text);
    }
    return texts;
}

std::string markdown(std::string const& head, Cells const& cells) {
    std::string text = head + "\n\n";
    for (std::size_t row = 0; row < cells.size(); ++row) {
        for (Cell const& cell : cells[row]) text += "| " + cell.text + " ";
        text += "|\n";
        for (std::size_t i = 0; row == 0 && i < cells[0].size(); ++i) text += "|---";
        if (row == 0) text += "|\n";
    }
    return text;
}

std::string html(std::string const& head, Cells const& cells) {
    std::string text =
        "<!DOCTYPE html>\n<meta charset='utf-8'>\n<title>sdpa matrix</title>\n<style>body{font-family:sans-serif}"
        "td,th{padding:.2em .6em;text-align:left}.yes{background:#dafbe1}.no{background:#ffebe9}"
        ".changed{background:#fff8c5}</style>\n<p>" +
        escaped(head) + "</p>\n<table>\n";
    for (std::size_t row = 0; row < cells.size(); ++row) {
        text += "<tr>";
        for (std::size_t column = 0; column < cells[row].size(); ++column) {
            Cell const& cell = cells[row][column];
            std::string const kind = cell.is_changed ? "changed" : cell.is_plan ? kYesText : kNoText;
            bool const is_name = row == 0 || column == 0;
            text +=
                (is_name ? "<th>" : "<td class='" + kind + "'>") + escaped(cell.text) + (is_name ? "</th>" : "</td>");
        }
        text += "</tr>\n";
    }
    return text + "</table>\n";
}

int run_matrix(Matrix_options options) {
    if (options.devices.empty()) options.devices = fe::DeviceProperties::names();
    if (!options.libraries.empty() && std::find(options.paths.begin(), options.paths.end(), "-") != options.paths.end())
        throw Failure("--cudnn", "a graph from standard input, which only one process can read", "files");
    std::vector<Matrix> const matrices = collect(options);
    if (options.is_json) {
        Json list = Json::array();
        for (Matrix const& matrix : matrices) list.push_back(to_json(matrix));
        print_json({{"matrices", list}});
        return kYes;
    }
    Cells const cells = cells_of(matrices, options.has_plans);
    std::string const head = head_text(matrices, cells, options.has_plans);
    if (options.format == "markdown") print(markdown(head, cells));
    else if (options.format == "html") print(html(head, cells));
    else print_text(head + "\n" + table(texts_of(cells)) + reasons_text(matrices));
    return kYes;
}

}  // namespace

void add_matrix(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Matrix_options>();
    CLI::App* const command =
        app.add_subcommand("matrix", "Which graphs have a plan on which GPUs, for several cuDNNs");
    add_graphs(*command, options->paths, "folders of them");
    command->add_option("--for", options->devices, "A described GPU such as h100; may be repeated; else all of them")
        ->allow_extra_args(false)
        ->transform(CLI::IsMember(fe::DeviceProperties::names(), CLI::ignore_case));
    command->add_option("--cudnn", options->libraries, help_of_libraries() + "; may be repeated to compare")
        ->allow_extra_args(false)
        ->check(CLI::ExistingPath);
    command
        ->add_option("--answers", options->answers,
                     "The output of --json to compare with, such as another machine's; may be repeated")
        ->allow_extra_args(false);
    command->add_flag("--plans", options->has_plans, "Name each plan and its expected time in place of yes");
    CLI::Option* const format = command->add_option("--format", options->format, "text, markdown or html")
                                    ->capture_default_str()
                                    ->check(CLI::IsMember({"text", "markdown", "html"}));
    command->add_flag("--json", options->is_json, "Print JSON")->excludes(format);
    command->footer(
        footer("  sdpa matrix graphs --for h100 --for b200 --format markdown\n  sdpa matrix graphs --for h100 "
               "--plans\n  sdpa matrix a.json b.json "
               "--cudnn old/libcudnn.so.9 --cudnn new/libcudnn.so.9\n  sdpa matrix graphs --json > "
               "old.json; sdpa matrix graphs --answers old.json",
               "0: the library answered for all graphs"));
    command->callback([options, &action] { action = [options] { return run_matrix(*options); }; });
}

}  // namespace sdpa
