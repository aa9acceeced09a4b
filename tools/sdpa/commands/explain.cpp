// sdpa explain: Graph::explain() as text or JSON.
#include "graph_arguments.h"
#include "input.h"
#include "output.h"
#include "progress.h"

#include <cudnn_frontend/explanation.h>
#include <cudnn_frontend/runtime.h>

#include <array>
#include <memory>
#include <utility>

namespace sdpa {
namespace {

struct Explain_options {
    std::string path, target = "h100", library;
    bool is_json = false, is_short = false;
    int limit_ms = 1000;
};

// The words that begin the verdict and the list of faults, in color on a terminal.
std::string highlighted(std::string text) {
    constexpr std::array<std::pair<std::string_view, Color>, 4> words = {
        {{"yes: ", Color::Green}, {"no: ", Color::Red}, {"broken rules: ", Color::Red}, {"limits of ", Color::Red}}};
    for (auto const& [word, color] : words) {
        std::size_t at = text.rfind("\n" + std::string(word));
        if (at == std::string::npos && !text.starts_with(word)) continue;
        at = at == std::string::npos ? 0 : at + 1;
        text.replace(at, word.size(), colored(color, std::string(word)));
    }
    return text;
}

fe::Explanation explain(Explain_options const& options, Graph_file const& file, fe::Target const& target) {
    Progress const progress("planning, and looking for graphs that work");
    return file.graph.explain(target, options.is_short ? 0 : options.limit_ms);
}

int run_explain(Explain_options const& options) {
    Graph_file const file = read_graph(options.path);
    if (!options.library.empty()) choose_library(options.library);
    fe::Target const target = parse_target(options.target);
    fe::Explanation explanation = explain(options, file, target);
    explanation.graph = file.name;
    explanation.target = options.target;
    bool const is_gpu = target.kind() == fe::Target::Kind::CUDA || target.kind() == fe::Target::Kind::OFFLINE;
    std::size_t const version = is_gpu ? fe::runtime::cudnn_version() : 0;
    if (options.is_json) {
        Json json = Json::parse(explanation.to_json());
        json["cudnn"] = version == 0 ? Json() : Json(fe::runtime::version_text(version));
        print_json(json);
    } else {
        std::string const asked = version == 0 ? "" : "asked cuDNN " + fe::runtime::version_text(version) + "\n";
        print_text(highlighted(explanation.to_text()) + asked);
    }
    return explanation.has_plan() ? kYes : kNo;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Explain_options>();
    CLI::App* const command = app.add_subcommand(
        "explain", "Whether a graph has a plan, by which engine, how fast; why not, and what to change");
    add_graph(*command, options->path);
    command->add_option("--target,--for", options->target, help_of_targets())->capture_default_str();
    command->add_option("--cudnn", options->library, help_of_libraries());
    command->add_flag("--short", options->is_short, "Do not search the nearest graphs that work");
    command->add_option("--limit", options->limit_ms, "Milliseconds for this search")
        ->capture_default_str()
        ->check(CLI::Range(0, 600000));
    command->add_flag("--json", options->is_json, "Print JSON");
    command->footer(footer("  sdpa explain graph.json --target h100\n  sdpa explain - --target cpu --json < graph.json",
                           "0: there is a plan; 1: there is none"));
    command->callback([options, &action] { action = [options] { return run_explain(*options); }; });
}

}  // namespace sdpa
