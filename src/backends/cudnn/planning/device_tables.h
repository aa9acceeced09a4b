// Device memory for the values that are part of a graph and that engines read from there. It lives as long as the
// plans: nothing is copied at each run, and a captured CUDA graph never refers to memory that is gone.
#pragma once

#include "cuda/driver.h"
#include "cudnn/library/lowered_graph.h"

#include <memory>
#include <span>
#include <vector>

namespace cudnn_frontend::cudnn {

struct DeviceTables {
    std::shared_ptr<cuda::DeviceMemory const> memory;
    std::vector<void*> pointers;  // of each table
};

// Uploads and waits.
Result<std::shared_ptr<DeviceTables const>> upload_tables(std::span<Table const> tables, int ordinal);

}  // namespace cudnn_frontend::cudnn
