// sdpa convert: a graph that cudnn-frontend printed, as a graph of this library.
#include "conversion/frontend_graph.h"
#include "input.h"
#include "output.h"

#include <cstdio>
#include <memory>

namespace sdpa {
namespace {

struct Convert_options {
    std::string path, out;
    std::size_t which = 0;  // counted from 1; 0 is the last one
};

constexpr Expected_file kLog{"a graph that cudnn-frontend printed, or its log",
                             "CUDNN_FRONTEND_LOG_INFO=10 CUDNN_FRONTEND_LOG_FILE=log.txt, which writes one"};

void remark(std::string const& name, std::string const& text) {
    std::fprintf(stderr, "sdpa: %s: %s\n", without_codes(name).c_str(), without_codes(text).c_str());
}

Json chosen_graph(std::string const& name, std::string const& text, std::size_t which) {
    auto graphs = frontend_graphs_of(text);
    if (graphs.empty()) throw Failure(name, "no graph", kLog.kind, kLog.source);
    if (graphs.front().contains("format"))
        throw Failure(name, "a graph of this library, which needs no conversion", kLog.kind, "sdpa show");
    if (which > graphs.size())
        throw Failure(name, std::to_string(graphs.size()) + " graphs",
                      "at least " + std::to_string(which) + " for --which");
    if (which == 0 && graphs.size() > 1)
        remark(name, "has " + std::to_string(graphs.size()) + " graphs, and this is the last; --which chooses another");
    return std::move(graphs[which == 0 ? graphs.size() - 1 : which - 1]);
}

int run(Convert_options const& options) {
    std::string const name = name_of(options.path);
    auto const [document, remarks] =
        convert_frontend_graph(chosen_graph(name, read_bytes(options.path, kLog), options.which));
    fe::graph::Graph graph;
    require(graph_of(document, graph));
    std::string text;
    require(graph.serialize(text));
    for (std::string const& each : remarks) remark(name, each);
    if (options.out.empty()) print(text);
    else write_file(options.out, {text});
    return kYes;
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Convert_options>();
    CLI::App* const command = app.add_subcommand("convert", "A graph that cudnn-frontend printed, as a graph for sdpa");
    command->add_option("file", options->path, "A log of cudnn-frontend, a printed graph, or - for standard input")
        ->required();
    command->add_option("--which", options->which, "The graph of a log, counted from 1; the default is the last one")
        ->check(at_least(1));
    command->add_option("--out", options->out, "The file to write; without it the graph is printed");
    command->footer(
        footer("  CUDNN_FRONTEND_LOG_INFO=10 CUDNN_FRONTEND_LOG_FILE=log.txt python train.py\n"
               "  sdpa convert log.txt | sdpa explain - --for h100",
               "0: it was converted; sdpa explain says whether it is valid"));
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sdpa
