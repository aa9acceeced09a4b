// Checks of tensors that all functions over tensor views share.
#pragma once

#include "calls/findings.h"

#include <sdpa_graph/place.h>

#include <span>
#include <string>
#include <string_view>

namespace sdpa_graph::calls {

// An argument that was passed.
struct Named {
    char const* name;
    Tensor_view const* view;
};

// Reports a check's findings against one condition.
class Reporter {
   public:
    Reporter(Condition const& condition, Findings& findings) : condition_(condition), findings_(findings) {}

    void report(std::string argument, std::string found, std::string needed, std::string fix) const {
        findings_.report(condition_, std::move(argument), std::move(found), std::move(needed), std::move(fix));
    }

   private:
    Condition const& condition_;
    Findings& findings_;
};

void expect_memory(Reporter const& reporter, std::span<Named const> tensors);
// All tensors are on the device of the first, a CPU or a GPU.
void expect_one_device(Reporter const& reporter, std::span<Named const> tensors);
// The place's target runs where the tensor is.
void expect_target_there(Reporter const& reporter, Place const& place, Tensor_view const& tensor);
void expect_type(Reporter const& reporter, std::span<Named const> tensors, fe::DataType_t type, std::string_view why);
void expect_contiguous(Reporter const& reporter, std::span<Named const> tensors);
void expect_writable(Reporter const& reporter, std::span<Named const> results, char const* fix);

}  // namespace sdpa_graph::calls
