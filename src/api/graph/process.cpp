#include <cudnn_frontend/process.h>

#include "api/backends.h"
#include "api/graph/known_graphs.h"
#include "core/guard.h"
#include "core/process/process_settings.h"
#include "core/text_forms.h"
#include "rewrite/program_builder.h"

#include <cudnn_frontend/runtime.h>

namespace cudnn_frontend::runtime {

// The backends' graphs are dropped last, since known graphs refer to them. Without memory for these caches there is
// nothing to drop.
static void keep_at_most(std::size_t most) {
    static_cast<void>(core::guarded([&]() -> error_t {
        api::KnownGraphs::of_process().keep_at_most(most);
        plan::KnownPlans::of_process().keep_at_most(most);
        rewrite::keep_parts_at_most(most);
        for (plan::Backend const* const backend : api::backends()) backend->keep_at_most(most);
        return {};
    }));
}

std::string version_text(std::size_t version) { return core::version_text(version); }

void forget_graphs() { keep_at_most(0); }

std::size_t kept_graphs() { return core::process::kept_graphs.get(); }
void set_kept_graphs(std::size_t most) {
    core::process::kept_graphs.set(most);
    keep_at_most(most);
}

bool ignores_limits() { return core::process::ignores_limits.get(); }
void set_ignores_limits(bool is_on) { core::process::ignores_limits.set(is_on); }

bool checks_indices() { return core::process::checks_indices.get(); }
void set_checks_indices(bool is_on) { core::process::checks_indices.set(is_on); }

bool verifies_first_runs() { return core::process::verifies_first_runs.get(); }
void set_verifies_first_runs(bool is_on) { core::process::verifies_first_runs.set(is_on); }

std::int64_t replay_after() { return core::process::replay_after.get(); }
void set_replay_after(std::int64_t launches) { core::process::replay_after.set(launches); }

std::optional<ShapePolicy_t> shape_policy() { return core::process::shape_policy.get(); }
void set_shape_policy(std::optional<ShapePolicy_t> policy) {
    if (policy) core::process::shape_policy.set(policy);
    else core::process::shape_policy.reset();
}

error_t set_package_folders(std::vector<std::string> const& folders) {
    return core::guarded([&]() -> error_t {
        core::process::set_package_folders(folders);
        return {};
    });
}

}  // namespace cudnn_frontend::runtime
