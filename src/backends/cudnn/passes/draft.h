// An op graph in its parts, which passes change and which is then put together again.
#pragma once

#include "cudnn/passes/legal_graph.h"

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace cudnn_frontend::cudnn::passes {

inline constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

class GraphDraft {
   public:
    explicit GraphDraft(LegalGraph const& graph)
        : ops(graph.graph.ops()),
          alignments(graph.alignments),
          scratch(graph.scratch),
          implied(graph.implied),
          offsets(graph.offsets),
          sink_gradient(graph.sink_gradient),
          values_(graph.graph.values()) {}

    std::vector<ir::Op> ops;
    Alignments alignments;
    ScratchMap scratch;
    ImpliedSteps implied;
    GivenOffsets offsets;
    std::optional<SinkGradient> sink_gradient;

    // Valid until a value is added.
    ir::Value& value(ir::ValueId id) { return values_[static_cast<std::size_t>(id)]; }
    ir::Value const& value(ir::ValueId id) const { return values_[static_cast<std::size_t>(id)]; }
    ir::ValueId value_count() const { return static_cast<ir::ValueId>(values_.size()); }
    ir::ValueId storage_of(ir::ValueId id) const;
    ir::ValueId add(ir::Value value);
    ir::ValueId add_number(std::string name, float number);
    ir::ValueId add_table(std::string name, core::Dims dim, std::vector<double> numbers, DataType_t type);

    // The place of the operation that writes the value; kNowhere for a value that no operation writes.
    std::size_t writer_of(ir::ValueId id) const;
    // That operation if it is of the type; null otherwise.
    template <class Body>
    Body const* written_by(ir::ValueId id) const {
        std::size_t const at = writer_of(id);
        return at == kNowhere ? nullptr : std::get_if<Body>(&ops[at].body);
    }
    ir::PointwiseOp const* step(ir::ValueId id, PointwiseMode_t mode) const;

    void insert(std::size_t at, ir::Op op);
    void erase(std::size_t at);

    // Leaves out the values that passes left without a use.
    Result<LegalGraph> finish() &&;

   private:
    std::vector<bool> used_values() const;

    std::vector<ir::Value> values_;
};

// Calls visit with each input, which it may replace.
void for_each_input(ir::Op& op, std::function<void(ir::ValueId&)> const& visit);
void replace_input(ir::Op& op, ir::ValueId from, ir::ValueId to);

// "attention::stats" next to "attention::scores".
std::string name_beside(std::string const& name, std::string const& step);

// A pointwise operation named after its result.
ir::Op pointwise(GraphDraft const& draft, PointwiseMode_t mode, std::initializer_list<ir::ValueId> in, ir::ValueId out,
                 DataType_t compute_type);

}  // namespace cudnn_frontend::cudnn::passes
