// Writes graphs/: the attention of published models, as JSON, and its index.
//   make_graphs graphs            writes them
//   make_graphs graphs --check    compares them with the files that are there
#include "attention_graph.h"

#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

using namespace corpus;

std::string product(std::int64_t a, std::int64_t b) {
    return a == b ? std::to_string(a) : std::to_string(a) + "/" + std::to_string(b);
}

std::string shape_text(Model const& model) {
    Shape const& shape = model.shape;
    return std::to_string(shape.batches) + " x " + product(shape.heads, shape.key_heads) + " x " +
           product(shape.queries, shape.keys) + " x " + product(shape.depth, shape.value_depth);
}

std::string shape_text(Window_model const& model) {
    Window const& window = model.window;
    std::string text = std::to_string(window.batches) + " x " + std::to_string(window.heads) + " x (";
    for (std::size_t axis = 0; axis < window.space.size() && window.space[axis] > 0; ++axis)
        text += (axis > 0 ? ", " : "") + std::to_string(window.space[axis]);
    return text + ") x " + std::to_string(window.depth);
}

char const* answer_of(Model const& model) { return model.options.on_h100; }
char const* answer_of(Window_model const& model) { return model.window.on_h100; }
bool has_picture(Model const& model) { return model.options.mask == Mask::Options; }
bool has_picture(Window_model const&) { return true; }

// Numbers of articles become links to arXiv.
std::string source_text(std::string const& source) {
    bool const is_number = std::isdigit(static_cast<unsigned char>(source[0])) != 0;
    return is_number ? "[arXiv " + source + "](https://arxiv.org/abs/" + source + ")" : source;
}

template <class One>
std::string row_of(One const& model) {
    std::string const file = model.file;
    std::string const picture = has_picture(model) ? "![mask](masks/" + file + ".svg)" : "data";
    return "| " + picture + " | [" + file + "](" + file + ".json) | " + model.what + " | " + shape_text(model) + " | " +
           source_text(model.source) + " | " + answer_of(model) + " |\n";
}

constexpr char const* kHead =
    "# Graphs\n"
    "\n"
    "The attention of published models as [JSON](../docs/json.md), for tests, benchmarks and `sdpa`.\n"
    "\n"
    "- *shape*: batch entries, heads (of Q / of K and V), tokens (queries / keys), head dim (of Q and K / of V). "
    "Heads,\n"
    "  head dims, windows, scales and sizes of pictures are the published ones; batch entries are examples, and so "
    "are\n"
    "  lengths of text below the model's context.\n"
    "- *mask*: queries down, keys across, blue where the key is visible; for windows in space, the middle query in red "
    "and\n"
    "  its keys. Sequences have full lengths. *data*: the mask is in a tensor, such as a block mask or the tree in a "
    "bias.\n"
    "- *on an H100*: whether cuDNN 9.19 has a plan, or the rule by which there is none.\n"
    "\n"
    "`make_graphs graphs` writes the graphs and this page from the tables in [tools/graphs](../tools/graphs), and\n"
    "`tools/graphs/draw_masks.py SDPA graphs` draws the masks by `sdpa mask --format svg`.\n";

template <class Models>
std::string section_of(char const* title, Models const& models) {
    std::string text = std::string("\n## ") + title +
                       "\n\n| mask | graph | what it is | shape | published in | on an H100 |\n"
                       "|---|---|---|---|---|---|\n";
    for (auto const& model : models) text += row_of(model);
    return text;
}

std::string index_page() {
    return kHead + section_of("Language models", language_models()) +
           section_of("Serving, packed sequences and 8-bit types", serving_models()) +
           section_of("Pictures and video", picture_models()) + section_of("Windows in space", window_models()) +
           section_of("Sound and molecules", other_models());
}

// Writes the files, or counts those that differ.
class Folder {
   public:
    Folder(std::filesystem::path path, bool only_checks) : path_(std::move(path)), only_checks_(only_checks) {}

    void put(std::string const& name, std::string const& text) {
        if (!only_checks_) {
            std::ofstream(path_ / name, std::ios::binary) << text;
            return;
        }
        std::ifstream file(path_ / name, std::ios::binary);
        if (std::string(std::istreambuf_iterator<char>(file), {}) == text) return;
        ++different_;
        std::printf("%s differs from what make_graphs writes\n", name.c_str());
    }
    template <class Models>
    void put_all(Models const& models) {
        for (auto const& model : models) put(std::string(model.file) + ".json", json_of(model));
    }
    int different() const { return different_; }

   private:
    std::filesystem::path path_;
    bool only_checks_;
    int different_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argc > 3 || (argc == 3 && std::string(argv[2]) != "--check")) {
        std::fprintf(stderr, "usage: make_graphs FOLDER [--check]\n");
        return 2;
    }
    Folder folder(argv[1], argc == 3);
    for (auto const& models : {language_models(), serving_models(), picture_models(), other_models()})
        folder.put_all(models);
    folder.put_all(window_models());
    folder.put("README.md", index_page());
    return folder.different() > 0 ? 1 : 0;
}
