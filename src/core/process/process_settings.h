// The settings of <cudnn_frontend/process.h>, for every layer.
#pragma once

#include <cudnn_frontend/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudnn_frontend::core::process {

// The program's setting, else the environment's at the time when it was first needed: building a known graph is so fast
// that searching the environment each time would show.
template <class T>
class Setting {
   public:
    explicit constexpr Setting(T (*of_environment)()) : of_environment_(of_environment) {}

    T get() {
        if (is_said_) return said_;
        if (!is_read_) {
            read_ = of_environment_();
            is_read_ = true;
        }
        return read_;
    }
    void set(T value) {
        said_ = value;
        is_said_ = true;
    }
    void reset() { is_said_ = false; }

   private:
    T (*of_environment_)();
    std::atomic<T> read_{}, said_{};
    std::atomic<bool> is_read_{false}, is_said_{false};
};

extern Setting<std::size_t> kept_bytes;
extern Setting<bool> ignores_limits;
extern Setting<bool> checks_indices;
extern Setting<std::optional<ShapePolicy_t>> shape_policy;
extern Setting<std::int64_t> replay_after;
extern Setting<bool> verifies_first_runs;

// The folders of runtime::set_package_folders(); none until it is called.
std::vector<std::string> package_folders();
void set_package_folders(std::vector<std::string> const& folders);

}  // namespace cudnn_frontend::core::process
