#include <sdpa_graph/plan_store.h>

#include "api/graph/graph_impl.h"
#include "api/graph/wanted_graphs.h"
#include "core/guard.h"
#include "core/process/plan_store.h"
#include "plan/storage/plan_folder.h"
#include "plan/storage/stored_times.h"

#include <cudnn_frontend/graph.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace sdpa_graph {

namespace fe = cudnn_frontend;
namespace fs = std::filesystem;
namespace process = fe::core::process;

Plan_store plan_store() {
    auto const store = process::plan_store();
    return {store.folder, store.is_frozen, store.wanted};
}

void set_plan_store(Plan_store const& store) { process::set_plan_store({store.folder, store.is_frozen, store.wanted}); }

namespace {

fe::error_t build_for(fs::path const& file, fe::Target const& target) {
    std::ifstream stream(file, std::ios::binary);
    std::string const json{std::istreambuf_iterator<char>(stream), {}};
    fe::graph::Graph graph;
    SDPA_GRAPH_TRY(graph.deserialize(json));
    bool const is_class = fe::api::is_of_class(file.filename().string());
    graph.set_shape_policy(is_class ? fe::ShapePolicy_t::CLASSES : fe::ShapePolicy_t::EXACT);
    return graph.build(target);
}

}  // namespace

fe::error_t fill_plan_store(std::string const& wanted, std::string const& device, Filled_plans& filled) noexcept {
    return fe::core::guarded([&]() -> fe::error_t {
        Plan_store const store = plan_store();
        if (store.folder.empty() || store.is_frozen) {
            return {
                fe::error_code_t::INVALID_VALUE,
                "the process has no plan store that is written; make the folder that is to be filled its plan store "
                "first"};
        }
        SDPA_GRAPH_TRY(fe::plan::check_not_frozen(store.folder));
        std::error_code failure;
        std::vector<fs::path> files;
        for (fs::directory_iterator at(wanted, failure), end; !failure && at != end; at.increment(failure)) {
            if (at->path().extension() == ".json") files.push_back(at->path());
        }
        if (failure) {
            return {fe::error_code_t::INVALID_VALUE, "the folder '" + wanted + "' of wanted graphs cannot be read: " +
                                                         failure.message() + "; name one that a process filled"};
        }
        std::ranges::sort(files);
        auto const target = fe::Target::offline(device);
        auto const& counts = process::engine_counts_of_thread();
        auto const before = counts;
        for (fs::path const& file : files) {
            process::UnwrittenEntry unwritten;
            process::StoreWatch const watch(unwritten);
            fe::error_t const refusal = build_for(file, target);
            std::string reason = refusal.is_bad() ? refusal.get_message() : "";
            if (reason.empty() && !unwritten.reason.empty())
                reason = "it has a plan, which could not be stored: " + unwritten.reason;
            if (!reason.empty()) filled.refused.push_back(file.filename().string() + ": " + reason);
        }
        filled.compiled += counts.compiled_in_all() - before.compiled_in_all();
        filled.loaded += counts.loaded_in_all() - before.loaded_in_all();
        return {};
    });
}

fe::error_t find_stored_times(std::string const& folder, fe::graph::Graph const& graph,
                              std::vector<Stored_times>& found) noexcept {
    return fe::core::guarded([&]() -> fe::error_t {
        auto const checked = fe::nodes::check(fe::detail::Graph_access::snapshot(graph).spec);
        if (checked.is_bad()) return checked.error();
        auto const all = fe::plan::all_times(folder, checked.value().object->graph);
        if (all.is_bad()) return all.error();
        found.clear();
        for (fe::plan::TimesInStore const& one : all.value()) {
            Stored_times& times = found.emplace_back(Stored_times{one.environment, one.circumstances, {}});
            for (auto const& [backend, name, of_runs] : one.candidates) {
                times.candidates.push_back(
                    {backend, name, of_runs.median, of_runs.least, of_runs.greatest, of_runs.runs});
            }
        }
        return {};
    });
}

fe::error_t merge_plan_stores(std::string const& from, std::string const& into, std::int64_t& copied) noexcept {
    return fe::core::guarded([&] { return fe::plan::merge_stores(from, into).move_to(copied); });
}

fe::error_t prune_plan_store(std::string const& folder, std::uint64_t most_bytes, std::int64_t& removed) noexcept {
    return fe::core::guarded([&] { return fe::plan::prune_store(folder, most_bytes).move_to(removed); });
}

fe::error_t freeze_plan_store(std::string const& folder, bool is_frozen) noexcept {
    return fe::core::guarded([&] { return fe::plan::freeze_store(folder, is_frozen); });
}

bool is_plan_store_frozen(std::string const& folder) noexcept {
    return fe::core::guarded_or([](fe::error_t const&) { return false; },
                                [&] { return fe::plan::is_store_frozen(folder); });
}

}  // namespace sdpa_graph
