// The graph API: describe attention as a graph of tensors and nodes, build it for a target, run it.
#pragma once

#include "attributes.h"
#include "report.h"
#include "target.h"
#include "variant_pack.h"
#include "version.h"

#include <array>

namespace cudnn_frontend {
inline namespace v1 {

namespace detail {
struct Graph_access;
}

namespace graph {

enum class OperationsFormat { TEXT, DOT };

// Nodes and tensors are only ever added. A builder call never fails: what is wrong with its arguments is reported by
// validate(), together with everything else. Every stage can be called again and gives the same result; building again
// after a change plans the changed graph. Const members may be called from many threads at once.
class SDPA_GRAPH_API Graph {
   public:
    Graph();
    Graph(Graph const& other);  // shares the tensors
    Graph(Graph&& other) noexcept;
    Graph& operator=(Graph const& other);
    Graph& operator=(Graph&& other) noexcept;
    virtual ~Graph();

    // Defaults for tensors and nodes that name no type of their own.
    Graph& set_io_data_type(DataType_t const type);
    Graph& set_intermediate_data_type(DataType_t const type);
    Graph& set_compute_data_type(DataType_t const type);
    Graph& set_name(std::string const& name);

    std::shared_ptr<Tensor_attributes> tensor(Tensor_attributes const& attributes);
    template <class S>
    std::shared_ptr<Tensor_attributes> tensor(S const& value, ScalarType kind) {
        return tensor(Tensor_attributes(value, kind));
    }
    // A copy without uid, under another name.
    std::shared_ptr<Tensor_attributes> tensor_like(std::shared_ptr<Tensor_attributes> const& other,
                                                   std::string const& name = std::string());

    // {O, Stats}; Stats is null unless asked for.
    std::array<std::shared_ptr<Tensor_attributes>, 2> sdpa(std::shared_ptr<Tensor_attributes> const& q,
                                                           std::shared_ptr<Tensor_attributes> const& k,
                                                           std::shared_ptr<Tensor_attributes> const& v,
                                                           SDPA_attributes const& attributes);
    // {dQ, dK, dV}
    std::array<std::shared_ptr<Tensor_attributes>, 3> sdpa_backward(std::shared_ptr<Tensor_attributes> const& q,
                                                                    std::shared_ptr<Tensor_attributes> const& k,
                                                                    std::shared_ptr<Tensor_attributes> const& v,
                                                                    std::shared_ptr<Tensor_attributes> const& o,
                                                                    std::shared_ptr<Tensor_attributes> const& dO,
                                                                    std::shared_ptr<Tensor_attributes> const& stats,
                                                                    SDPA_backward_attributes const& attributes);
    // The older names of the two above.
    std::array<std::shared_ptr<Tensor_attributes>, 2> scaled_dot_product_flash_attention(
        std::shared_ptr<Tensor_attributes> const& q, std::shared_ptr<Tensor_attributes> const& k,
        std::shared_ptr<Tensor_attributes> const& v, SDPA_attributes const& attributes);
    std::array<std::shared_ptr<Tensor_attributes>, 3> scaled_dot_product_flash_attention_backward(
        std::shared_ptr<Tensor_attributes> const& q, std::shared_ptr<Tensor_attributes> const& k,
        std::shared_ptr<Tensor_attributes> const& v, std::shared_ptr<Tensor_attributes> const& o,
        std::shared_ptr<Tensor_attributes> const& dO, std::shared_ptr<Tensor_attributes> const& stats,
        SDPA_backward_attributes const& attributes);

    std::shared_ptr<Tensor_attributes> pointwise(std::shared_ptr<Tensor_attributes> const& in_0,
                                                 Pointwise_attributes const& attributes);
    std::shared_ptr<Tensor_attributes> pointwise(std::shared_ptr<Tensor_attributes> const& in_0,
                                                 std::shared_ptr<Tensor_attributes> const& in_1,
                                                 Pointwise_attributes const& attributes);
    std::shared_ptr<Tensor_attributes> pointwise(std::shared_ptr<Tensor_attributes> const& in_0,
                                                 std::shared_ptr<Tensor_attributes> const& in_1,
                                                 std::shared_ptr<Tensor_attributes> const& in_2,
                                                 Pointwise_attributes const& attributes);
    std::shared_ptr<Tensor_attributes> matmul(std::shared_ptr<Tensor_attributes> const& a,
                                              std::shared_ptr<Tensor_attributes> const& b,
                                              Matmul_attributes const& attributes);
    std::shared_ptr<Tensor_attributes> reduction(std::shared_ptr<Tensor_attributes> const& x,
                                                 Reduction_attributes const& attributes);

    // All findings of all rules. Looks at nothing but the graph and changes nothing.
    Report check() const;
    // The same as an error; on success also fills what was inferred into tensors where the user left it empty.
    error_t validate();

    // The stages of build(), in order. The forms with a handle plan for cuDNN.
    error_t build_operation_graph(Target const& target);
    error_t build_operation_graph(cudnnHandle_t handle);
    error_t build_operation_graph();
    error_t create_execution_plans(std::vector<HeurMode_t> const& modes);
    error_t check_support();
    error_t check_support(cudnnHandle_t handle);
    error_t build_plans(BuildPlanPolicy_t const policy = BuildPlanPolicy_t::HEURISTICS_CHOICE,
                        bool const multithreaded = false);
    error_t build_plans(cudnnHandle_t const& handle,
                        BuildPlanPolicy_t const policy = BuildPlanPolicy_t::HEURISTICS_CHOICE,
                        bool const multithreaded = false);

    error_t build(Target const& target);
    error_t build(cudnnHandle_t const& handle, std::vector<HeurMode_t> const& modes,
                  BuildPlanPolicy_t const policy = BuildPlanPolicy_t::HEURISTICS_CHOICE,
                  bool const multithreaded = false);
    error_t build(std::vector<HeurMode_t> const& modes,
                  BuildPlanPolicy_t const policy = BuildPlanPolicy_t::HEURISTICS_CHOICE,
                  bool const multithreaded = false);

    std::int64_t get_execution_plan_count() const;
    error_t get_plan_name(std::string& name) const;
    error_t get_behavior_notes(std::vector<BehaviorNote_t>& notes) const;  // CPU plans have none
    std::int64_t get_workspace_size() const;                               // 0 before a plan is built
    error_t get_workspace_size(std::int64_t& bytes) const;
    // The uids that a pack must name, ascending.
    std::vector<std::int64_t> get_variant_pack_uids_sorted() const;

    // Runs the plan on a map from uid, or from tensor, to pointer. Entries that the plan does not need are ignored. CPU
    // targets take host pointers and ignore the handle.
    template <class Map>
    error_t execute(cudnnHandle_t handle, Map const& pack, void* workspace) const {
        return run(handle, Variant_pack::of(pack), workspace, -1);
    }
    template <class Map>
    error_t execute(Map const& pack, void* workspace) const {
        return run(nullptr, Variant_pack::of(pack), workspace, -1);
    }
    // With the workspace's size, which is checked.
    template <class Map>
    error_t execute(Map const& pack, void* workspace, std::int64_t workspace_bytes) const {
        return run(nullptr, Variant_pack::of(pack), workspace, workspace_bytes < 0 ? 0 : workspace_bytes);
    }

    error_t query_tensor_attributes_of_uid(std::int64_t const uid, Tensor_attributes& attributes) const;
    // A hash of what the graph computes and how its pack is keyed; names do not count.
    virtual std::size_t key();
    std::string print() const;
    // The primitive operations that the graph stands for.
    error_t print_operations(std::string& text, OperationsFormat format = OperationsFormat::TEXT) const;

    // The graph as JSON text, docs/json.md. Reading replaces the whole graph, or nothing where the text is faulty.
    error_t serialize(std::string& json) const;
    error_t deserialize(std::string const& json);

    struct Impl;  // src/graph/graph_impl.h

   private:
    friend struct detail::Graph_access;

    Impl& impl();
    error_t run(cudnnHandle_t handle, Variant_pack pack, void* workspace, std::int64_t workspace_bytes) const;

    Impl* impl_;  // owned; std::unique_ptr would add to the compile time of every user
};

SDPA_GRAPH_API std::ostream& operator<<(std::ostream& stream, Graph const& graph);

}  // namespace graph
}  // namespace v1
}  // namespace cudnn_frontend
