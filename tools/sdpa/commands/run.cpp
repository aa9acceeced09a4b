// sdpa run: runs a graph on made or given data, and compares the results with the reference.
#include "data/given.h"
#include "data/gpu_memory.h"
#include "data/verdict.h"
#include "graph_arguments.h"
#include "output.h"
#include "progress.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

namespace sdpa {
namespace {

struct Run_options {
    std::string path, target = "cpu", against, folder;
    std::vector<std::string> data;
    bool is_json = false, has_verify = false;
    std::optional<std::uint64_t> seed;
    Verdict_options verdict;

    bool verifies() const { return has_verify || !against.empty(); }
};

struct Result {
    std::string graph, target, plan;
    double build_ms = 0.0, run_ms = 0.0;
    std::int64_t workspace_bytes = 0;
    Memories memories;
    std::vector<std::string> files;  // that were written
    std::optional<fe::Verification> verification;

    bool is_right() const { return !verification || verification->ok(); }
};

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// On a GPU the second run is timed: the first loads code.
void run_on(fe::Target const& target, fe::graph::Graph& graph, Result& result) {
    if (target.kind() == fe::Target::Kind::CUDA) {
        Gpu_copies copies(result.memories, result.workspace_bytes);
        require(graph.execute(target.handle(), copies.pack(), copies.workspace()));
        Gpu_copies::wait();
        auto const begin = Clock::now();
        require(graph.execute(target.handle(), copies.pack(), copies.workspace()));
        Gpu_copies::wait();
        result.run_ms = milliseconds_since(begin);
        return copies.copy_back();
    }
    auto workspace = make_workspace(result.workspace_bytes);
    auto const begin = Clock::now();
    require(graph.execute(host_pack(result.memories), workspace.data()));
    result.run_ms = milliseconds_since(begin);
}

fe::Verification verify(Run_options const& options, Json const& document, bool is_gpu, Memories& memories) {
    Json const other = options.against.empty() ? document : with_uids(read_graph(options.against).document);
    fe::graph::Graph graph;
    require(graph_of(other, graph));
    require(graph.build(fe::Target::reference()));
    Verdict_options verdict = options.verdict;
    if (is_gpu) verdict.roundoff = kRoundoffOfTf32;
    return compare(graph, memories, verdict);
}

// Nothing where the target has no plan, of which the reason is then in the message.
std::optional<Result> run_graph(Run_options const& options, std::string& refusal) {
    Graph_file const file = read_graph(options.path);
    fe::Target const target = parse_target_to_run(options.target, "sdpa explain, sdpa plan");
    Json const document = with_uids(file.document);
    Result result{file.name, options.target, {}, 0.0, 0.0, 0, {}, {}, {}};
    fe::graph::Graph graph;
    require(graph_of(document, graph));
    Progress progress("planning");
    auto const begin = Clock::now();
    fe::error_t const error = graph.build(target);
    result.build_ms = milliseconds_since(begin);
    if (error.is_bad()) {
        refusal = error.get_message();
        return std::nullopt;
    }
    require(graph.get_plan_name(result.plan));
    require(graph.get_workspace_size(result.workspace_bytes));
    Memories const tensors = describe_tensors(document, graph);
    progress.show("making data");
    result.memories = make_data(document, graph, data_options(file, document, tensors, options.seed, options.data));
    progress.show("running");
    run_on(target, graph, result);
    progress.show("comparing with the reference");
    if (!options.folder.empty()) result.files = save(options.folder, result.memories);
    bool const is_gpu = target.kind() == fe::Target::Kind::CUDA;
    if (options.verifies()) result.verification = verify(options, document, is_gpu, result.memories);
    return result;
}

struct Summary {
    std::int64_t elements = 0, not_finite = 0;
    double least = std::numeric_limits<double>::infinity(), greatest = -least, square = 0.0;
};

Summary summary_of(Memory const& memory) {
    Summary summary;
    memory.for_each([&](Sizes const&, std::int64_t at) {
        double const number = memory.get(at);
        ++summary.elements;
        if (!std::isfinite(number)) {
            ++summary.not_finite;
            return;
        }
        summary.least = std::min(summary.least, number);
        summary.greatest = std::max(summary.greatest, number);
        summary.square += number * number;
    });
    std::int64_t const finite = summary.elements - summary.not_finite;
    summary.square = finite == 0 ? 0.0 : std::sqrt(summary.square / static_cast<double>(finite));
    return summary;
}

std::string to_text(Result const& result) {
    std::string text = result.graph + " on " + result.target + ": plan " + result.plan + ", workspace " +
                       bytes_text(static_cast<std::uint64_t>(result.workspace_bytes)) + ", built in " +
                       number_text(result.build_ms) + " ms, run in " + number_text(result.run_ms) + " ms\n";
    std::vector<std::vector<std::string>> rows = {{"result", "type", "dims", "least", "greatest", "rms", "not finite"}};
    for (auto const& [uid, memory] : result.memories) {
        if (!memory.is_output) continue;
        Summary const summary = summary_of(memory);
        rows.push_back({memory.name, to_string(memory.type), list_text(memory.dim), number_text(summary.least),
                        number_text(summary.greatest), number_text(summary.square),
                        std::to_string(summary.not_finite)});
    }
    text += table(rows, "  ");
    if (!result.files.empty()) text += "saved: " + joined(result.files) + "\n";
    return result.verification ? text + verdict_text(*result.verification) : text;
}

// JSON has no infinity and no NaN: these become text.
Json number_json(double number) {
    if (std::isfinite(number)) return number;
    return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

Json to_json(Result const& result) {
    Json results = Json::array();
    for (auto const& [uid, memory] : result.memories) {
        if (!memory.is_output) continue;
        Summary const summary = summary_of(memory);
        results.push_back({{"name", memory.name},
                           {"type", to_string(memory.type)},
                           {"dims", memory.dim},
                           {"least", number_json(summary.least)},
                           {"greatest", number_json(summary.greatest)},
                           {"rms", summary.square},
                           {"not_finite", summary.not_finite}});
    }
    Json json = {{"graph", result.graph},       {"target", result.target},
                 {"plan", result.plan},         {"workspace_bytes", result.workspace_bytes},
                 {"build_ms", result.build_ms}, {"run_ms", result.run_ms},
                 {"results", results}};
    if (!result.files.empty()) json["files"] = result.files;
    if (result.verification) json["verdict"] = Json::parse(result.verification->to_json());
    return json;
}

int run(Run_options const& options) {
    std::string refusal;
    auto const result = run_graph(options, refusal);
    if (!result) {
        if (options.is_json) print_json({{"target", options.target}, {"plan", nullptr}, {"refusal", refusal}});
        else print_text("no plan on " + options.target + ", sdpa explain says more:\n" + indented(refusal, "  "));
        return kNo;
    }
    if (options.is_json) print_json(to_json(*result));
    else print_text(to_text(*result));
    return result->is_right() ? kYes : kNo;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Run_options>();
    CLI::App* const command =
        app.add_subcommand("run", "Run a graph on made or given data, and compare it with the reference");
    add_graph(*command, options->path, "a capsule");
    command->add_option("--target", options->target, "cpu, reference or cuda")->capture_default_str();
    command->add_flag("--verify", options->has_verify, "Compare the results with those of the reference target");
    command->add_option("--against", options->against,
                        "Compare with the reference of this graph, whose tensors have the same uids");
    command->add_option("--seed", options->seed, "The seed of made data; else that of the capsule, or 1")
        ->check(is_seed());
    command->add_option("--data", options->data,
                        "NAME=file.npy: a tensor of NumPy in place of made data, by the tensor's name, port or uid");
    command->add_option("--save", options->folder, "Write all tensors, inputs and results, to this folder as .npy");
    add_verdict_options(*command, options->verdict);
    command->add_flag("--json", options->is_json, "Print JSON");
    command->footer(
        footer("  sdpa run graph.json\n  sdpa run graph.json --target cuda --verify\n"
               "  sdpa run graph.json --data Q=q.npy --save tensors",
               "0: it ran, and the results are right if they were compared; 1: there is no plan, or a result "
               "is wrong"));
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sdpa
