// The named score modifiers of test/support/modifiers as files for bench/modifiers.py:
//
//     bench_modifier_graphs <folder> [queries and keys]
//
// Each has a folder, <number>-<name>, with forward.json and backward.json, and the elements of each tensor that the
// modifier reads in <uid>.bin.
#include "support/modifiers/modifier_problem.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using namespace sdpa_test;

bool write(std::filesystem::path const& path, char const* bytes, std::int64_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(bytes, count);
    return file.good();
}

bool write_graph(std::filesystem::path const& path, cudnn_frontend::graph::Graph const& graph) {
    std::string text;
    auto const error = graph.serialize(text);
    if (error.is_bad()) std::fprintf(stderr, "%s\n", error.get_message().c_str());
    return error.is_good() && write(path, text.data(), std::ssize(text));
}

bool write_modifier(std::filesystem::path const& folder, NamedModifier const& modifier, ModifierSizes const& sizes) {
    std::filesystem::create_directories(folder);
    ModifierProblem problem(&modifier, DataType_t::BFLOAT16, sizes);
    bool is_good = write_graph(folder / "forward.json", problem.forward()) &&
                   write_graph(folder / "backward.json", problem.backward());
    for (auto const& [uid, tensor] : problem.tensors()) {
        if (uid < ModifierProblem::OfModifier) continue;
        is_good =
            is_good && write(folder / (std::to_string(uid) + ".bin"), reinterpret_cast<char const*>(tensor.data()),
                             tensor.volume() * element_size(tensor.type));
    }
    return is_good;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) return std::fputs("bench_modifier_graphs: expected a folder\n", stderr), 2;
    std::int64_t const rows = count > 2 ? std::atoll(arguments[2]) : 2048;
    ModifierSizes const sizes{
        .batches = 4, .heads = 16, .key_heads = 16, .queries = rows, .keys = rows, .columns = 128};
    int number = 10;  // two digits, so that names sort
    for (NamedModifier const& modifier : named_modifiers()) {
        std::string const name = std::to_string(number++) + "-" + modifier.name;
        if (!write_modifier(std::filesystem::path(arguments[1]) / name, modifier, sizes)) return 1;
    }
    return 0;
}
