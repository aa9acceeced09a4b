#include <cudnn_frontend/process.h>

#include "core/guard.h"
#include "core/process/kept_objects.h"
#include "core/process/process_settings.h"
#include "core/text.h"

#include <cudnn_frontend/runtime.h>

namespace cudnn_frontend::runtime {

using core::process::KeptKind;

// Without memory for the list of what goes, it stays.
void forget_graphs() {
    static_cast<void>(core::guarded([&]() -> error_t {
        KeptKind::forget_all();
        return {};
    }));
}

std::string version_text(std::size_t version) { return core::version_text(version); }

std::size_t kept_bytes() { return core::process::kept_bytes.get(); }
void set_kept_bytes(std::size_t most) {
    static_cast<void>(core::guarded([&]() -> error_t {
        KeptKind::set_budget(most);
        return {};
    }));
}
std::vector<Kept_statistics> kept_statistics() {
    return core::guarded_or([](error_t const&) { return std::vector<Kept_statistics>(); }, KeptKind::statistics);
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
