#include "plan/storage/stored_times.h"

#include "core/process/plan_store.h"
#include "core/text.h"
#include "json/graph_json.h"
#include "plan/shape_class.h"
#include "plan/storage/blob.h"
#include "plan/storage/store_entry.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

namespace cudnn_frontend::plan {
namespace {

constexpr char kEnding[] = ", times";                          // of environments
constexpr char kFormat[] = "times of candidates, 1\n";         // to be counted up where bytes get another meaning
constexpr std::size_t kLeastBytes = 6 * sizeof(std::int64_t);  // of a candidate: two lengths and its times

void add_microseconds(BlobWriter& bytes, double time) { bytes.number(std::bit_cast<std::int64_t>(time)); }
double microseconds(BlobReader& bytes) { return std::bit_cast<double>(bytes.number()); }

bool are_possible(MeasuredTimes const& times) {
    return times.least > 0.0 && times.least <= times.median && times.median <= times.greatest &&
           std::isfinite(times.greatest) && times.runs > 0;
}

// The settings on which plans depend, as far as they differ from the defaults.
std::string circumstances_of(PlanningInput const& input) {
    Settings const& settings = input.settings;
    std::string all;
    auto const add = [&all](std::string const& part) { all += (all.empty() ? "" : ", ") + part; };
    if (settings.sm_count != 0) add(core::text("at most ", settings.sm_count, " multiprocessors"));
    if (settings.sm_version != 0) add(core::text("version ", settings.sm_version));
    if (settings.dynamic_shapes) add("dynamic shapes");
    auto const policy = shape_policy_of(input.target, settings);
    if (policy == ShapePolicy_t::CLASSES) add("class of shapes");
    if (policy == ShapePolicy_t::ALL_SHAPES) add("all shapes");
    return all;
}

// The graph as far as its times depend on it.
std::string computation_of(nodes::GraphSpec graph) {
    for (nodes::TensorSpec& tensor : graph.tensors) tensor.uid.reset();
    return json::write_computation(std::move(graph));
}

std::string key_of(PlanningInput const& input) {
    return core::text(kFormat, circumstances_of(input), "\n", computation_of(input.graph.spec()));
}

// The place of the times in a whole key; nothing where it is of another graph.
std::optional<TimesInStore> place_of(std::string_view key, std::string const& computation) {
    std::string const graph = "\n" + computation, between = core::text(kEnding, "\n", kFormat);
    auto const end = key.find(between);
    bool const is_of_graph = end != std::string_view::npos && key.substr(end + between.size()).ends_with(graph);
    if (!is_of_graph) return std::nullopt;
    key.remove_suffix(graph.size());
    return TimesInStore{std::string(key.substr(0, end)), std::string(key.substr(end + between.size())), {}};
}

// A folder of the store; nothing where no times are kept.
std::optional<std::string> environment_of(PlanningInput const& input, Backends const& backends) {
    bool const has_store = !core::process::plan_store().folder.empty();
    if (!has_store || input.settings.group || input.settings.batch_invariant) return std::nullopt;
    for (Backend const* const backend : backends) {
        if (!backend->serves(input.target)) continue;
        if (auto const environment = backend->environment(input.target, input.settings)) return *environment + kEnding;
    }
    return std::nullopt;
}

bool is_deterministic(nodes::GraphSpec const& graph) {
    auto const asks = [](nodes::Node const& node) {
        auto const* const backward = std::get_if<nodes::SdpaBackwardFields>(&node.fields);
        auto const* const reduction = std::get_if<nodes::ReductionFields>(&node.fields);
        return (backward != nullptr && backward->deterministic) ||
               (reduction != nullptr && reduction->is_deterministic);
    };
    auto const nodes = every_node(graph);
    return std::any_of(nodes.begin(), nodes.end(), asks);
}

}  // namespace

std::string to_bytes(TimedCandidates const& all) {
    BlobWriter bytes;
    bytes.number(static_cast<std::int64_t>(all.size()));
    for (auto const& [backend, name, times] : all) {
        bytes.text(backend);
        bytes.text(name);
        for (double const time : {times.median, times.least, times.greatest}) add_microseconds(bytes, time);
        bytes.number(times.runs);
    }
    return bytes.take();
}

Result<TimedCandidates> read_times(std::string_view stored) {
    BlobReader bytes(stored);
    TimedCandidates all(bytes.count(kLeastBytes));
    for (auto& [backend, name, times] : all) {
        backend = bytes.text();
        name = bytes.text();
        for (double* const time : {&times.median, &times.least, &times.greatest}) *time = microseconds(bytes);
        times.runs = bytes.number();
    }
    bool const is_whole = bytes.is_done() && std::ranges::all_of(all, are_possible, &TimedCandidate::times);
    if (is_whole) return all;
    return error_t(error_code_t::INVALID_VALUE,
                   "found bytes that are no times of candidates; expected names, each with times in ascending order");
}

bool have_same_times(nodes::GraphSpec const& one, nodes::GraphSpec const& other) {
    // Dims distinguish most graphs, in a fraction of the time.
    auto const dim = &nodes::TensorSpec::dim;
    return std::ranges::equal(one.tensors, other.tensors, {}, dim, dim) && computation_of(one) == computation_of(other);
}

StoredTimes find_times(PlanningInput const& input, Backends const& backends) {
    auto const environment = environment_of(input, backends);
    // Most graphs of most stores have no times: writing their keys would take most of the time.
    if (!environment || !StoreEntry::may_have_any(*environment)) return {};
    auto const entry = StoreEntry::of({*environment}, key_of(input));
    auto const stored = entry ? entry->read() : std::nullopt;
    if (!stored) return {};
    if (is_deterministic(input.graph.spec()) && !entry->is_frozen()) {
        return {{},
                "the measured times of the plan store are not used: the graph asks for a deterministic algorithm, and "
                "the store is not frozen, so that a later measurement could change the plan"};
    }
    auto times = read_times(stored->bytes);
    if (times.is_good()) return {std::move(times).value(), {}};
    StoreEntry::report(*stored, times.error().err_msg);
    return {};
}

Result<std::vector<TimesInStore>> all_times(std::filesystem::path const& store, nodes::ValidatedGraph const& graph) {
    auto const files = files_of_store(store, folder_name(kEnding));
    if (files.is_bad()) return files.error();
    std::string const computation = computation_of(graph.spec());
    std::vector<TimesInStore> all;
    for (auto const& [key, bytes] : files.value()) {
        auto of_graph = place_of(key, computation);
        auto times = read_times(bytes);
        if (!of_graph || times.is_bad()) continue;
        of_graph->candidates = std::move(times).value();
        all.push_back(std::move(*of_graph));
    }
    std::ranges::sort(all, {},
                      [](TimesInStore const& times) { return std::tie(times.environment, times.circumstances); });
    return all;
}

bool keep_times(PlanningInput const& input, Backends const& backends, TimedCandidates const& session) {
    auto const environment = environment_of(input, backends);
    auto const entry = environment ? StoreEntry::of({*environment}, key_of(input)) : std::nullopt;
    if (entry) entry->write(to_bytes(session));
    return entry.has_value();
}

}  // namespace cudnn_frontend::plan
