// sdpa capsule: what a report of a failure needs, as one file.
#include "data/data.h"
#include "graph_arguments.h"
#include "output.h"

#include <memory>

namespace sdpa {
namespace {

struct Capsule_options {
    std::string path, target = "h100", out;
    std::uint64_t seed = 1;
};

// A capsule has made data where the graph has a plan, for its lengths and offsets.
Json capsule_of(fe::graph::Graph& graph, Json const& document, fe::error_t const& refusal, std::uint64_t seed) {
    std::string text;
    if (refusal.is_bad()) {
        require(graph.capsule(text));
        Json capsule = Json::parse(text);
        capsule["failure"] = {{"stage", "build"}, {"code", to_string(refusal.code)}, {"message", refusal.err_msg}};
        return capsule;
    }
    Memories memories = make_data(document, graph, {.seed = seed});
    require(graph.capsule(host_pack(memories), text));
    Json capsule = Json::parse(text);
    capsule["seed"] = seed;
    return capsule;
}

int run(Capsule_options const& options) {
    Graph_file const file = read_graph(options.path);
    fe::Target const target = parse_target(options.target);
    Json const document = with_uids(file.document);
    fe::graph::Graph graph;
    require(graph_of(document, graph));
    fe::error_t const refusal = graph.build(target);
    Json const capsule = capsule_of(graph, document, refusal, options.seed);
    if (options.out.empty()) {
        print_json(capsule);
        return kYes;
    }
    write_file(options.out, {capsule.dump(2), "\n"});
    print_text(file.name + " on " + options.target + ": " + (refusal.is_bad() ? "the build fails" : "it has a plan") +
               ", " + options.out + " is written\n");
    return kYes;
}

}  // namespace

void add_capsule(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Capsule_options>();
    CLI::App* const command = app.add_subcommand("capsule", "One file for a report: graph, versions, device, plan");
    add_graph(*command, options->path);
    command->add_option("--target,--for", options->target, help_of_targets())->capture_default_str();
    command->add_option("--out", options->out, "The file to write; without it the capsule is printed");
    command->add_option("--seed", options->seed, "The seed of made data, for lengths and for sdpa run")
        ->capture_default_str()
        ->check(is_seed());
    command->footer(footer("  sdpa capsule graph.json --target h100 --out capsule.json\n  sdpa run capsule.json",
                           "0: the capsule is made, whether or not there is a plan"));
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sdpa
