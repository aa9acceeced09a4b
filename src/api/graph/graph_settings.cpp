// A graph's settings for its plans.
#include "api/graph/graph_impl.h"

#include <sdpa_graph/group.h>

#include <utility>

namespace cudnn_frontend::graph {

Graph& Graph::set_device_properties(std::shared_ptr<DeviceProperties const> properties) {
    Impl::completes(impl_, [&] { impl().settings.device = std::move(properties); });
    return *this;
}
Graph& Graph::set_sm_count(std::int32_t count) {
    Impl::completes(impl_, [&] { impl().settings.sm_count = count; });
    return *this;
}
Graph& Graph::set_sm_version(std::int32_t version) {
    Impl::completes(impl_, [&] { impl().settings.sm_version = version; });
    return *this;
}
Graph& Graph::set_dynamic_shape_enabled(bool is_enabled) {
    Impl::completes(impl_, [&] { impl().settings.dynamic_shapes = is_enabled; });
    return *this;
}
Graph& Graph::set_kernel_cache(std::shared_ptr<KernelCache> cache) {
    Impl::completes(impl_, [&] { impl().settings.kernel_cache = std::move(cache); });
    return *this;
}
Graph& Graph::set_override_shape_enabled(bool is_enabled) {
    Impl::completes(impl_, [&] { impl().settings.override_shapes = is_enabled; });
    return *this;
}

Graph& Graph::deselect_workspace_greater_than(std::int64_t const bytes) {
    Impl::completes(impl_, [&] { impl().settings.filters.largest_workspace = bytes; });
    return *this;
}
Graph& Graph::deselect_shared_mem_greater_than(std::int64_t const bytes) {
    Impl::completes(impl_, [&] { impl().settings.filters.largest_shared_memory = bytes; });
    return *this;
}

Graph& Graph::set_workspace_limit(std::int64_t const bytes) {
    Impl::completes(impl_, [&] {
        impl().settings.filters.largest_workspace = bytes;
        impl().settings.slices_for_workspace = true;
    });
    return *this;
}
Graph& Graph::set_first_run_verification(bool const is_on) {
    Impl::completes(impl_, [&] { impl().first_run_verification = is_on; });
    return *this;
}
Graph& Graph::set_batch_invariant(bool const is_on) {
    Impl::completes(impl_, [&] { impl().settings.batch_invariant = is_on; });
    return *this;
}
Graph& Graph::set_shape_policy(ShapePolicy_t const policy) {
    Impl::completes(impl_, [&] { impl().settings.shape_policy = policy; });
    return *this;
}
Graph& Graph::set_rewrites(RewritePolicy_t const policy) {
    Impl::completes(impl_, [&] { impl().settings.rewrites = {policy, {}}; });
    return *this;
}
Graph& Graph::set_rewrites(std::vector<Rewrite_t> const& rewrites) {
    Impl::completes(impl_, [&] { impl().settings.rewrites.listed = rewrites; });
    return *this;
}

Graph& Graph::set_group(sdpa_graph::Group const& group, sdpa_graph::Layout const& layout) {
    return set_group(group, layout, {});
}
Graph& Graph::set_group(sdpa_graph::Group const& group, sdpa_graph::Layout const& layout,
                        sdpa_graph::Group_options const& options) {
    Impl::completes(impl_, [&] {
        bool const has_keys = options.keys.ranks() > 0;
        impl().settings.group = std::make_shared<group::Task const>(
            group::Task{sdpa_graph::detail::Group_access::transport(group), layout, has_keys ? options.keys : layout,
                        options.way, options.stages});
    });
    return *this;
}

template <class Entry>
static void append(std::vector<Entry>& all, std::vector<Entry> const& more) {
    all.insert(all.end(), more.begin(), more.end());
}

Graph& Graph::deselect_engines(std::vector<std::string> const& parts_of_names) {
    Impl::completes(impl_, [&] { append(impl().settings.filters.barred_names, parts_of_names); });
    return *this;
}
Graph& Graph::select_behavior_notes(std::vector<BehaviorNote_t> const& notes) {
    Impl::completes(impl_, [&] { append(impl().settings.filters.required_behavior, notes); });
    return *this;
}
Graph& Graph::deselect_behavior_notes(std::vector<BehaviorNote_t> const& notes) {
    Impl::completes(impl_, [&] { append(impl().settings.filters.barred_behavior, notes); });
    return *this;
}
Graph& Graph::select_numeric_notes(std::vector<NumericalNote_t> const& notes) {
    Impl::completes(impl_, [&] { append(impl().settings.filters.required_numerics, notes); });
    return *this;
}
Graph& Graph::deselect_numeric_notes(std::vector<NumericalNote_t> const& notes) {
    Impl::completes(impl_, [&] { append(impl().settings.filters.barred_numerics, notes); });
    return *this;
}

}  // namespace cudnn_frontend::graph
