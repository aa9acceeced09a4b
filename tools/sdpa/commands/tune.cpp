// sdpa tune: the times of all candidates of a graph, and the plan that is chosen by them.
#include "data/data.h"
#include "graph_arguments.h"
#include "output.h"
#include "plan_store_option.h"
#include "progress.h"
#include "timing/timing.h"

#include <algorithm>
#include <filesystem>
#include <memory>

namespace sdpa {
namespace {

namespace fs = std::filesystem;

struct Tune_options {
    std::vector<std::string> paths;
    std::string target = "cuda", store, out;
    Timing_options timing;
    bool has_programs = false, is_json = false;
};

struct Timed {
    std::int64_t index = 0;
    std::string plan, refusal;  // a refusal is of a candidate that could not be built
    Times times;

    bool has_times() const { return !times.milliseconds.empty(); }
    double median() const { return times.at(0.5); }
};

struct Tuned {
    std::string graph, refusal;
    std::vector<Timed> candidates;  // the fastest first, then those without a plan
    std::string usual;              // the plan that build() chooses
    std::string chosen;             // the fastest, where it is clearly faster than the usual one, else that
    std::string file;               // with the chosen plan

    Timed const* timed(std::string const& plan) const {
        auto const found = std::find_if(candidates.begin(), candidates.end(), [&](Timed const& candidate) {
            return candidate.has_times() && candidate.plan == plan;
        });
        return found == candidates.end() ? nullptr : &*found;
    }
    Timed const& fastest() const { return candidates.front(); }
    bool has_plan() const { return !candidates.empty() && fastest().has_times(); }
    // The ratio of the times of the usual plan and the fastest; 1 where the usual one was no candidate.
    double ratio() const {
        Timed const* const base = timed(usual);
        return base == nullptr ? 1.0 : base->median() / fastest().median();
    }
    bool is_clear() const { return chosen != usual; }
};

fe::error_t propose(fe::graph::Graph& graph, fe::Target const& target, bool has_programs) {
    if (has_programs)
        graph.set_rewrites({fe::Rewrite_t::FEW_QUERIES, fe::Rewrite_t::BANDS, fe::Rewrite_t::NEIGHBORHOOD_BAND,
                            fe::Rewrite_t::SLICES});
    fe::error_t error = graph.validate();
    if (error.is_good()) error = graph.build_operation_graph(target);
    if (error.is_good()) error = graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK});
    return error;
}

void write_plan(fe::graph::Graph const& graph, std::string const& path) {
    std::vector<std::uint8_t> bytes;
    require(graph.serialize(bytes));
    std::error_code failure;
    fs::create_directories(fs::path(path).parent_path(), failure);
    write_file(path, {{reinterpret_cast<char const*>(bytes.data()), bytes.size()}});
}

Timed time_candidate(Tune_options const& options, fe::Target const& target, fe::graph::Graph& graph, std::int64_t index,
                     Memories& memories, std::function<void(std::int64_t)> const& progress) {
    Timed timed;
    timed.index = index;
    fe::error_t const error = graph.build_plan_at_index(index);
    require(graph.get_plan_name_at_index(index, timed.plan));
    if (error.is_bad()) timed.refusal = error.get_message();
    else timed.times = time_runs(target, graph, memories, options.timing, progress);
    return timed;
}

// Chooses by the times, which also go to the plan store. Returns false where the usual plan is not among the
// candidates.
bool choose(Tuned& tuned, fe::graph::Graph& graph) {
    tuned.chosen = tuned.usual;
    Timed const* const usual = tuned.timed(tuned.usual);
    if (usual == nullptr) return false;
    std::vector<std::vector<double>> microseconds(tuned.candidates.size());
    for (Timed const& one : tuned.candidates) {
        for (double const time : one.times.milliseconds)
            microseconds[static_cast<std::size_t>(one.index)].push_back(1e3 * time);
    }
    require(graph.build_plan_at_index(usual->index));
    require(graph.choose_plan_by_times(microseconds));
    require(graph.get_plan_name(tuned.chosen));
    return true;
}

Tuned tune(Tune_options const& options, Graph_file const& file, fe::Target const& target, Progress& progress) {
    Json const document = with_uids(file.document);
    Tuned tuned{file.name, {}, {}, {}, {}, {}};
    fe::graph::Graph usual, graph;
    require(graph_of(document, usual));
    require(graph_of(document, graph));
    progress.show("planning " + file.name);
    fe::error_t error = usual.build(target);
    if (error.is_good()) error = propose(graph, target, options.has_programs);
    if (error.is_bad()) {
        tuned.refusal = error.get_message();
        return tuned;
    }
    require(usual.get_plan_name(tuned.usual));
    Memories memories = make_data(document, usual, {1, true, false});
    std::int64_t const count = graph.get_execution_plan_count();
    for (std::int64_t i = 0; i < count; ++i) {
        std::string const place = file.name + ": candidate " + std::to_string(i + 1) + " of " + std::to_string(count);
        tuned.candidates.push_back(time_candidate(options, target, graph, i, memories, [&](std::int64_t run) {
            progress.show(place + ", run " + std::to_string(run) + " of at most " +
                          std::to_string(options.timing.runs));
        }));
    }
    std::stable_sort(tuned.candidates.begin(), tuned.candidates.end(), [](Timed const& one, Timed const& other) {
        if (!one.has_times() || !other.has_times()) return one.has_times() && !other.has_times();
        return one.median() < other.median();
    });
    bool const has_chosen = choose(tuned, graph);
    if (options.out.empty()) return tuned;
    tuned.file = (fs::path(options.out) / fs::path(file.name).filename().replace_extension(".plan")).string();
    write_plan(has_chosen ? graph : usual, tuned.file);
    return tuned;
}

std::string verdict_of(Tuned const& tuned) {
    std::string const& plan = tuned.fastest().plan;
    auto const others = std::count_if(tuned.candidates.begin() + 1, tuned.candidates.end(),
                                      [](Timed const& candidate) { return candidate.has_times(); });
    if (others == 0) return plan + " is the only candidate\n";
    if (plan == tuned.usual) return plan + ", which build() chooses, is the fastest\n";
    std::string const gain =
        number_text(tuned.ratio()) + " times as fast as " + tuned.usual + ", which build() chooses";
    if (tuned.is_clear()) return plan + " is the fastest, " + gain + "\n";
    return plan + " is " + gain + ": no more than their times differ from run to run\n";
}

std::string to_text(Tuned const& tuned) {
    if (!tuned.has_plan() && tuned.candidates.empty())
        return tuned.graph + " has no plan:\n" + indented(tuned.refusal, "  ");
    std::vector<std::vector<std::string>> cells = {{"candidate", "runs", "median", "least", "90 %", "ratio"}};
    std::string refusals;
    for (Timed const& one : tuned.candidates) {
        if (!one.has_times()) {
            refusals += "  " + one.plan + " has no plan: " + one.refusal + "\n";
            continue;
        }
        cells.push_back({one.plan, std::to_string(one.times.milliseconds.size()), number_text(one.median()) + " ms",
                         number_text(one.times.at(0.0)) + " ms", number_text(one.times.at(0.9)) + " ms",
                         number_text(one.median() / tuned.fastest().median())});
    }
    std::string text = tuned.graph + "\n" + table(cells, "  ") + refusals;
    if (tuned.has_plan()) text += "  " + verdict_of(tuned);
    return tuned.file.empty() ? text
                              : text + "  " + tuned.file + " has " + tuned.chosen + ", for Graph::deserialize()\n";
}

Json to_json(Tuned const& tuned) {
    Json rows = Json::array(), refusal = nullptr, fastest = nullptr, chosen = nullptr, file = nullptr;
    if (!tuned.refusal.empty()) refusal = tuned.refusal;
    if (tuned.has_plan()) fastest = tuned.fastest().plan;
    if (!tuned.chosen.empty()) chosen = tuned.chosen;
    if (!tuned.file.empty()) file = tuned.file;
    for (Timed const& one : tuned.candidates) {
        Json row = {{"plan", one.plan}, {"index", one.index}};
        if (one.has_times()) row.update({{"milliseconds", one.times.milliseconds}, {"median_ms", one.median()}});
        else row["refusal"] = one.refusal;
        rows.push_back(row);
    }
    Json json = {{"graph", tuned.graph},
                 {"refusal", refusal},
                 {"candidates", rows},
                 {"fastest", fastest},
                 {"usual", tuned.usual},
                 {"chosen", chosen},
                 {"ratio", tuned.has_plan() ? tuned.ratio() : 1.0},
                 {"is_clear", tuned.has_plan() && tuned.is_clear()},
                 {"file", file}};
    return json;
}

int run_tune(Tune_options const& options) {
    fe::Target const target = parse_target_to_run(options.target,
                                                  "sdpa plan, which compiles plans for it, and sdpa "
                                                  "explain, which lists the expected times");
    std::vector<Graph_file> const files = read_graphs(options.paths);
    choose_plan_store(options.store);
    Progress progress;
    Json list = Json::array();
    std::string text;
    bool have_all = true;
    for (Graph_file const& file : files) {
        Tuned const tuned = tune(options, file, target, progress);
        have_all = have_all && tuned.has_plan();
        list.push_back(to_json(tuned));
        text += to_text(tuned);
    }
    if (options.is_json) print_json(list);
    else print_text(text);
    return have_all ? kYes : kNo;
}

}  // namespace

void add_tune(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Tune_options>();
    CLI::App* const command =
        app.add_subcommand("tune", "Times all candidates of graphs, and keeps the times and the plan");
    add_graphs(*command, options->paths, "folders of them")->required();
    command->add_option("--target", options->target, "cuda, the GPU here; or cpu, reference")->capture_default_str();
    command->add_flag("--programs", options->has_programs,
                      "Also programs of rewrites that build() expects to be slower");
    command->add_option(
        "--out", options->out,
        "Write a plan of each graph into this folder, as NAME.plan: the fastest, if it is clearly faster than "
        "the one that build() chooses");
    command->add_option("--store", options->store,
                        "The plan store for what is compiled, and for the times, by which build() chooses from then "
                        "on; the default is SDPA_GRAPH_PLAN_STORE");
    command->add_option("--repeat", options->timing.runs, "The most runs of a candidate")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000000));
    command
        ->add_option("--seconds", options->timing.most_seconds,
                     "No further run of a candidate begins after these; three do")
        ->capture_default_str()
        ->check(at_least(0));
    command->add_flag("--json", options->is_json, "Print JSON");
    command->footer(
        footer("  sdpa tune graph.json\n  sdpa tune graphs --out plans --store store\n  sdpa tune graph.json --target "
               "cpu --programs",
               "0: all graphs have plans; 1: one has none; 130: interrupted, nothing was printed"));
    command->callback([options, &action] { action = [options] { return run_tune(*options); }; });
}

}  // namespace sdpa
