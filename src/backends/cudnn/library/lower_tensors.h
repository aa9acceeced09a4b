// The backend tensor of each value, made when an operation first needs it.
#pragma once

#include "cudnn/library/lowered_graph.h"
#include "cudnn/passes/legal_graph.h"

#include <map>
#include <utility>

namespace cudnn_frontend::cudnn {

class TensorLowering {
   public:
    TensorLowering(LegalGraph const& graph, Api const& api);

    // Null if the value is kNoValue or an earlier tensor failed; see error().
    cudnnBackendDescriptor_t tensor(ir::ValueId id);
    ir::Value const& value(ir::ValueId id) const { return graph_.value(id); }
    // The value's view where it has one, itself otherwise.
    ir::ValueId view_of(ir::ValueId id) const;
    // The cumulative lengths from which the lengths were made; kNoValue where there are none.
    ir::ValueId sums_of(ir::ValueId lengths) const;
    // A tensor for a number that is not a value of the op graph.
    cudnnBackendDescriptor_t number(std::string const& name, float number);
    error_t const& error() const { return error_; }

    Bindings take_bindings() { return std::move(bindings_); }

   private:
    // The alignment of the value's form, else of the memory that it lies in.
    std::int64_t alignment_of(ir::ValueId id) const;
    Descriptor make(ir::Value const& value, ir::Ragged const& ragged, std::int64_t alignment, std::int64_t uid,
                    bool is_virtual);
    // The uid under which the engine knows the value. If the value has memory, the variant pack names this uid.
    std::int64_t bind(ir::ValueId id);
    std::pair<MemorySource, std::int64_t> source_of(ir::ValueId storage);
    std::int64_t place_scratch(ir::ValueId id);
    // The ragged layout of the value's memory.
    ir::Ragged ragged_of(ir::ValueId id) const;
    std::int64_t next_free_uid();

    ir::OpGraph const& graph_;
    Alignments const& alignments_;
    ScratchMap const& scratch_;
    ImpliedSteps const& implied_;
    GivenOffsets const& offsets_;
    Api const& api_;
    error_t error_;
    std::vector<Descriptor> tensors_;  // by ValueId
    std::vector<Descriptor> numbers_;
    std::vector<bool> is_uid_given_;  // by ValueId of storage: whether a form has its own uid
    std::map<ir::ValueId, std::pair<MemorySource, std::int64_t>> sources_;  // by ValueId of storage
    std::size_t rank_;  // of the tensors to which scalars are broadcast
    std::int64_t last_uid_ = 0;
    Bindings bindings_;
};

}  // namespace cudnn_frontend::cudnn
