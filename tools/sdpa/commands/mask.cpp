// sdpa mask: which keys are visible to which queries, in the terminal or as a picture.
#include "data/data.h"
#include "graph_arguments.h"
#include "output.h"
#include "pictures/visibility.h"
#include "pictures/window.h"

#include <cudnn_frontend/neighborhood_picture.h>

#include <unistd.h>
#include <algorithm>
#include <memory>
#include <sstream>

namespace sdpa {
namespace {

struct Mask_options {
    std::string path, query, format = "text";
    Visibility_options visibility;
    bool is_json = false;
};

std::string text_picture(Visibility const& mask) {
    std::size_t width = std::to_string(mask.rows.empty() ? 0 : mask.rows.back()).size();
    std::string text;
    for (std::size_t r = 0; r < mask.rows.size(); ++r) {
        std::string const number = std::to_string(mask.rows[r]);
        text += std::string(width - number.size() + 2, ' ') + number + " ";
        for (bool const is_visible : mask.visible[r]) text += is_visible ? '#' : '.';
        text += "\n";
    }
    return text;
}

std::string drawn_text(std::int64_t all, Sizes const& drawn, char const* noun) {
    std::string text = std::to_string(all) + " " + noun;
    if (static_cast<std::int64_t>(drawn.size()) < all) text += " (" + std::to_string(drawn.size()) + " of them drawn)";
    return text;
}

std::string place_text(char const* noun, std::int64_t place, std::int64_t all) {
    return std::string(", ") + noun + " " + std::to_string(place) + " of " + std::to_string(all);
}

std::string to_text(Visibility const& mask, Mask_options const& options, std::string const& graph) {
    std::string const sizes = drawn_text(mask.queries, mask.rows, "queries") + " down, " +
                              drawn_text(mask.keys, mask.columns, "keys") + " across" +
                              place_text("batch entry", options.visibility.batch, mask.batches) +
                              place_text("head", options.visibility.head, mask.heads);
    return table({{"graph", graph},
                  {"node", mask.node},
                  {"sizes", sizes},
                  {"legend", "# visible, . hidden; " + mask.source}}) +
           text_picture(mask);
}

Mask_picture picture_of(Visibility const& mask) {
    std::string const caption = drawn_text(mask.queries, mask.rows, "queries") + " down, " +
                                drawn_text(mask.keys, mask.columns, "keys") + " across";
    return {caption, mask.queries, mask.keys, mask.visible, {}};
}

void draw(Mask_options const& options, Mask_picture const& picture) {
    if (options.format == "png" && isatty(STDOUT_FILENO) == 1)
        throw Failure("--format png", "a terminal", "a file or a pipe", "sdpa mask ... > mask.png");
    if (options.format == "png") print(to_png(picture));
    else print_text(to_svg(picture));
}

// "3,4" as {3, 4}.
Sizes numbers_of(std::string const& text) {
    Sizes numbers;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        try {
            std::size_t end = 0;
            numbers.push_back(std::stoll(part, &end));
            if (end == part.size()) continue;
        } catch (std::logic_error const&) {
        }
        throw Failure("--query", "'" + text + "'", "a number for each axis, such as 3,4");
    }
    return numbers;
}

// The window of one query in space; in the middle, if none is chosen.
int show_window(Mask_options const& options, Graph_file const& file) {
    Json const described = with_uids(file.document);
    fe::graph::Graph const graph = valid_graph_of(described);
    Json const document = with_dims(described, graph);
    Json const& node = *neighborhood_node(document);
    Sizes query = numbers_of(options.query);
    if (query.empty()) query = middle_query(document, node);
    std::string picture;
    if (options.format != "text") {
        Visibility_options const& most = options.visibility;
        draw(options, window_picture(document, node, query, most.most_rows, most.most_columns));
        return kYes;
    }
    require(fe::graph::draw_window(graph, query, picture));
    if (picture.empty() || picture.back() != '\n') picture += '\n';
    if (options.is_json) {
        print_json({{"query", query}, {"picture", picture}});
        return kYes;
    }
    print_text(
        table({{"graph", file.name}, {"node", node_text(node)}, {"legend", "◆ the query, █ visible, · hidden"}}) +
        picture);
    return kYes;
}

int show(Mask_options const& options) {
    Graph_file const file = read_graph(options.path);
    if (neighborhood_node(file.document) != nullptr) return show_window(options, file);
    if (!options.query.empty()) throw Failure("--query", "no node of neighborhood attention", "one");
    Visibility const mask = visibility_of(file, options.visibility);
    if (!options.is_json) {
        if (options.format == "text") print_text(to_text(mask, options, file.name));
        else draw(options, picture_of(mask));
        return kYes;
    }
    Json lines = Json::array();
    for (auto const& line : mask.visible) {
        std::string text;
        for (bool const is_visible : line) text += is_visible ? '#' : '.';
        lines.push_back(text);
    }
    print_json({{"source", mask.source},
                {"node", mask.node},
                {"queries", mask.queries},
                {"keys", mask.keys},
                {"rows", mask.rows},
                {"columns", mask.columns},
                {"visible", lines}});
    return kYes;
}

}  // namespace

void add_mask(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Mask_options>();
    CLI::App* const command = app.add_subcommand("mask", "Which keys are visible to which queries");
    Visibility_options& visibility = options->visibility;
    add_graph(*command, options->path);
    command->add_option("--batch", visibility.batch, "The batch entry")->capture_default_str()->check(at_least(0));
    command->add_option("--head", visibility.head, "The head")->capture_default_str()->check(at_least(0));
    command->add_option("--rows", visibility.most_rows, "The most queries to draw")
        ->capture_default_str()
        ->check(at_least(1));
    command->add_option("--columns", visibility.most_columns, "The most keys to draw")
        ->capture_default_str()
        ->check(at_least(1));
    command->add_option("--seq-len-q", visibility.length_q, "With a padding mask, the rows of the sequences")
        ->check(at_least(0));
    command->add_option("--seq-len-kv", visibility.length_kv, "With a padding mask, the keys of the sequences")
        ->check(at_least(0));
    command->add_option("--query", options->query, "Of neighborhood attention: the query's place, such as 3,4");
    CLI::Option* const format =
        command->add_option("--format", options->format, "text; svg, a small picture; png, a larger one")
            ->capture_default_str()
            ->check(CLI::IsMember({"text", "svg", "png"}));
    command->add_flag("--json", options->is_json, "Print JSON")->excludes(format);
    command->footer(
        footer("  sdpa mask graph.json\n  sdpa mask graph.json --rows 32 --columns 32 --seq-len-kv 20\n"
               "  sdpa mask graph.json --format svg > mask.svg\n  sdpa mask graph.json --format png > mask.png",
               "0: it was drawn"));
    command->callback([options, &action] { action = [options] { return show(*options); }; });
}

}  // namespace sdpa
