// Pictures of the windows of neighborhood attention: the keys that are visible to a query.
#pragma once

#include "graph.h"

namespace cudnn_frontend {
namespace graph {

enum class WindowPicture { TEXT, SVG };

// The space of the graph's first node of neighborhood attention, with the query at that place, one number for each
// axis, and the keys that are visible to it, below a caption with the node's options. Columns are numbered above the
// picture and rows at its left. A space of three axes is drawn as its planes, one after the other. The graph must be
// valid; it need not be built.
SDPA_GRAPH_API error_t draw_window(Graph const& graph, std::vector<std::int64_t> const& query, std::string& picture,
                                   WindowPicture format = WindowPicture::TEXT);

}  // namespace graph
}  // namespace cudnn_frontend
