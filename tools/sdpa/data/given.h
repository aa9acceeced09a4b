// Tensors from and to files of NumPy: --data, --got and --save.
#pragma once

#include "data/data.h"

namespace sdpa {

// NAME=file.npy for tensors of the graph, by name, port or uid. Throws Failure, as all functions here do.
Given_numbers read_given(std::vector<std::string> const& assignments, char const* option, Memories const& tensors);

// The lengths and offsets of a capsule, for a document with uids; none where it is null.
Given_numbers given_of_capsule(Json const& capsule, Json const& document, Memories const& tensors);
// The seed of the data that a capsule was made with, or the other one.
std::uint64_t seed_of(Json const& capsule, std::uint64_t otherwise);

// The tensor of that name, or of that port or uid where none has it.
Memories::value_type const& find_tensor(std::string const& name, char const* option, Memories const& tensors);

// Writes all tensors into the folder, which is made, as NAME.npy. Returns the names of the files.
std::vector<std::string> save(std::string const& folder, Memories const& memories);

}  // namespace sdpa
