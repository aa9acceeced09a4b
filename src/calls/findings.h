// Faults of a call, each found against a condition with an id.
#pragma once

#include "core/text.h"

#include <cudnn_frontend/report.h>

#include <string>
#include <vector>

namespace sdpa_graph::calls {

namespace fe = cudnn_frontend;
using fe::error_t;
using fe::core::text;

struct Condition {
    char const* id;       // such as flash.c07
    char const* summary;  // one sentence
    fe::error_code_t code;
};

class Findings {
   public:
    explicit Findings(char const* function) : function_(function) {}

    // Arguments with the same fault, reported one after the other, become one finding. The argument may be empty.
    void report(Condition const& condition, std::string argument, std::string found, std::string needed,
                std::string fix);

    // All findings as one error.
    error_t to_error() &&;

   private:
    char const* function_;
    std::vector<fe::Finding> findings_;
};

}  // namespace sdpa_graph::calls
