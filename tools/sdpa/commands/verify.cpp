// sdpa verify: compares results of another program with the reference, and explains wrong ones.
#include "data/given.h"
#include "data/verdict.h"
#include "graph_arguments.h"
#include "output.h"
#include "progress.h"

#include <algorithm>
#include <memory>

namespace sdpa {
namespace {

struct Verify_command {
    std::string path;
    std::vector<std::string> got, data;
    bool is_json = false;
    std::optional<std::uint64_t> seed;
    Verdict_options verdict{.roundoff = kRoundoffOfTf32};
};

std::string names_of_results(Memories const& tensors) {
    std::vector<std::string> names;
    for (auto const& [uid, memory] : tensors) {
        if (memory.is_output) names.push_back(memory.name);
    }
    return joined(names);
}

void require_results(Given_numbers const& got, Memories const& tensors) {
    for (auto const& [uid, numbers] : got) {
        if (!tensors.at(uid).is_output)
            throw Failure("--got", "'" + tensors.at(uid).name + "', which is an input",
                          "one of " + names_of_results(tensors), "--data for inputs");
    }
    if (got.empty())
        throw Failure("--got", "no results", "--got NAME=file.npy for one or more of " + names_of_results(tensors));
}

int run(Verify_command const& options) {
    Graph_file const file = read_graph(options.path);
    Json const document = with_uids(file.document);
    fe::graph::Graph graph;
    require(graph_of(document, graph));
    require(graph.build(fe::Target::reference()));
    Memories const tensors = describe_tensors(document, graph);
    Given_numbers const got = read_given(options.got, "--got", tensors);
    require_results(got, tensors);
    Data_options data = data_options(file, document, tensors, options.seed, options.data);
    data.given.insert(got.begin(), got.end());
    auto progress = std::make_unique<Progress>("making data");
    Memories memories = make_data(document, graph, data);

    Verdict_options verdict = options.verdict;
    for (auto const& [uid, memory] : memories) {
        if (memory.is_output && !got.contains(uid)) verdict.left_out.push_back(uid);
    }
    progress->show("comparing with the reference");
    fe::Verification const verification = compare(graph, memories, verdict);
    progress.reset();
    if (options.is_json) print_json(Json::parse(verification.to_json()));
    else print_text(verdict_text(verification));
    return verification.ok() ? kYes : kNo;
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Verify_command>();
    CLI::App* const command =
        app.add_subcommand("verify", "Compare results of any program with the reference, and explain wrong ones");
    add_graph(*command, options->path, "a capsule");
    command->add_option("--got", options->got, "NAME=file.npy: a result, by the name, port or uid of its tensor");
    command->add_option("--data", options->data,
                        "NAME=file.npy: an input; the others are made, as sdpa run makes them");
    command->add_option("--seed", options->seed, "The seed of made data; else that of the capsule, or 1")
        ->check(is_seed());
    add_verdict_options(*command, options->verdict);
    command->add_flag("--json", options->is_json, "Print JSON");
    command->footer(
        footer("  sdpa verify graph.json --got O=o.npy --data Q=q.npy --data K=k.npy --data V=v.npy\n"
               "  sdpa run graph.json --save tensors; sdpa verify graph.json --got O=tensors/O.npy",
               "0: the results are right; 1: a result is wrong"));
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sdpa
