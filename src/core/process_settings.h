// The settings of <cudnn_frontend/process.h>, for every layer.
#pragma once

#include <atomic>
#include <cstddef>

namespace cudnn_frontend::core::process {

// What the program said, else what the environment says now.
template <class T>
class Setting {
   public:
    explicit constexpr Setting(T (*of_environment)()) : of_environment_(of_environment) {}

    T get() const { return is_said_ ? said_.load() : of_environment_(); }
    void set(T value) {
        said_ = value;
        is_said_ = true;
    }

   private:
    T (*of_environment_)();
    std::atomic<T> said_{};
    std::atomic<bool> is_said_{false};
};

extern Setting<std::size_t> kept_graphs;
extern Setting<bool> ignores_limits;
extern Setting<bool> checks_indices;

}  // namespace cudnn_frontend::core::process
