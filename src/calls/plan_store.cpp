#include "calls/plan_store.h"

#include "calls/environment_of_plans.h"
#include "core/process/environment.h"
#include "core/process/logging.h"

#include <cudnn_frontend/logging.h>
#include <sdpa_graph/plan_store.h>

#include <mutex>
#include <optional>
#include <utility>

namespace sdpa_graph {
namespace {

namespace fe = cudnn_frontend;

struct Chosen_store {
    std::mutex mutex;
    std::optional<Plan_store> store;
};

Chosen_store& chosen_store() {
    static auto* const chosen = new Chosen_store();  // never destroyed: programs may still call
    return *chosen;
}

void write_to_log(std::string const& text) {
    if (fe::isLoggingEnabled()) fe::core::log_line(text);
}

}  // namespace

Plan_store plan_store() {
    namespace environment = fe::core::environment;
    Chosen_store& chosen = chosen_store();
    std::lock_guard const lock(chosen.mutex);
    if (!chosen.store) chosen.store = Plan_store{environment::plan_store(), environment::is_plan_store_frozen()};
    return *chosen.store;
}

void set_plan_store(Plan_store const& store) {
    Chosen_store& chosen = chosen_store();
    std::lock_guard const lock(chosen.mutex);
    chosen.store = store;
}

namespace calls {

std::optional<StoredPlan> StoredPlan::of(fe::graph::Graph const& described, fe::Target const& target,
                                         std::int32_t device) {
    if (target.kind() != fe::Target::Kind::CUDA) return std::nullopt;
    Plan_store const store = plan_store();
    if (store.folder.empty()) return std::nullopt;
    auto const environment = environment_of_plans(device);
    std::string json;
    if (environment.is_bad() || described.serialize(json).is_bad()) return std::nullopt;
    auto const& [folder, text] = environment.value();
    return StoredPlan(PlanFolder(std::filesystem::path(store.folder) / folder), text + "\n" + json, store.is_frozen);
}

bool StoredPlan::load(fe::graph::Graph& graph, fe::Target const& target) const {
    auto const bytes = folder_.read(key_);
    if (bytes.is_bad()) {
        write_to_log(bytes.error().err_msg);
        return false;
    }
    fe::graph::Graph loaded;
    fe::error_t const failure = loaded.deserialize(target.handle(), bytes.value());
    if (failure.is_bad()) {
        std::string const file = folder_.file_of(key_).string();
        write_to_log("plan store: '" + file + "' was not loaded: " + failure.err_msg);
        return false;
    }
    graph = std::move(loaded);
    return true;
}

void StoredPlan::store(fe::graph::Graph const& built) const {
    if (is_frozen_) return;
    std::vector<std::uint8_t> bytes;
    fe::error_t failure = built.serialize(bytes);
    if (failure.is_good()) failure = folder_.write(key_, bytes);
    if (failure.is_bad()) write_to_log(failure.err_msg);
}

}  // namespace calls
}  // namespace sdpa_graph
