// sdpa bench: the times of graphs, side by side.
#include "data/data.h"
#include "graph_arguments.h"
#include "output.h"
#include "progress.h"
#include "timing/roofline.h"
#include "timing/timing.h"

#include <cudnn_frontend/process.h>
#include <cudnn_frontend/stored_plan.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace sdpa {
namespace {

struct Bench_options {
    std::vector<std::string> paths, targets = {"cpu"}, policies = {"exact"};
    std::string roofline;
    Timing_options timing;
    bool is_json = false;
};

// A graph to measure, or a stored plan with its graph.
struct Subject {
    std::string name;
    Json document;
    std::optional<fe::Stored_plan> plan;
    std::vector<std::uint8_t> bytes;  // of the plan
};

// One graph on one target under one policy.
struct Row {
    std::string graph, target, policy;
    std::string plan, refusal;  // one of them
    Times times;
    Work work;
    std::optional<Roofline> roofline;
    double ratio = 1.0;  // of its median to that of the row with which it is compared

    bool has_times() const { return !times.milliseconds.empty(); }
    double seconds() const { return times.at(0.5) * 1e-3; }
};

std::map<std::string, fe::ShapePolicy_t> const& policies() {
    using enum fe::ShapePolicy_t;
    static std::map<std::string, fe::ShapePolicy_t> const all{
        {"exact", EXACT}, {"classes", CLASSES}, {"all_shapes", ALL_SHAPES}};
    return all;
}

std::optional<Roofline> roofline_of(Bench_options const& options, fe::Target const& target) {
    if (!options.roofline.empty()) {
        fe::DeviceProperties const device = fe::DeviceProperties::named(options.roofline);
        require(device.status());
        if (auto const roofline = sdpa::roofline_of(device)) return roofline;
        throw Failure("--roofline", options.roofline + ", whose rate of products is not known here",
                      "a100, h100, h200 or b200");
    }
    if (target.kind() != fe::Target::Kind::CUDA) return std::nullopt;
    fe::DeviceProperties device;
    require(device.set_handle(target.handle()).build());
    return sdpa::roofline_of(device);
}

Subject read_subject(std::string const& path) {
    std::string const name = name_of(path), bytes = read_bytes(path);
    auto plan = parse_stored_plan(name, bytes);
    if (!plan) return {name, with_uids(parse_graph(name, bytes).document), {}, {}};
    Json const document = parse_graph(name, plan->graph).document;
    if (document != with_uids(document))
        throw Failure(name, "a plan with tensors that have no uid, to which no memory can be bound", "uids",
                      "sdpa plan --out, which gives them");
    return {name, document, std::move(plan), {bytes.begin(), bytes.end()}};
}

fe::error_t load_plan(Subject const& subject, fe::Target const& target, fe::graph::Graph& graph) {
    fe::Target::Kind const kind = subject.plan->target;
    if (kind != target.kind() && (runs_on_host(kind) || runs_on_host(target.kind())))
        return {fe::error_code_t::GRAPH_NOT_SUPPORTED, std::string("the plan is for the target ") + to_string(kind)};
    return graph.deserialize(target.handle(), subject.bytes);
}

Row measure(Bench_options const& options, Subject const& subject, fe::Target const& target, Row row,
            Progress& progress) {
    fe::graph::Graph graph;
    require(graph_of(subject.document, graph));
    if (!subject.plan) graph.set_shape_policy(policies().at(row.policy));
    std::string const name = row.graph + " on " + row.target;
    progress.show("building " + name);
    fe::error_t const error = subject.plan ? load_plan(subject, target, graph) : graph.build(target);
    if (error.is_bad()) {
        row.refusal = error.get_message();
        return row;
    }
    require(graph.get_plan_name(row.plan));
    Memories memories = make_data(subject.document, graph, {1, true, false});
    row.work = work_of(with_dims(subject.document, graph), memories);
    row.roofline = roofline_of(options, target);
    row.times = time_runs(target, graph, memories, options.timing, [&](std::int64_t run) {
        progress.show(name + ": run " + std::to_string(run) + " of at most " + std::to_string(options.timing.runs));
    });
    return row;
}

// A row is compared with the first of its graph, or, where each graph has one, with the first of all.
void compare(std::vector<Row>& rows, bool has_one_each) {
    for (Row& row : rows) {
        auto const base = std::find_if(rows.begin(), rows.end(), [&](Row const& other) {
            return other.has_times() && (has_one_each || other.graph == row.graph);
        });
        if (row.has_times() && base != rows.end()) row.ratio = row.seconds() / base->seconds();
    }
}

std::vector<Row> measure_all(Bench_options const& options) {
    std::vector<Subject> subjects;
    for (std::string const& path : options.paths) subjects.push_back(read_subject(path));
    std::vector<fe::Target> targets;
    for (std::string const& name : options.targets) targets.push_back(parse_target_to_run(name, "sdpa explain"));
    bool const has_gpu = std::any_of(targets.begin(), targets.end(),
                                     [](fe::Target const& target) { return target.kind() == fe::Target::Kind::CUDA; });
    if (options.timing.has_cold_cache && !has_gpu)
        throw Failure("--cold", "no target cuda", "one, whose L2 cache is flushed", "--target cuda, or leave it out");
    Progress progress;
    std::vector<Row> rows;
    for (Subject const& subject : subjects) {
        for (std::size_t i = 0; i < targets.size(); ++i) {
            for (std::string const& policy : subject.plan ? std::vector<std::string>{"stored"} : options.policies) {
                Row row{subject.name, options.targets[i], policy, {}, {}, {}, {}, {}, 1.0};
                rows.push_back(measure(options, subject, targets[i], std::move(row), progress));
            }
        }
    }
    compare(rows, options.targets.size() * options.policies.size() == 1);
    return rows;
}

// Columns and rows of the table, without the columns in which no row has anything.
std::vector<std::vector<std::string>> without_empty_columns(std::vector<std::vector<std::string>> const& cells) {
    std::vector<std::vector<std::string>> kept(cells.size());
    for (std::size_t column = 0; column < cells.front().size(); ++column) {
        bool const is_used = std::any_of(cells.begin() + 1, cells.end(),
                                         [&](auto const& row) { return row.size() > column && !row[column].empty(); });
        for (std::size_t row = 0; is_used && row < cells.size(); ++row) kept[row].push_back(cells[row][column]);
    }
    return kept;
}

std::vector<std::string> cells_of(Row const& row, bool has_policies, bool has_ratios) {
    std::string const policy = has_policies ? row.policy : "";
    if (!row.has_times()) return {row.graph, row.target, policy, "none", "", "", "", "", "", "", "", ""};
    double const seconds = row.seconds();
    std::string const rate = row.work.operations > 0.0 ? number_text(row.work.operations / seconds * 1e-12) : "";
    std::string const share =
        row.roofline ? number_text(100.0 * least_seconds(*row.roofline, row.work) / seconds) + " %" : "";
    return {row.graph,
            row.target,
            policy,
            row.plan,
            std::to_string(row.times.milliseconds.size()),
            number_text(row.times.at(0.5)) + " ms",
            number_text(row.times.at(0.0)) + " ms",
            number_text(row.times.at(0.9)) + " ms",
            rate,
            number_text(row.work.bytes / seconds * 1e-12),
            share,
            has_ratios ? number_text(row.ratio) : ""};
}

std::string to_text(std::vector<Row> const& rows, Bench_options const& options) {
    std::vector<std::vector<std::string>> cells = {{"graph", "target", "policy", "plan", "runs", "median", "least",
                                                    "90 %", "TFLOP/s", "TB/s", "of roofline", "ratio"}};
    bool counts_hidden = false;
    std::string refusals;
    for (Row const& row : rows) {
        cells.push_back(cells_of(row, options.policies.size() > 1, rows.size() > 1));
        counts_hidden |= row.work.counts_hidden;
        if (!row.has_times())
            refusals += row.graph + " has no plan on " + row.target + ":\n" + indented(row.refusal, "  ");
    }
    std::string text = table(without_empty_columns(cells));
    if (counts_hidden) text += "TFLOP/s count what a block mask or a score modifier hides as visible\n";
    return text + refusals;
}

Json to_json(Row const& row) {
    Json json = {{"graph", row.graph}, {"target", row.target}, {"policy", row.policy}};
    if (!row.has_times()) {
        json["refusal"] = row.refusal;
        return json;
    }
    Json share = nullptr;
    if (row.roofline) share = least_seconds(*row.roofline, row.work) / row.seconds();
    json.update({{"plan", row.plan},
                 {"milliseconds", row.times.milliseconds},
                 {"median_ms", row.times.at(0.5)},
                 {"least_ms", row.times.at(0.0)},
                 {"p90_ms", row.times.at(0.9)},
                 {"operations", row.work.operations},
                 {"counts_hidden", row.work.counts_hidden},
                 {"bytes", row.work.bytes},
                 {"tflop_per_s", row.work.operations / row.seconds() * 1e-12},
                 {"tb_per_s", row.work.bytes / row.seconds() * 1e-12},
                 {"share_of_roofline", share},
                 {"ratio", row.ratio}});
    return json;
}

int run_bench(Bench_options const& options) {
    std::vector<Row> const rows = measure_all(options);
    Json list = Json::array();
    for (Row const& row : rows) list.push_back(to_json(row));
    if (options.is_json) print_json({{"cold", options.timing.has_cold_cache}, {"rows", list}});
    else print_text(to_text(rows, options));
    bool const have_all = std::all_of(rows.begin(), rows.end(), [](Row const& row) { return row.has_times(); });
    return have_all ? kYes : kNo;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Bench_options>();
    CLI::App* const command =
        app.add_subcommand("bench", "Measured times of graphs, plans, targets and policies, side by side");
    add_graphs(*command, options->paths, "stored plans")->required();
    command->add_option("--target", options->targets, "cpu, reference or cuda; several are compared")
        ->capture_default_str()
        ->allow_extra_args(false);
    command
        ->add_option("--policy", options->policies,
                     "exact; classes: plans for many shapes; or all_shapes: an engine for them; several are compared")
        ->capture_default_str()
        ->allow_extra_args(false)
        ->check(CLI::IsMember(policies()));
    command->add_option("--repeat", options->timing.runs, "The most runs that are measured")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000000));
    command->add_option("--seconds", options->timing.most_seconds, "No further run begins after these; three do")
        ->capture_default_str()
        ->check(at_least(0));
    command->add_flag("--cold", options->timing.has_cold_cache, "On a GPU, flush its L2 cache before each run");
    command->add_option("--roofline", options->roofline, "The described GPU to compare with; else the target's own")
        ->check(CLI::IsMember(fe::DeviceProperties::names()));
    command->add_flag("--json", options->is_json, "Print JSON");
    command->footer(
        footer("  sdpa bench a.json b.json\n  sdpa bench old.plan new.plan --target cuda\n  sdpa bench a.json --target "
               "cuda --policy exact --policy "
               "classes --cold",
               "0: all graphs ran; 1: one has no plan; 130: interrupted, nothing was printed"));
    command->callback([options, &action] { action = [options] { return run_bench(*options); }; });
}

}  // namespace sdpa
