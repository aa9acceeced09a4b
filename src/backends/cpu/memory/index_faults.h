// Faults in the caller's integers that say which memory attention accesses.
#pragma once

#include "ir/op_graph.h"

#include "core/rule_fault.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::cpu {

// Collects the first fault of each tensor in one error.
class IndexFaults {
   public:
    bool has(ir::ValueId tensor) const { return std::ranges::find(tensors_, tensor) != tensors_.end(); }

    // The rule is one of those on runs in docs/spec.md.
    void add(char const* rule, ir::ValueId tensor, std::string const& name, std::string const& fault) {
        if (has(tensor)) return;
        core::add_fault(error_, core::rule_fault(error_code_t::INVALID_VALUE, rule, name, fault));
        tensors_.push_back(tensor);
    }

    error_t error() && { return std::move(error_); }

   private:
    std::vector<ir::ValueId> tensors_;
    error_t error_;
};

}  // namespace cudnn_frontend::cpu
