// Tensors of a graph in host memory.
#pragma once

#include "input.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sdpa {

using Sizes = std::vector<std::int64_t>;

struct Memory {
    std::string name, port;  // the port of the first node that has it
    fe::DataType_t type = fe::DataType_t::NOT_SET;
    Sizes dim, stride;
    bool is_output = false, is_by_value = false;
    Sizes starts, rows;  // of a ragged tensor: where each batch entry starts, in elements, and its rows
    std::vector<std::byte> bytes;

    double get(std::int64_t element) const;
    void set(std::int64_t element, double value);
    std::int64_t place(Sizes const& index) const;  // the element at these indices
    std::int64_t size() const;                     // elements of the memory
    // Sets all elements of the memory, those between the tensor's too, in their order there.
    void generate(std::function<double()> const& next);
    // Calls visit(index, element) for each element that the tensor has, in row-major order.
    void for_each(std::function<void(Sizes const&, std::int64_t)> const& visit) const;
};

std::int64_t element_bits(fe::DataType_t type);  // 0 for types that are not supported here

// The tensors of a pack by uid.
using Memories = std::map<std::int64_t, Memory>;

std::map<std::int64_t, void*> host_pack(Memories& memories);

}  // namespace sdpa
