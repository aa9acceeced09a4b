// Masks that engines know by their form.
#pragma once

#include "ir/op_graph.h"

#include <map>

namespace cudnn_frontend::cudnn {

// The comparisons that cuDNN has to be told from their other side, by what they write. Where row >= column, or >,
// selects scores, engines see the right edge of a band and skip the tiles beyond it; of several such masks, as a
// modifier and an option may make them, they apply a single one. So the last stays, and the others become column <=
// row, which is arithmetic as any other to them. And where row < column selects scores, planning backward ends the
// process.
std::map<ir::ValueId, ir::PointwiseOp> turned_comparisons(ir::OpGraph const& graph);

}  // namespace cudnn_frontend::cudnn
