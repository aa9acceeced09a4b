#include "cudnn/planning/device_tables.h"

namespace cudnn_frontend::cudnn {

static std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

Result<std::shared_ptr<DeviceTables const>> upload_tables(std::span<Table const> tables, int ordinal) {
    SDPA_GRAPH_TRY(cuda::use_device(ordinal));
    std::size_t bytes = 0;
    for (Table const& table : tables) bytes += aligned(table.bytes.size());
    auto memory = cuda::allocate(bytes);
    if (memory.is_bad()) return memory.error();
    auto placed = std::make_shared<DeviceTables>();
    placed->memory = std::move(memory).value();
    std::size_t offset = 0;
    for (Table const& table : tables) {
        SDPA_GRAPH_TRY(cuda::upload(*placed->memory, offset, table.bytes));
        placed->pointers.push_back(static_cast<std::byte*>(placed->memory->pointer()) + offset);
        offset += aligned(table.bytes.size());
    }
    return std::shared_ptr<DeviceTables const>(std::move(placed));
}

}  // namespace cudnn_frontend::cudnn
