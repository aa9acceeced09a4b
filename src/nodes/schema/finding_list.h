// The findings of a validation while they are collected: one for all tensors of a node, or of the graph, that have the
// same fault.
#pragma once

#include "nodes/schema/node.h"

#include <cudnn_frontend/report.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::nodes {

class FindingList {
   public:
    // Of a node's port, or of the graph. In the texts kPort (wording.h) stands for the port, so that those of several
    // can be compared.
    void add(Finding finding, Node const* node, std::string const& port);

    bool empty() const { return groups_.empty(); }
    // In the order in which each was found first.
    std::vector<Finding> take() const;

   private:
    struct Group {
        Finding finding;
        std::vector<std::string> ports;
    };

    std::vector<Group> groups_;
    std::map<std::pair<Node const*, std::string>, std::size_t> group_of_;  // by node, rule and texts
};

}  // namespace cudnn_frontend::nodes
