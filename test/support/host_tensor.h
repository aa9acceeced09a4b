// Strided tensors in host memory that reveal every wrong access: all memory starts as NaN, is surrounded by guard
// bytes, and can be compared with an earlier snapshot of itself.
#pragma once

#include <cudnn_frontend/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sdpa_test {

using cudnn_frontend::DataType_t;
using Index4 = std::array<std::int64_t, 4>;

std::int64_t element_size(DataType_t type);
bool is_fp8(DataType_t type);
char const* name_of(DataType_t type);
std::string to_string(Index4 const& index);  // (1, 2, 3, 4)

// Calls visit(Index4) for each index, in row-major order.
template <class Visit>
void for_each_index(Index4 const& dim, Visit visit) {
    Index4 at{};
    for (at[0] = 0; at[0] < dim[0]; ++at[0])
        for (at[1] = 0; at[1] < dim[1]; ++at[1])
            for (at[2] = 0; at[2] < dim[2]; ++at[2])
                for (at[3] = 0; at[3] < dim[3]; ++at[3]) visit(at);
}

// Bytes between guards; several tensors may share them.
class HostMemory {
   public:
    explicit HostMemory(std::int64_t bytes);
    HostMemory(HostMemory const&) = delete;
    HostMemory& operator=(HostMemory const&) = delete;

    std::byte* data() const { return begin_; }  // 256-byte aligned
    std::int64_t size() const { return size_; }
    // The first byte, guards included.
    std::byte const* first() const { return storage_.data(); }
    std::size_t extent() const { return storage_.size(); }
    bool guards_intact() const;

   private:
    std::vector<std::byte> storage_;
    std::byte* begin_;
    std::int64_t size_;
};

struct HostTensor {
    DataType_t type = DataType_t::FLOAT;
    Index4 dim{1, 1, 1, 1};
    Index4 stride{1, 1, 1, 1};
    std::shared_ptr<HostMemory> memory;  // null: there is no such tensor
    std::int64_t first = 0;              // the index of the first element in the memory
    // Where each batch entry of a ragged tensor starts, and how many rows it has. Rows past those have no memory: they
    // read as 0, and setting them does nothing.
    std::vector<std::int64_t> starts, rows;
    std::shared_ptr<HostTensor> offsets;  // the starts as the graph gets them, with the end of the last entry
    std::int64_t offset_unit = 1;         // elements of one unit of them
    // The rows of a page and the pages of each batch entry, for a tensor in pages, where dim is that of the sequences.
    // Rows past those have no memory.
    std::int64_t page_rows = 0;
    std::vector<std::vector<std::int64_t>> pages;
    std::shared_ptr<HostTensor> container, table;  // as the graph gets them, the former on the same memory

    explicit operator bool() const { return memory != nullptr; }
    std::byte* data() const { return memory->data() + first * element_size(type); }
    bool has(Index4 const& at) const;
    std::byte* element(Index4 const& at) const;
    double get(Index4 const& at) const;
    void set(Index4 const& at, double value) const;  // rounds to the tensor's type
    std::int64_t volume() const { return dim[0] * dim[1] * dim[2] * dim[3]; }
    // The largest power of two, up to 16, that divides the address.
    std::int64_t alignment() const;
    // Sets each element to value(index).
    template <class Value>
    HostTensor const& fill(Value value) const {
        for_each_index(dim, [&](Index4 const& at) { set(at, value(at)); });
        return *this;
    }
};

// A tensor with its own memory. Without strides: row-major and packed.
HostTensor make_tensor(DataType_t type, Index4 const& dim, Index4 const& stride);
HostTensor make_tensor(DataType_t type, Index4 const& dim);
Index4 packed_strides(Index4 const& dim);
std::int64_t span_of(Index4 const& dim, Index4 const& stride);  // elements from the first to the last, inclusive

// Whether both hold the same bytes in each element.
bool same_bits(HostTensor const& a, HostTensor const& b);

// The content of the memory of a list of tensors at one time.
class MemorySnapshot {
   public:
    explicit MemorySnapshot(std::vector<HostTensor> const& tensors);
    // Where a byte changed that is not part of an element of the outputs; empty if none. Names the memory by its first
    // tensor.
    std::string change_outside(std::vector<HostTensor> const& outputs) const;

   private:
    struct Block {
        std::shared_ptr<HostMemory> memory;
        std::vector<std::byte> bytes;
    };
    std::vector<Block> blocks_;
};

}  // namespace sdpa_test
