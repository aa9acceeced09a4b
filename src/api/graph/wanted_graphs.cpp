#include "api/graph/wanted_graphs.h"

#include "core/hash.h"
#include "core/process/logging.h"
#include "json/graph_json.h"
#include "plan/storage/plan_folder.h"
#include "rewrite/rewrites/rewrites.h"

#include <cudnn_frontend/logging.h>
#include <sdpa_graph/plan_store.h>

#include <array>
#include <cstdio>
#include <filesystem>

namespace cudnn_frontend::api {

namespace fs = std::filesystem;

namespace {

std::string name_of(std::string const& json, bool is_class) {
    std::array<char, 24> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(core::hash_of_bytes(json)));
    return digits.data() + std::string(is_class ? sdpa_graph::kWantedClassEnding : ".json");
}

void keep(std::string const& folder, nodes::GraphSpec const& graph, bool is_class) {
    std::string const json = json::write_graph(graph);
    fs::path const path = fs::path(folder) / name_of(json, is_class);
    std::error_code ignored;
    if (fs::exists(path, ignored)) return;
    std::error_code const failure = plan::write_whole(path, {json});
    if (failure && isLoggingEnabled())
        core::log_line("plan store: '" + path.string() + "' could not be written: " + failure.message());
}

}  // namespace

void keep_wanted(nodes::GraphSpec const& graph, plan::Plan const& built) {
    std::string const folder = core::process::plan_store().wanted;
    if (folder.empty()) return;
    auto const program = built.info().program;
    bool const is_of_rank = program && !program->agreement.empty();
    if (!is_of_rank) return keep(folder, graph, program && program->name == rewrite::kNameOfClasses);
    // Without its group a rank's part is another attention: the attentions of its program are wanted.
    for (rewrite::Step const& step : program->steps) {
        if (auto const* attend = std::get_if<rewrite::Attend>(&step)) keep(folder, attend->graph->spec(), false);
    }
}

bool is_of_class(std::string const& file_name) { return file_name.ends_with(sdpa_graph::kWantedClassEnding); }

}  // namespace cudnn_frontend::api
