#include "data/given.h"

#include "data/npy.h"
#include "output.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

namespace sdpa {
namespace {

namespace fs = std::filesystem;

std::string names_of(Memories const& tensors) {
    std::vector<std::string> names;
    for (auto const& [uid, memory] : tensors) names.push_back(memory.name);
    return joined(names);
}

// A name that is a file's name on all systems.
std::string file_name(std::string name) {
    for (char& letter : name) {
        bool const is_plain =
            std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-' || letter == '.';
        if (!is_plain) letter = '_';
    }
    return name;
}

// Whether the tensor is lengths, their sums or ragged offsets.
bool is_structure(Json const& document, std::string const& id, Memory const& memory) {
    if (memory.type != fe::DataType_t::INT32 && memory.type != fe::DataType_t::INT64) return false;
    if (memory.port.starts_with("seq_len_") || memory.port.starts_with("cu_seq_len_")) return true;
    return std::ranges::any_of(document.at("tensors"),
                               [&](Json const& each) { return each.value("ragged_offset", Json()) == id; });
}

bool is_list_of_integers(Json const& list, Sizes const& dim) {
    constexpr double kMost = 0x1p53;
    std::int64_t volume = 1;
    for (std::int64_t const size : dim) volume *= size;
    bool const fits = list.is_array() && list.size() == static_cast<std::size_t>(volume);
    return fits && std::ranges::all_of(list, [](Json const& each) {
               return each.is_number_integer() && std::abs(each.get<double>()) <= kMost;
           });
}

// The seed of the data that a capsule was made with, or 1.
std::uint64_t seed_of(Json const& capsule) {
    if (!capsule.is_object() || !capsule.contains("seed")) return 1;
    Json const& seed = capsule["seed"];
    if (!seed.is_number_unsigned())
        throw Failure("", "the seed " + seed.dump() + " in the capsule", "a number of 0 or more");
    return seed.get<std::uint64_t>();
}

// The lengths and offsets of a capsule, for a document with uids; none where it is null.
Given_numbers given_of_capsule(Json const& capsule, Json const& document, Memories const& tensors) {
    Given_numbers given;
    if (!capsule.is_object()) return given;
    for (auto const& [id, integers] : member(capsule, "integers").items()) {
        Json const& tensor = member(document.at("tensors"), id);
        auto const found = tensors.find(tensor.value("uid", std::int64_t{-1}));
        bool const is_known = found != tensors.end() && is_structure(document, id, found->second);
        if (!is_known || !is_list_of_integers(integers, found->second.dim))
            throw Failure("", "a capsule whose integers of '" + id + "' do not fit its graph",
                          "one number for each element of lengths or offsets");
        given[found->first] = integers.get<std::vector<double>>();
    }
    return given;
}

}  // namespace

Memories::value_type const& find_tensor(std::string const& name, char const* option, Memories const& tensors) {
    for (auto const& entry : tensors) {
        if (entry.second.name == name) return entry;
    }
    for (auto const& entry : tensors) {
        if (entry.second.port == name || std::to_string(entry.first) == name) return entry;
    }
    throw Failure(option, "no tensor '" + name + "'", "one of " + names_of(tensors));
}

Given_numbers read_given(std::vector<std::string> const& assignments, char const* option, Memories const& tensors) {
    Given_numbers given;
    for (std::string const& assignment : assignments) {
        auto const equals = assignment.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == assignment.size())
            throw Failure(option, "'" + assignment + "'", "NAME=file.npy");
        auto const& [uid, memory] = find_tensor(assignment.substr(0, equals), option, tensors);
        if (given.contains(uid)) throw Failure(option, "two files for '" + memory.name + "'", "one");
        given[uid] = numbers_of(read_npy(assignment.substr(equals + 1), memory), memory);
    }
    return given;
}

// Alone a rank's part would attend to its own tokens only.
static void check_is_whole(Graph_file const& file) {
    if (!file.capsule.is_object() || !member(file.capsule, "group").is_object()) return;
    Json const& group = file.capsule["group"];
    throw Failure(file.name,
                  "the part of rank " + group.value("rank", Json()).dump() + " of " +
                      group.value("size", Json()).dump() + " in the capsule of a group",
                  "a whole attention; run the program itself on so many ranks");
}

Data_options data_options(Graph_file const& file, Json const& document, Memories const& tensors,
                          std::optional<std::uint64_t> const& seed, std::vector<std::string> const& assignments) {
    check_is_whole(file);
    Data_options options{.seed = seed ? *seed : seed_of(file.capsule)};
    options.given = read_given(assignments, "--data", tensors);
    for (auto const& [uid, numbers] : options.given) {
        if (tensors.at(uid).is_output)
            throw Failure("--data", "'" + tensors.at(uid).name + "', which is a result", "the name of an input");
    }
    options.given.merge(given_of_capsule(file.capsule, document, tensors));
    return options;
}

std::vector<std::string> save(std::string const& folder, Memories const& memories) {
    std::error_code status;
    fs::create_directories(folder, status);
    if (status) throw Failure("--save: " + folder + ": " + status.message());
    std::vector<std::string> names;
    for (auto const& [uid, memory] : memories) {
        std::string name = file_name(memory.name);
        if (std::ranges::find(names, name + ".npy") != names.end()) name += "-" + std::to_string(uid);
        names.push_back(name + ".npy");
        write_npy((fs::path(folder) / names.back()).string(), memory);
    }
    return names;
}

}  // namespace sdpa
