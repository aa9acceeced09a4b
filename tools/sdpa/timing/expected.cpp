#include "timing/expected.h"

#include "data/data.h"
#include "output.h"
#include "progress.h"
#include "timing/roofline.h"

#include <algorithm>

namespace sdpa {
namespace {

bool has_lengths_in_data(Json const& document) {
    auto const is_packed = [](Json const& tensor) { return tensor.contains("ragged_offset"); };
    if (std::ranges::any_of(document.at("tensors"), is_packed)) return true;
    return std::ranges::any_of(document.at("nodes"), [](Json const& node) {
        auto const inputs = member(node, "inputs").items();
        return std::any_of(inputs.begin(), inputs.end(), [](auto const& input) {
            return input.key().find("seq_len") != std::string::npos || input.key().starts_with("page_table");
        });
    });
}

Work work_of_graph(Json const& document) {
    if (has_lengths_in_data(document)) return {};
    Json const named = with_uids(document);
    fe::graph::Graph graph;
    require(graph_of(named, graph));
    if (graph.build(fe::Target::reference()).is_bad()) return {};
    return work_of(with_dims(named, graph), describe_tensors(named, graph));
}

double least_us(std::string const& device, Work const& work) {
    auto const roofline = roofline_of(fe::DeviceProperties::named(device));
    return roofline && work.operations > 0.0 ? 1e6 * least_seconds(*roofline, work) : 0.0;
}

Expected_time expected_on(std::string const& device, Graph_file const& file) {
    fe::Explanation const explanation = file.graph.explain(fe::Target::offline(device), 0);
    Expected_time time{device, explanation.plan, {}, expected_us_of(explanation), 0.0};
    if (!explanation.has_plan()) time.refusal = explanation.refusal.get_message();
    return time;
}

}  // namespace

double expected_us_of(fe::Explanation const& explanation) {
    for (fe::Plan_candidate const& candidate : explanation.candidates.candidates) {
        if (candidate.state == fe::CandidateState::RUNS) return candidate.estimated_us;
    }
    return 0.0;
}

std::string us_text(double us) { return us > 0.0 ? number_text(us) + " us" : "-"; }

std::vector<Expected_time> expected_times(Graph_file const& file) {
    Progress progress;
    Work const work = work_of_graph(file.document);
    std::vector<Expected_time> times;
    for (std::string const& device : fe::DeviceProperties::names()) {
        progress.show("planning for " + device);
        times.push_back(expected_on(device, file));
        if (times.back().refusal.empty()) times.back().least_us = least_us(device, work);
    }
    return times;
}

std::string to_text(std::vector<Expected_time> const& times) {
    std::vector<std::vector<std::string>> rows = {{"GPU", "expected", "at least", "plan"}};
    for (Expected_time const& time : times) {
        std::string const refusal = "none, sdpa explain --for " + time.device + " says why";
        rows.push_back({time.device, us_text(time.expected_us), us_text(time.least_us),
                        time.refusal.empty() ? time.plan : refusal});
    }
    return table(rows, "  ");
}

Json to_json(std::vector<Expected_time> const& times) {
    auto const known = [](double us) { return us > 0.0 ? Json(us) : Json(); };
    Json all = Json::object();
    for (Expected_time const& time : times) {
        all[time.device] = {{"plan", time.plan.empty() ? Json() : Json(time.plan)},
                            {"refusal", time.refusal.empty() ? Json() : Json(time.refusal)},
                            {"expected_us", known(time.expected_us)},
                            {"least_us", known(time.least_us)}};
    }
    return all;
}

}  // namespace sdpa
