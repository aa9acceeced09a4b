// Tensors from and to files of NumPy: --data, --got and --save.
#pragma once

#include "data/data.h"

namespace sdpa {

// NAME=file.npy for tensors of the graph, by name, port or uid. Throws Failure, as all functions here do.
Given_numbers read_given(std::vector<std::string> const& assignments, char const* option, Memories const& tensors);

// The options for the data of a graph that was read, whose document has uids: the seed, else that of its capsule, or 1;
// tensors of --data; lengths and offsets of the capsule.
Data_options data_options(Graph_file const& file, Json const& document, Memories const& tensors,
                          std::optional<std::uint64_t> const& seed, std::vector<std::string> const& assignments);

// The tensor of that name, or of that port or uid where none has it.
Memories::value_type const& find_tensor(std::string const& name, char const* option, Memories const& tensors);

// Writes all tensors into the folder, which is made, as NAME.npy. Returns the names of the files.
std::vector<std::string> save(std::string const& folder, Memories const& memories);

}  // namespace sdpa
