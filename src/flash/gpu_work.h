// Work on rows in a GPU's memory; an error in builds without cuDNN.
#pragma once

#include "flash/call.h"

namespace sdpa_graph::flash {

error_t work_on_gpu(Call const& call, CUstream_st* stream, fe::rows::Work const& work);

}  // namespace sdpa_graph::flash
