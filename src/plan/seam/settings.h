// The user's settings for plans: filters of engines, and the device.
#pragma once

#include "core/text.h"
#include "group/task.h"
#include "rewrite/offers.h"

#include <cudnn_frontend/planning.h>
#include <cudnn_frontend/types.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudnn_frontend::plan {

// The modes in which engines are proposed to a program that names none.
inline std::vector<HeurMode_t> default_modes() { return {HeurMode_t::A, HeurMode_t::FALLBACK}; }

struct Filters {
    std::optional<std::int64_t> largest_workspace;      // bytes
    std::optional<std::int64_t> largest_shared_memory;  // bytes
    std::vector<std::string> barred_names;              // parts of plan names
    std::vector<BehaviorNote_t> required_behavior, barred_behavior;
    std::vector<NumericalNote_t> required_numerics, barred_numerics;

    friend bool operator==(Filters const&, Filters const&) = default;
};

struct Settings {
    Filters filters;
    std::shared_ptr<DeviceProperties const> device;
    std::int32_t sm_count = 0;    // 0: all that the device has
    std::int32_t sm_version = 0;  // 0: the device's
    bool dynamic_shapes = false;
    bool override_shapes = false;
    std::shared_ptr<KernelCache> kernel_cache;
    std::optional<ShapePolicy_t> shape_policy;  // else the process's
    rewrite::Wishes rewrites;
    bool slices_for_workspace = false;         // rather than exceed the filter's limit
    bool batch_invariant = false;              // a row's bits depend on its own sequence alone
    std::shared_ptr<group::Task const> group;  // null: the graph is a whole attention
};

// Whether a call of execute() may give other shapes than the graph's own. A group's plans are for one shape.
inline bool runs_other_shapes(Settings const& settings) {
    return settings.override_shapes || (settings.dynamic_shapes && settings.group == nullptr);
}

// The attentions of a program are neither rewritten, nor put into a class, nor computed by a group again.
inline Settings settings_of_parts(Settings settings) {
    settings.rewrites = rewrite::no_rewrites();
    settings.shape_policy = ShapePolicy_t::EXACT;
    settings.filters = {};
    settings.group = nullptr;
    return settings;
}

// A limit of workspace is for all attentions of a program together; the other filters also bar engines of each.
inline Filters filters_of_parts(Filters filters) {
    filters.largest_workspace.reset();
    return filters;
}

// More multiprocessors than a device has stand for all of them.
inline error_t check_sm_count(Settings const& settings) {
    if (settings.sm_count >= 0) return {};
    return {error_code_t::INVALID_VALUE,
            core::text("set_sm_count(", settings.sm_count,
                       ") was called; expected a number of multiprocessors, or 0 for all of them")};
}

// How many of a device's multiprocessors plans are made for.
inline int multiprocessors_of(int device, Settings const& settings) {
    return settings.sm_count > 0 ? std::min(device, settings.sm_count) : device;
}

}  // namespace cudnn_frontend::plan
