// A tensor in host memory: its address, layout and element type.
#pragma once

#include "attention/masks.h"
#include "core/data_type.h"
#include "ir/op_graph.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace cudnn_frontend::cpu {

// Where each batch entry of a ragged tensor starts.
struct EntryStarts {
    void const* offsets = nullptr;  // null: the tensor is not ragged
    DataType_t type = DataType_t::INT32;
    std::int64_t stride = 1;
    std::int64_t unit = 1;  // elements of one unit of the offsets

    explicit operator bool() const { return offsets != nullptr; }
    std::int64_t of(std::int64_t b) const { return core::load_integer(type, offsets, b * stride) * unit; }
};

// Where the rows of a sequence are in a container of pages.
struct PagedRows {
    void const* table = nullptr;  // null: not paged
    DataType_t type = DataType_t::INT32;
    std::int64_t batch_stride = 0, page_stride = 0;  // of the table
    EntryStarts starts;                              // of a packed table
    std::int64_t rows = 1;                           // of a page

    explicit operator bool() const { return table != nullptr; }
    std::int64_t page(std::int64_t b, std::int64_t row) const {
        std::int64_t const start = starts ? starts.of(b) : b * batch_stride;
        return core::load_integer(type, table, start + row / rows * page_stride);
    }
};

struct DataView {
    void* data = nullptr;  // null: the tensor is not connected
    DataType_t type = DataType_t::FLOAT;
    std::array<std::int64_t, 4> dim{1, 1, 1, 1};
    std::array<std::int64_t, 4> stride{0, 0, 0, 0};
    EntryStarts starts;
    PagedRows pages;  // if paged, the first stride is that of the pages

    explicit operator bool() const { return data != nullptr; }
    // The element's index; an index into a dim of size 1 is ignored, which broadcasts.
    std::int64_t at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
        return row(b, i) + (dim[1] == 1 ? 0 : h * stride[1]) + (dim[3] == 1 ? 0 : j * stride[3]);
    }
    // Rows from row i on, at most `count`, that are one stride apart.
    std::int64_t rows_together(std::int64_t i, std::int64_t count) const {
        return pages ? std::min(count, pages.rows - i % pages.rows) : count;
    }

   private:
    std::int64_t row(std::int64_t b, std::int64_t i) const {
        if (pages) return pages.page(b, i) * stride[0] + i % pages.rows * stride[2];
        std::int64_t const start = starts ? starts.of(b) : (dim[0] == 1 ? 0 : b * stride[0]);
        return start + (dim[2] == 1 ? 0 : i * stride[2]);
    }
};

// A block mask in memory.
class BlockMask {
   public:
    BlockMask() = default;
    explicit BlockMask(DataView const& bytes) : bytes_(bytes) {}

    explicit operator bool() const { return static_cast<bool>(bytes_); }
    // Whether the mask keeps key j visible to query i: the same for all of one tile.
    bool keeps(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
        std::int64_t const at = bytes_.at(b, h, i / attention::kMaskTile, j / attention::kKeysOfByte);
        return attention::keeps_key(core::load_integer(bytes_.type, bytes_.data, at), j);
    }

   private:
    DataView bytes_;
};

}  // namespace cudnn_frontend::cpu
