// Collects the findings of a validation.
// All tensors of a node, or of the graph, with the same fault become one finding.
#pragma once

#include "nodes/schema/node.h"

#include <cudnn_frontend/report.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::nodes {

class FindingList {
   public:
    // A finding about a node's port, or about the graph. In the texts kPort (wording.h) is a placeholder for the port,
    // so that texts for several ports can be compared.
    void add(Finding finding, Node const* node, std::string const& port);

    bool empty() const { return groups_.empty(); }
    // The findings in the order in which they were first found.
    std::vector<Finding> take() const;

   private:
    struct Group {
        Finding finding;
        std::vector<std::string> ports;
        std::set<std::string> tensors;
    };

    std::vector<Group> groups_;
    std::map<std::pair<Node const*, std::string>, std::size_t> group_of_;  // by node, rule and texts
};

}  // namespace cudnn_frontend::nodes
