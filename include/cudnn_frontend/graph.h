// The graph API: describe attention as a graph of tensors and nodes, build it for a target, run it.
#pragma once

#include "advice.h"
#include "attributes.h"
#include "target.h"
#include "variant_pack.h"
#include "version.h"

#include <array>
#include <initializer_list>

struct CUgraph_st;  // what cudaGraph_t and CUgraph point to

namespace sdpa_graph {
class Group;  // <sdpa_graph/group.h>
class Layout;
struct Group_options;
}  // namespace sdpa_graph

namespace cudnn_frontend {

struct Explanation;      // explanation.h
struct Plan_candidates;  // there, too
class Verification;      // verification.h
struct Verification_options;

namespace detail {
struct Graph_access;

// A cuDNN handle or a stream, which orders the work of runs.
struct Run_queue {
    Run_queue(cudnnHandle_t handle) : pointer(handle) {}
    Run_queue(Cuda_stream stream) : pointer(stream.get()), is_stream(true) {}

    void* pointer;
    bool is_stream = false;
};
}  // namespace detail

namespace graph {

enum class OperationsFormat { TEXT, DOT };
enum class PictureFormat { DOT, SVG };

struct Knob_choice {
    KnobType_t first = KnobType_t::NOT_SET;
    std::int64_t second = 0;
};

// Nodes and tensors are only ever added. A builder call neither fails nor throws: validate() reports faults of its
// arguments together with all others. If memory runs out, or a program's score modifier throws, the call returns
// tensors that nothing uses, and every stage returns the error.
// Every stage can be called again and gives the same result; building again after a change plans the changed graph.
// Const members may be called from many threads at once.
class SDPA_GRAPH_API Graph {
   public:
    Graph();
    Graph(Graph const& other);  // shares the tensors
    Graph(Graph&& other) noexcept;
    Graph& operator=(Graph const& other);
    Graph& operator=(Graph&& other) noexcept;
    virtual ~Graph();

    // Defaults for tensors and nodes without a type of their own.
    Graph& set_io_data_type(DataType_t const type);
    Graph& set_intermediate_data_type(DataType_t const type);
    Graph& set_compute_data_type(DataType_t const type);
    Graph& set_name(std::string const& name);

    // Settings of planning that the target does not hold: the device if there is no handle, a number of its
    // multiprocessors, kernels that serve many shapes.
    Graph& set_device_properties(std::shared_ptr<DeviceProperties const> properties);
    Graph& set_sm_count(std::int32_t count);
    Graph& set_sm_version(std::int32_t version);
    Graph& set_dynamic_shape_enabled(bool is_enabled);
    Graph& set_kernel_cache(std::shared_ptr<KernelCache> cache);
    Graph& set_override_shape_enabled(bool is_enabled);

    // Whether the plan serves this graph's shapes alone, or all of their class; else as runtime::set_shape_policy()
    // says. Results may differ in their last bits between the two.
    Graph& set_shape_policy(ShapePolicy_t const policy);
    // The rewrites that may replace the graph: a policy, or a list of those to try before the graph as it is.
    Graph& set_rewrites(RewritePolicy_t const policy);
    Graph& set_rewrites(std::vector<Rewrite_t> const& rewrites);
    // The graph is a rank's part of one attention that a group computes: its tensors hold the tokens that the layout
    // gives to the rank, and masks count positions of the whole sequences. dSink is that of all ranks.
    // docs/several-gpus.md.
    Graph& set_group(sdpa_graph::Group const& group, sdpa_graph::Layout const& layout);
    Graph& set_group(sdpa_graph::Group const& group, sdpa_graph::Layout const& layout,
                     sdpa_graph::Group_options const& options);
    // Keeps the workspace to so many bytes: deselects engines that need more, and offers backward in slices instead.
    Graph& set_workspace_limit(std::int64_t const bytes);

    // Asks for a plan of forward in which the bits of a query's results depend on its own sequence alone: not on the
    // rest of the batch, nor on padding. docs/guide.md says when they do not depend either on how many of the
    // sequence's queries are in the call. Building fails where no engine keeps that.
    Graph& set_batch_invariant(bool const is_on);

    // Whether execute() compares the results of a plan's first run with the reference, as verify() does. A plan whose
    // results are wrong is put aside, and the next candidate that fits its workspace runs in its place; the call fails
    // if none is right. With a plan store later processes know the outcome. Holds for plans that are built from now
    // on; else as runtime::verifies_first_runs() says.
    Graph& set_first_run_verification(bool const is_on);

    // Filters of engines. They may be set at any time; check_support() and build_plans() apply them.
    Graph& deselect_workspace_greater_than(std::int64_t const bytes);
    Graph& deselect_shared_mem_greater_than(std::int64_t const bytes);
    Graph& deselect_engines(std::vector<std::string> const& parts_of_names);  // "eng2", "eng2_k24=7"
    Graph& select_behavior_notes(std::vector<BehaviorNote_t> const& notes);
    Graph& deselect_behavior_notes(std::vector<BehaviorNote_t> const& notes);
    Graph& select_numeric_notes(std::vector<NumericalNote_t> const& notes);
    Graph& deselect_numeric_notes(std::vector<NumericalNote_t> const& notes);

    std::shared_ptr<Tensor_attributes> tensor(Tensor_attributes const& attributes) noexcept;
    template <class S>
    std::shared_ptr<Tensor_attributes> tensor(S const& value, ScalarType kind) {
        return tensor(Tensor_attributes(value, kind));
    }
    // A copy with another name and without a uid.
    std::shared_ptr<Tensor_attributes> tensor_like(std::shared_ptr<Tensor_attributes> const& other,
                                                   std::string const& name = std::string()) noexcept;

    // Asks for a result of a node, by set_output(true), and returns it. A null pointer, such as Stats that were not
    // asked for, becomes a finding of validate(), where result->set_output(true) would crash; the call then returns a
    // tensor that nothing uses.
    std::shared_ptr<Tensor_attributes> output(std::shared_ptr<Tensor_attributes> const& result) noexcept;

    // {O, Stats}. Stats is a null pointer unless set_generate_stats(true) is set: do not call set_output() on it then.
    std::array<std::shared_ptr<Tensor_attributes>, 2> sdpa(std::shared_ptr<Tensor_attributes> const& q,
                                                           std::shared_ptr<Tensor_attributes> const& k,
                                                           std::shared_ptr<Tensor_attributes> const& v,
                                                           SDPA_attributes const& attributes) noexcept;
    // {dQ, dK, dV}
    std::array<std::shared_ptr<Tensor_attributes>, 3> sdpa_backward(
        std::shared_ptr<Tensor_attributes> const& q, std::shared_ptr<Tensor_attributes> const& k,
        std::shared_ptr<Tensor_attributes> const& v, std::shared_ptr<Tensor_attributes> const& o,
        std::shared_ptr<Tensor_attributes> const& dO, std::shared_ptr<Tensor_attributes> const& stats,
        SDPA_backward_attributes const& attributes) noexcept;
    // Attention of FP8 tensors, which are multiplied by descale_* after reading and by scale_* before writing: {O,
    // Stats, Amax_S, Amax_O}, Stats as above. An Amax is the greatest magnitude before the scale is applied.
    std::array<std::shared_ptr<Tensor_attributes>, 4> sdpa_fp8(
        std::shared_ptr<Tensor_attributes> const& q, std::shared_ptr<Tensor_attributes> const& k,
        std::shared_ptr<Tensor_attributes> const& v, std::shared_ptr<Tensor_attributes> const& descale_q,
        std::shared_ptr<Tensor_attributes> const& descale_k, std::shared_ptr<Tensor_attributes> const& descale_v,
        std::shared_ptr<Tensor_attributes> const& descale_s, std::shared_ptr<Tensor_attributes> const& scale_s,
        std::shared_ptr<Tensor_attributes> const& scale_o, SDPA_fp8_attributes const& attributes) noexcept;
    // {dQ, dK, dV, Amax_dQ, Amax_dK, Amax_dV, Amax_dP}
    std::array<std::shared_ptr<Tensor_attributes>, 7> sdpa_fp8_backward(
        std::shared_ptr<Tensor_attributes> const& q, std::shared_ptr<Tensor_attributes> const& k,
        std::shared_ptr<Tensor_attributes> const& v, std::shared_ptr<Tensor_attributes> const& o,
        std::shared_ptr<Tensor_attributes> const& dO, std::shared_ptr<Tensor_attributes> const& stats,
        std::shared_ptr<Tensor_attributes> const& descale_q, std::shared_ptr<Tensor_attributes> const& descale_k,
        std::shared_ptr<Tensor_attributes> const& descale_v, std::shared_ptr<Tensor_attributes> const& descale_o,
        std::shared_ptr<Tensor_attributes> const& descale_dO, std::shared_ptr<Tensor_attributes> const& descale_s,
        std::shared_ptr<Tensor_attributes> const& descale_dP, std::shared_ptr<Tensor_attributes> const& scale_s,
        std::shared_ptr<Tensor_attributes> const& scale_dQ, std::shared_ptr<Tensor_attributes> const& scale_dK,
        std::shared_ptr<Tensor_attributes> const& scale_dV, std::shared_ptr<Tensor_attributes> const& scale_dP,
        SDPA_fp8_backward_attributes const& attributes) noexcept;
    // The same with FP8_E8M0 scales for each 32 numbers, in the order TensorReordering_t::F8_128x4 (MXFP8).
    // {O, Stats, Amax_O}
    std::array<std::shared_ptr<Tensor_attributes>, 3> sdpa_fp8(std::shared_ptr<Tensor_attributes> const& q,
                                                               std::shared_ptr<Tensor_attributes> const& k,
                                                               std::shared_ptr<Tensor_attributes> const& v,
                                                               std::shared_ptr<Tensor_attributes> const& descale_q,
                                                               std::shared_ptr<Tensor_attributes> const& descale_k,
                                                               std::shared_ptr<Tensor_attributes> const& descale_v,
                                                               SDPA_fp8_attributes const& attributes) noexcept;
    // {dQ, dK, dV, Amax_dQ, Amax_dK, Amax_dV}
    std::array<std::shared_ptr<Tensor_attributes>, 6> sdpa_fp8_backward(
        std::shared_ptr<Tensor_attributes> const& q, std::shared_ptr<Tensor_attributes> const& q_T,
        std::shared_ptr<Tensor_attributes> const& k, std::shared_ptr<Tensor_attributes> const& k_T,
        std::shared_ptr<Tensor_attributes> const& v, std::shared_ptr<Tensor_attributes> const& o_f16,
        std::shared_ptr<Tensor_attributes> const& dO_f16, std::shared_ptr<Tensor_attributes> const& dO,
        std::shared_ptr<Tensor_attributes> const& dO_T, std::shared_ptr<Tensor_attributes> const& stats,
        std::shared_ptr<Tensor_attributes> const& descale_q, std::shared_ptr<Tensor_attributes> const& descale_q_T,
        std::shared_ptr<Tensor_attributes> const& descale_k, std::shared_ptr<Tensor_attributes> const& descale_k_T,
        std::shared_ptr<Tensor_attributes> const& descale_v, std::shared_ptr<Tensor_attributes> const& descale_dO,
        std::shared_ptr<Tensor_attributes> const& descale_dO_T,
        SDPA_fp8_backward_attributes const& attributes) noexcept;
    // Older names of sdpa() and sdpa_backward().
    std::array<std::shared_ptr<Tensor_attributes>, 2> scaled_dot_product_flash_attention(
        std::shared_ptr<Tensor_attributes> const& q, std::shared_ptr<Tensor_attributes> const& k,
        std::shared_ptr<Tensor_attributes> const& v, SDPA_attributes const& attributes) noexcept;
    std::array<std::shared_ptr<Tensor_attributes>, 3> scaled_dot_product_flash_attention_backward(
        std::shared_ptr<Tensor_attributes> const& q, std::shared_ptr<Tensor_attributes> const& k,
        std::shared_ptr<Tensor_attributes> const& v, std::shared_ptr<Tensor_attributes> const& o,
        std::shared_ptr<Tensor_attributes> const& dO, std::shared_ptr<Tensor_attributes> const& stats,
        SDPA_backward_attributes const& attributes) noexcept;

    std::shared_ptr<Tensor_attributes> pointwise(std::shared_ptr<Tensor_attributes> const& in_0,
                                                 Pointwise_attributes const& attributes) noexcept;
    std::shared_ptr<Tensor_attributes> pointwise(std::shared_ptr<Tensor_attributes> const& in_0,
                                                 std::shared_ptr<Tensor_attributes> const& in_1,
                                                 Pointwise_attributes const& attributes) noexcept;
    std::shared_ptr<Tensor_attributes> pointwise(std::shared_ptr<Tensor_attributes> const& in_0,
                                                 std::shared_ptr<Tensor_attributes> const& in_1,
                                                 std::shared_ptr<Tensor_attributes> const& in_2,
                                                 Pointwise_attributes const& attributes) noexcept;
    std::shared_ptr<Tensor_attributes> matmul(std::shared_ptr<Tensor_attributes> const& a,
                                              std::shared_ptr<Tensor_attributes> const& b,
                                              Matmul_attributes const& attributes) noexcept;
    std::shared_ptr<Tensor_attributes> reduction(std::shared_ptr<Tensor_attributes> const& x,
                                                 Reduction_attributes const& attributes) noexcept;
    std::shared_ptr<Tensor_attributes> slice(std::shared_ptr<Tensor_attributes> const& x,
                                             Slice_attributes const& attributes) noexcept;
    std::shared_ptr<Tensor_attributes> reshape(std::shared_ptr<Tensor_attributes> const& x,
                                               Reshape_attributes const& attributes) noexcept;
    std::shared_ptr<Tensor_attributes> transpose(std::shared_ptr<Tensor_attributes> const& x,
                                                 Transpose_attributes const& attributes) noexcept;

    // Attention in which a window of keys around each query is visible to it. Tokens are {B, space, H, D}, with one to
    // three axes of space. {O, Stats}; Stats {B, space, H} is null unless set_generate_stats(true) is set.
    std::array<std::shared_ptr<Tensor_attributes>, 2> neighborhood_attention(
        std::shared_ptr<Tensor_attributes> const& q, std::shared_ptr<Tensor_attributes> const& k,
        std::shared_ptr<Tensor_attributes> const& v, Neighborhood_attributes const& attributes) noexcept;
    // {dQ, dK, dV}
    std::array<std::shared_ptr<Tensor_attributes>, 3> neighborhood_attention_backward(
        std::shared_ptr<Tensor_attributes> const& q, std::shared_ptr<Tensor_attributes> const& k,
        std::shared_ptr<Tensor_attributes> const& v, std::shared_ptr<Tensor_attributes> const& o,
        std::shared_ptr<Tensor_attributes> const& dO, std::shared_ptr<Tensor_attributes> const& stats,
        Neighborhood_backward_attributes const& attributes) noexcept;
    // Its two products on their own, of tokens {B, H, space, D}: each query times the keys of its window, and sums of
    // the values of the window by these weights. attn is {B, H, space, W}, with W the product of the kernel sizes.
    std::shared_ptr<Tensor_attributes> neighborhood_qk(std::shared_ptr<Tensor_attributes> const& q,
                                                       std::shared_ptr<Tensor_attributes> const& k,
                                                       Neighborhood_qk_attributes const& attributes) noexcept;
    std::shared_ptr<Tensor_attributes> neighborhood_av(std::shared_ptr<Tensor_attributes> const& attn,
                                                       std::shared_ptr<Tensor_attributes> const& v,
                                                       Neighborhood_av_attributes const& attributes) noexcept;
    // {dQ, dK}, and {dAttn, dV}
    std::array<std::shared_ptr<Tensor_attributes>, 2> neighborhood_qk_backward(
        std::shared_ptr<Tensor_attributes> const& dAttn, std::shared_ptr<Tensor_attributes> const& q,
        std::shared_ptr<Tensor_attributes> const& k, Neighborhood_qk_backward_attributes const& attributes) noexcept;
    std::array<std::shared_ptr<Tensor_attributes>, 2> neighborhood_av_backward(
        std::shared_ptr<Tensor_attributes> const& dO, std::shared_ptr<Tensor_attributes> const& attn,
        std::shared_ptr<Tensor_attributes> const& v, Neighborhood_av_backward_attributes const& attributes) noexcept;

    // All findings of all rules. Depends on the graph alone and changes nothing.
    Report check() const;
    // Properties of the graph that are legal but probably not meant; empty if the graph is not valid. Each build also
    // writes it to the log.
    Advice advice() const;
    // The findings as an error. On success, writes inferred values into the tensors where the user left them empty.
    error_t validate() noexcept;

    // The stages of build(), in order. The overloads with a handle plan for cuDNN.
    error_t build_operation_graph(Target const& target);
    error_t build_operation_graph(cudnnHandle_t handle);
    error_t build_operation_graph();
    error_t create_execution_plans(std::vector<HeurMode_t> const& modes);
    // Adds an engine chosen by hand as a candidate. Knobs: any container of pairs, or a list in braces.
    template <class Knobs>
    error_t create_execution_plan(std::int64_t const engine, Knobs const& knobs) {
        std::vector<Knob_choice> choices;
        for (auto const& knob : knobs) choices.push_back({knob.first, knob.second});
        return create_plan(engine, choices);
    }
    error_t create_execution_plan(std::int64_t const engine, std::initializer_list<Knob_choice> knobs);
    error_t get_engine_count(std::int64_t& count);
    error_t get_knobs_for_engine(std::int64_t const engine, std::vector<Knob>& knobs);
    error_t check_support();
    error_t check_support(cudnnHandle_t handle);
    error_t build_plans(BuildPlanPolicy_t const policy = BuildPlanPolicy_t::HEURISTICS_CHOICE,
                        bool const multithreaded = false);
    error_t build_plans(cudnnHandle_t const& handle,
                        BuildPlanPolicy_t const policy = BuildPlanPolicy_t::HEURISTICS_CHOICE,
                        bool const multithreaded = false);

    // Builds a single candidate, which execute() then runs. Several threads may build different candidates at once.
    error_t build_plan_at_index(std::int64_t const index);
    error_t build_plan_at_index(cudnnHandle_t const& handle, std::int64_t const index);

    error_t build(Target const& target);
    error_t build(cudnnHandle_t const& handle, std::vector<HeurMode_t> const& modes,
                  BuildPlanPolicy_t const policy = BuildPlanPolicy_t::HEURISTICS_CHOICE,
                  bool const multithreaded = false);
    error_t build(std::vector<HeurMode_t> const& modes,
                  BuildPlanPolicy_t const policy = BuildPlanPolicy_t::HEURISTICS_CHOICE,
                  bool const multithreaded = false);

    std::int64_t get_execution_plan_count() const;
    error_t get_plan_name(std::string& name) const;
    error_t get_plan_name_at_index(std::int64_t const index, std::string& name) const;
    // A line for each candidate, with the reason if it cannot be used, then one for each backend that has none, with
    // its reason.
    error_t print_candidates(std::string& text) const;
    // The same as values, which explanation.h defines.
    error_t get_candidates(Plan_candidates& candidates) const;
    // Whether a plan for the target can be built, and all that is against it; explanation.h defines the result. Where
    // there is no plan, the nearest graphs that have one are searched for so many milliseconds, by planning them. It
    // builds plans of its own, and changes nothing.
    Explanation explain(Target const& target, std::int64_t search_milliseconds = 0) const;
    // The engine and knobs of a candidate; create_execution_plan() makes the same candidate for another graph from
    // them. Knobs: a map from KnobType_t to std::int64_t.
    template <class Knobs>
    error_t get_engine_and_knobs_at_index(std::int64_t const index, std::int64_t& engine, Knobs& knobs) const {
        std::vector<Knob_choice> choices;
        error_t error = get_engine_at_index(index, engine, choices);
        if (error.is_bad()) return error;
        knobs.clear();
        for (Knob_choice const& choice : choices) knobs[choice.first] = choice.second;
        return error;
    }
    error_t get_behavior_notes(std::vector<BehaviorNote_t>& notes) const;  // CPU plans have none
    error_t get_behavior_notes_for_plan_at_index(std::int64_t const index, std::vector<BehaviorNote_t>& notes) const;
    // Whether all runs of the plan give the same bits for the same inputs.
    error_t get_is_deterministic(bool& is_deterministic) const;
    std::int64_t get_workspace_size() const;  // 0 before a plan is built
    error_t get_workspace_size(std::int64_t& bytes) const;
    std::int64_t get_workspace_size_plan_at_index(std::int64_t const index) const;
    error_t get_workspace_size_plan_at_index(std::int64_t const index, std::int64_t& bytes) const;
    std::int64_t get_autotune_workspace_size() const;  // of the largest plan that is built
    // The uids that a pack must name, ascending.
    std::vector<std::int64_t> get_variant_pack_uids_sorted() const;
    // Succeeds if a plan is built: everything that a run needs was prepared then.
    error_t prepare_variant_pack_template();

    // Runs the plan on a map from uids, or from tensors, to pointers. Entries that the plan does not need are ignored;
    // only memory for a virtual result is an error. CPU targets accept host pointers and ignore the handle.
    template <class Map>
    error_t execute(cudnnHandle_t handle, Map const& pack, void* workspace) const {
        return run(handle, Variant_pack::of(pack), workspace, -1);
    }
    template <class Map>
    error_t execute(Map const& pack, void* workspace) const {
        return run(cudnnHandle_t(nullptr), Variant_pack::of(pack), workspace, -1);
    }
    // Plans of Target::cuda(Cuda_stream), on any stream of that device.
    template <class Map>
    error_t execute(Cuda_stream stream, Map const& pack, void* workspace) const {
        return run(stream, Variant_pack::of(pack), workspace, -1);
    }
    // Pointers in the order of get_variant_pack_uids_sorted().
    error_t execute(cudnnHandle_t handle, void** pointers, int count, void* workspace) const {
        return run_sorted(handle, pointers, count, workspace, kCurrentPlan);
    }
    template <class Map>
    error_t execute_plan_at_index(cudnnHandle_t handle, Map const& pack, void* workspace,
                                  std::int64_t const index) const {
        return run_at(handle, Variant_pack::of(pack), workspace, index);
    }
    error_t execute_plan_at_index(cudnnHandle_t handle, void** pointers, int count, void* workspace,
                                  std::int64_t const index) const {
        return run_sorted(handle, pointers, count, workspace, index);
    }
    // The same with other dims and strides for the tensors of these uids; needs set_override_shape_enabled(true) or
    // set_dynamic_shape_enabled(true). A new shape is planned at its first run, which takes as long as a build.
    template <class Map>
    error_t execute(cudnnHandle_t handle, Map const& pack, void* workspace, std::vector<std::int64_t> const& uids,
                    std::vector<std::vector<std::int64_t>> const& dims,
                    std::vector<std::vector<std::int64_t>> const& strides) const {
        return run_overridden(handle, Variant_pack::of(pack), workspace, kCurrentPlan, uids, dims, strides);
    }
    // Other shapes get plans of their own, so the index has to be that of the plan that execute() runs.
    template <class Map>
    error_t execute_plan_at_index(cudnnHandle_t handle, Map const& pack, void* workspace, std::int64_t const index,
                                  std::vector<std::int64_t> const& uids,
                                  std::vector<std::vector<std::int64_t>> const& dims = {},
                                  std::vector<std::vector<std::int64_t>> const& strides = {}) const {
        return run_overridden(handle, Variant_pack::of(pack), workspace, index, uids, dims, strides);
    }
    error_t execute_plan_at_index(cudnnHandle_t handle, void** pointers, int count, void* workspace,
                                  std::int64_t const index, std::vector<std::int64_t> const& uids,
                                  std::vector<std::vector<std::int64_t>> const& dims = {},
                                  std::vector<std::vector<std::int64_t>> const& strides = {}) const;
    // Also checks the workspace's size.
    template <class Map>
    error_t execute(cudnnHandle_t handle, Map const& pack, void* workspace, std::int64_t workspace_bytes) const {
        return run(handle, Variant_pack::of(pack), workspace, workspace_bytes < 0 ? 0 : workspace_bytes);
    }
    template <class Map>
    error_t execute(Map const& pack, void* workspace, std::int64_t workspace_bytes) const {
        return run(cudnnHandle_t(nullptr), Variant_pack::of(pack), workspace,
                   workspace_bytes < 0 ? 0 : workspace_bytes);
    }

    // Compares the results of a run, in the memory of its pack, with those of the reference on the same inputs, and
    // searches for what explains wrong ones: include verification.h. Needs a plan, waits for the GPU's work, and takes
    // the time of a run of the reference, for wrong results up to 10 s more; of a large graph it compares a sample.
    template <class Map>
    error_t verify(Map const& pack, Verification& verification) const {
        return compare(Variant_pack::of(pack), nullptr, verification);
    }
    template <class Map>
    error_t verify(Map const& pack, Verification_options const& options, Verification& verification) const {
        return compare(Variant_pack::of(pack), &options, verification);
    }

    // One JSON document for a report of a failure, docs/capsules.md: the graph, versions, libraries, device, plan,
    // candidates and findings; with a pack also alignments of pointers, and lengths and offsets in the host's memory.
    // No data of tensors.
    error_t capsule(std::string& json) const;
    template <class Map>
    error_t capsule(Map const& pack, std::string& json) const {
        return describe(Variant_pack::of(pack), json);
    }

    // Times every built plan on the caller's memory. From then on execute() runs the fastest, if half of its runs were
    // faster than every run of the plan that was chosen before. The plan store keeps the times for later processes.
    template <class Map>
    error_t autotune(cudnnHandle_t handle, Map const& pack, void* workspace, void* = nullptr) {
        return tune(handle, Variant_pack::of(pack), workspace);
    }
    template <class Map>
    error_t autotune(Cuda_stream stream, Map const& pack, void* workspace) {
        return tune(stream, Variant_pack::of(pack), workspace);
    }
    // The same by times that the caller measured: microseconds of each run, by the index of the plan; none for plans
    // that were not timed.
    error_t choose_plan_by_times(std::vector<std::vector<double>> const& microseconds);
    // Loads everything that the first execute() would load.
    error_t warmup(cudnnHandle_t handle);
    error_t warmup(Cuda_stream stream);

    // Adds the plan to an empty CUDA graph; update binds such a graph to the memory of another pack.
    template <class Map>
    error_t populate_cuda_graph(cudnnHandle_t handle, Map const& pack, void* workspace, CUgraph_st* graph) {
        return fill_cuda_graph(handle, Variant_pack::of(pack), workspace, graph, false);
    }
    template <class Map>
    error_t update_cuda_graph(cudnnHandle_t handle, Map const& pack, void* workspace, CUgraph_st* graph) {
        return fill_cuda_graph(handle, Variant_pack::of(pack), workspace, graph, true);
    }

    template <class Map>
    error_t populate_cuda_graph(Cuda_stream stream, Map const& pack, void* workspace, CUgraph_st* graph) {
        return fill_cuda_graph(stream, Variant_pack::of(pack), workspace, graph, false);
    }
    template <class Map>
    error_t update_cuda_graph(Cuda_stream stream, Map const& pack, void* workspace, CUgraph_st* graph) {
        return fill_cuda_graph(stream, Variant_pack::of(pack), workspace, graph, true);
    }

    error_t query_tensor_attributes_of_uid(std::int64_t const uid, Tensor_attributes& attributes) const;
    // A hash of what the graph computes and of the uids; names do not count.
    virtual std::size_t key();
    std::string print() const;
    // The primitive operations to which the graph expands.
    error_t print_operations(std::string& text, OperationsFormat format = OperationsFormat::TEXT) const;
    // A picture of the plan that execute() runs: its steps in their order, and where their operands are in memory.
    error_t draw_plan(std::string& text, PictureFormat format = PictureFormat::DOT) const;

    // The graph as JSON text, docs/json.md. Reading replaces the whole graph; faulty text leaves it unchanged.
    error_t serialize(std::string& json) const;
    error_t deserialize(std::string const& json);
    // The graph in version 1 or 2 of the format, for readers that know no later one.
    error_t serialize_as_version(std::int64_t version, std::string& json) const;
    // The built graph with its plan, as bytes; once read, the graph can be executed at once. A plan of cuDNN loads only
    // with the cuDNN version and on the kind of GPU that it was built for.
    error_t serialize(std::vector<std::uint8_t>& bytes) const;
    error_t deserialize(cudnnHandle_t handle, std::vector<std::uint8_t> const& bytes);
    error_t deserialize(Cuda_stream stream, std::vector<std::uint8_t> const& bytes);
    // The graph as an object of nlohmann::json, for programs that use that library.
    template <class Json, class = decltype(Json::parse(std::string()).dump())>
    void serialize(Json& json) const {
        std::string text;
        if (serialize(text).is_good()) json = Json::parse(text);
    }
    template <class Json, class = decltype(Json::parse(std::string()).dump())>
    error_t deserialize(Json const& json) {
        return deserialize(std::string(json.dump()));
    }

    struct Impl;  // src/api/graph/graph_impl.h

   private:
    friend struct detail::Graph_access;

    Impl& impl();
    struct Input;  // a port and its tensor
    std::shared_ptr<Tensor_attributes> append_node(detail::Attributes const& attributes,
                                                   std::initializer_list<Input> inputs, int output) noexcept;
    static constexpr std::int64_t kCurrentPlan = INT64_MIN;  // no index that a program computes

    error_t load(Target const& gpu, std::vector<std::uint8_t> const& bytes);
    error_t create_plan(std::int64_t engine, std::vector<Knob_choice> const& knobs);
    error_t get_engine_at_index(std::int64_t index, std::int64_t& engine, std::vector<Knob_choice>& knobs) const;
    error_t run(detail::Run_queue queue, Variant_pack pack, void* workspace, std::int64_t workspace_bytes) const;
    error_t run_first(detail::Run_queue queue, Variant_pack pack, void* workspace, std::int64_t workspace_bytes) const;
    error_t run_at(detail::Run_queue queue, Variant_pack pack, void* workspace, std::int64_t index) const;
    error_t run_sorted(detail::Run_queue queue, void** pointers, int count, void* workspace, std::int64_t index) const;
    error_t run_overridden(detail::Run_queue queue, Variant_pack pack, void* workspace, std::int64_t index,
                           std::vector<std::int64_t> const& uids, std::vector<std::vector<std::int64_t>> const& dims,
                           std::vector<std::vector<std::int64_t>> const& strides) const;
    error_t compare(Variant_pack pack, Verification_options const* options, Verification& verification) const;
    error_t describe(Variant_pack pack, std::string& json) const;
    error_t tune(detail::Run_queue queue, Variant_pack pack, void* workspace);
    error_t fill_cuda_graph(detail::Run_queue queue, Variant_pack pack, void* workspace, CUgraph_st* graph,
                            bool is_update);

    Impl* impl_;  // owned; std::unique_ptr would add to the compile time of every user
};

SDPA_GRAPH_API std::ostream& operator<<(std::ostream& stream, Graph const& graph);

}  // namespace graph
}  // namespace cudnn_frontend
