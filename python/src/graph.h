// The graph behind Python's pygraph: the library's own, and the facts that compatible calls leave out of their
// arguments.
#pragma once

#include "enums.h"
#include "errors.h"
#include "memory.h"

#include <cudnn_frontend/graph.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace binding {

using Tensor_ptr = std::shared_ptr<fe::graph::Tensor_attributes>;

// The memory that a pack has to give for a tensor.
struct Need {
    std::int64_t uid = 0;
    fe::DataType_t type = fe::DataType_t::NOT_SET;
    std::string name;
    std::vector<std::int64_t> dim, stride;
    std::int64_t bytes = 0;  // from the first element to the end of the last one; 0 if only a run knows
    bool is_by_value = false;
    bool is_output = false;
    std::optional<std::int64_t> offset;  // the uid of the tensor that says where its packed sequences start
    std::int64_t offset_multiplier = 1;  // the number of elements that the offset counts as one
};

// Raises ValueError for a number that no memory has as its address: it would end the process in cuDNN.
cudnnHandle_t handle_of(std::intptr_t number);

std::int64_t bits_of(fe::DataType_t type);
// The bytes that the need's dims and strides span.
std::int64_t bytes_of(Need const& need);

class Graph {
   public:
    explicit Graph(std::string const& target);
    ~Graph();
    Graph(Graph const&) = delete;
    Graph& operator=(Graph const&) = delete;

    fe::graph::Graph inner;

    fe::Target const& target() const { return target_; }
    bool runs_on_host() const;
    // The given handle; else the graph's own, made when it is first needed.
    cudnnHandle_t handle();
    void set_handle(std::intptr_t handle) { given_ = handle_of(handle); }
    // The target, with the handle if that belongs to it.
    fe::Target planning_target();

    // Marks a result of a node: memory that cannot be written is refused for it.
    Tensor_ptr const& writes(Tensor_ptr const& tensor);
    // Marks all results of the nodes of a graph that was read from text or bytes.
    void writes_only(std::vector<std::int64_t> uids);
    // The needs in the order of uids, computed when first asked for after a change. They are shared, since reading a
    // pack calls methods of Python objects, which may change the graph.
    std::shared_ptr<std::vector<Need> const> needs();
    void forget_needs() { needs_.reset(); }
    // In a rank's part of an attention, ragged offsets count the tokens of all ranks.
    void become_part() { is_part_ = true; }

    // The exception that a score modifier raised, which the library cannot carry through.
    std::exception_ptr modifier_failure;

   private:
    fe::Target target_;
    cudnnHandle_t given_ = nullptr;
    cudnnHandle_t own_ = nullptr;
    bool is_written(std::int64_t uid) const;
    bool is_part_ = false;

    std::vector<Tensor_ptr> outputs_;
    std::vector<std::int64_t> written_;
    std::shared_ptr<std::vector<Need> const> needs_;
};

using Graph_class = py::class_<Graph, std::shared_ptr<Graph>>;

// "cpu", "cpu:4" (threads), "reference", "cuda" or "offline:h100"; raises ValueError for another text.
fe::Target target_of(std::string const& text);

}  // namespace binding
