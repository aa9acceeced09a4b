// The result of checking a graph: every finding at once, each with its rule, what was found and what to try.
#pragma once

#include "status.h"

#include <string>
#include <vector>

namespace cudnn_frontend {

struct Finding {
    error_code_t code = error_code_t::INVALID_VALUE;
    error_location where;                  // rule id, node, tensor
    std::string found;                     // the value in the graph
    std::string needed;                    // the values that the rule allows
    std::string fix;                       // the nearest change that satisfies the rule
    std::vector<std::string> others = {};  // names of further tensors with the same fault
};

class SDPA_GRAPH_API Report {
   public:
    Report();
    explicit Report(std::vector<Finding> findings);

    bool ok() const { return findings_.empty(); }
    std::vector<Finding> const& findings() const& { return findings_; }
    std::vector<Finding> findings() &&;  // so that for (... : graph.check().findings()) is safe
    std::string to_text() const;         // a few lines for each finding
    std::string to_json() const;         // an array of objects with the members of Finding
    // Code and place of the first finding with the text of all, up to a hundred; success if there is none.
    error_t to_error() const;

   private:
    std::vector<Finding> findings_;
};

SDPA_GRAPH_API std::ostream& operator<<(std::ostream& stream, Report const& report);

}  // namespace cudnn_frontend
