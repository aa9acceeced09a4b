// sdpa: answers about attention graphs from a shell. Each subcommand is in a file of its own.
#include "command.h"
#include "child.h"
#include "command_line.h"
#include "graph_arguments.h"
#include "output.h"

#include <cudnn_frontend/report.h>
#include <cudnn_frontend/version.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace sdpa {
namespace {

int complain(std::string const& message) {
    std::fprintf(stderr, "sdpa: %s\n", without_codes(message).c_str());
    return kUsage;
}

// The first argument where it should be a subcommand and is none.
std::string unknown_subcommand(CLI::App const& app, int argc, char const* const* argv) {
    if (argc < 2 || argv[1][0] == '-' || has_subcommand(app, argv[1])) return {};
    return argv[1];
}

std::string names_of_subcommands(CLI::App const& app) {
    std::string names;
    for (CLI::App const* known : app.get_subcommands({})) names += (names.empty() ? "" : ", ") + known->get_name();
    return names;
}

// The subcommands that were chosen, one in the other.
std::vector<CLI::App const*> chosen_subcommands(CLI::App const& app) {
    std::vector<CLI::App const*> all;
    for (CLI::App const* at = &app; !at->get_subcommands().empty(); all.push_back(at))
        at = at->get_subcommands().front();
    return all;
}

// The argument that is required and was not given; null where the error is about something else.
CLI::Option const* missing_argument(CLI::ParseError const& error, std::vector<CLI::App const*> const& commands) {
    if (error.get_name() != "RequiredError") return nullptr;
    for (CLI::App const* command : commands) {
        for (CLI::Option const* option : command->get_options()) {
            if (option->get_required() && option->count() == 0) return option;
        }
    }
    return nullptr;
}

std::string usage_text(CLI::App const& app, CLI::ParseError const& error) {
    auto const commands = chosen_subcommands(app);
    std::string name;
    for (CLI::App const* command : commands) name += (name.empty() ? "" : " ") + command->get_name();
    std::string const help = "sdpa" + (commands.empty() ? "" : " " + commands.front()->get_name()) + " --help";
    if (CLI::Option const* const option = missing_argument(error, commands)) {
        std::string expected = option->get_description();
        expected.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(expected.front())));
        bool const is_graph = option->get_type_name() == kTypeOfGraphs;
        return fault_text(name, "no " + option->get_name(), expected,
                          (is_graph ? kSourcesOfGraphs + std::string("; ") : "") + help);
    }
    std::string text = error.what();
    if (!text.ends_with('.')) text += '.';
    return text + " Try: " + help;
}

// Where the arguments are not usable, reports it and returns kUsage; after --help returns 0; -1 to go on.
int parse(CLI::App& app, int argc, char const* const* argv) {
    if (argc < 2) {
        std::fputs(app.help().c_str(), stderr);
        return kUsage;
    }
    if (std::string const name = unknown_subcommand(app, argc, argv); !name.empty())
        return complain(
            fault_text("", "the subcommand '" + name + "'", "one of " + names_of_subcommands(app), "sdpa --help"));
    try {
        app.parse(argc, argv);
    } catch (CLI::Success const& success) {
        return app.exit(success);
    } catch (CLI::ParseError const& error) {
        return complain(usage_text(app, error));
    }
    return -1;
}

}  // namespace

std::string fault_text(std::string place, std::string found, std::string expected, std::string fix) {
    cudnn_frontend::Finding finding;
    finding.where.node = std::move(place);
    finding.found = std::move(found);
    finding.needed = std::move(expected);
    finding.fix = std::move(fix);
    return cudnn_frontend::Report({std::move(finding)}).to_error().err_msg;
}

bool has_subcommand(CLI::App const& app, std::string const& name) {
    auto const all = app.get_subcommands({});
    return std::any_of(all.begin(), all.end(), [&](CLI::App const* known) { return known->get_name() == name; });
}

std::string version_text() {
    return "sdpa-graph " + std::to_string(SDPA_GRAPH_VERSION_MAJOR) + "." + std::to_string(SDPA_GRAPH_VERSION_MINOR) +
           "." + std::to_string(SDPA_GRAPH_VERSION_PATCH);
}

int run_command_line(int argc, char const* const* argv, std::vector<std::string> starting_words) {
    set_starting_words(std::move(starting_words));
    std::signal(SIGPIPE, SIG_IGN);
    CLI::App app("Answers about attention graphs: graphs are JSON files (docs/json.md), or - for standard input.",
                 "sdpa");
    app.set_version_flag("--version", version_text());
    app.require_subcommand(1);
    app.footer(
        "A graph is a file that a program wrote with Graph::serialize(), or that sdpa new makes:\n"
        "  sdpa new --heads 32 --key-heads 8 --tokens 8192 --causal > graph.json\n"
        "  sdpa explain graph.json --for h100\n"
        "Exit codes: 0: done, or the answer is yes; 1: the answer is no; 2: usage, or the input is not readable");
    Action action;
    add_doctor(app, action);
    add_new(app, action);
    add_convert(app, action);
    add_show(app, action);
    add_explain(app, action);
    add_plan(app, action);
    add_store(app, action);
    add_draw(app, action);
    add_mask(app, action);
    add_run(app, action);
    add_bench(app, action);
    add_tune(app, action);
    add_matrix(app, action);
    add_verify(app, action);
    add_capsule(app, action);
    add_completion(app, action);
    add_man(app, action);
    try {
        int const status = parse(app, argc, argv);
        return status >= 0 ? status : action();
    } catch (std::bad_alloc const&) {
        return complain("there is not enough memory here for this graph");
    } catch (std::exception const& error) {
        return complain(error.what());
    }
}

}  // namespace sdpa
