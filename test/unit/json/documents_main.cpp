// Writes the schema, documents that it must accept and documents that it must refuse into a folder.
#include "json/graph_json.h"
#include "malformed.h"
#include "specs.h"

#include <filesystem>
#include <fstream>

using namespace cudnn_frontend;

namespace {

void write(std::filesystem::path const& path, std::string const& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return 1;
    std::filesystem::path const folder = arguments[1];
    std::filesystem::remove_all(folder / "good");
    std::filesystem::remove_all(folder / "bad");
    write(folder / "graph.schema.json", json::graph_json_schema());
    write(folder / "good/plain.json", json::write_graph(test::plain_spec()));
    write(folder / "good/attention.json", json::write_graph(test::attention_spec()));
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        write(folder / "good" / ("random_" + std::to_string(seed) + ".json"),
              json::write_graph(test::random_spec(seed)));
    }
    int number = 0;
    for (test::Malformed const& document : test::malformed_documents()) {
        std::string const name = "bad/" + std::to_string(number++) + ".json";
        if (document.schema == test::Schema::Refuses) write(folder / name, document.text);
    }
    return 0;
}
