// The group that computes a graph, as the graph names it.
#pragma once

#include "group/transport.h"

#include <sdpa_graph/group.h>

#include <memory>

namespace cudnn_frontend::group {

using sdpa_graph::Group_way;
using sdpa_graph::Layout;
using sdpa_graph::Token_range;

struct Task {
    std::shared_ptr<Transport> transport;  // null for a Group without a rank
    Layout queries, keys;
    Group_way way = Group_way::AUTO;
    int stages = 0;  // 0: as many as seem best

    int rank() const { return transport == nullptr ? -1 : transport->rank(); }
    int size() const { return transport == nullptr ? 0 : transport->size(); }
};

}  // namespace cudnn_frontend::group

namespace sdpa_graph::detail {

struct Group_access {
    static std::shared_ptr<cudnn_frontend::group::Transport> const& transport(Group const& group) {
        return group.transport_;
    }
    static Group member(std::shared_ptr<cudnn_frontend::group::Transport> transport) {
        Group group;
        group.transport_ = std::move(transport);
        return group;
    }
};

}  // namespace sdpa_graph::detail
