// sdpa draw: pictures of a graph, of its operations and of its plan.
#include "graph_arguments.h"
#include "input.h"
#include "output.h"
#include "pictures/flow_picture.h"

#include <memory>

namespace sdpa {
namespace {

struct Draw_options {
    std::string path, what = "graph", format = "text", target = "cpu";
    bool is_json = false;
};

// Text in a quoted string of DOT.
std::string quoted(std::string const& text) {
    std::string result = "\"";
    for (char const c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + "\"";
}

std::string label_of(Json const& tensor, std::string const& id) {
    std::string const name = tensor.value("name", "");
    std::string label = name.empty() ? id : name;
    if (tensor.contains("dim")) label += " " + list_text(tensor["dim"].get<std::vector<std::int64_t>>());
    return label;
}

// Nodes as boxes, tensors as ellipses, with the ports at the edges.
std::string graph_dot(Json const& document) {
    std::string text = "digraph graph_of_nodes {\n  rankdir=TB;\n";
    for (auto const& [id, tensor] : document.at("tensors").items()) {
        bool const is_virtual = tensor.value("is_virtual", false);
        text += "  " + id + " [label=" + quoted(label_of(tensor, id)) + (is_virtual ? ", style=dashed" : "") + "];\n";
    }
    std::size_t number = 0;
    for (Json const& node : document.at("nodes")) {
        std::string const name = "n" + std::to_string(number++);
        text += "  " + name +
                " [shape=box, label=" + quoted(node["tag"].get<std::string>() + " " + node.value("name", "")) + "];\n";
        for (auto const& [port, id] : member(node, "inputs").items())
            text += "  " + id.get<std::string>() + " -> " + name + " [label=" + quoted(port) + "];\n";
        for (auto const& [port, id] : member(node, "outputs").items())
            text += "  " + name + " -> " + id.get<std::string>() + " [label=" + quoted(port) + "];\n";
    }
    return text + "}\n";
}

std::string draw_operations(Draw_options const& options, Graph_file const& file) {
    using Format = fe::graph::OperationsFormat;
    std::string text;
    require(file.graph.print_operations(text, options.format == "text" ? Format::TEXT : Format::DOT));
    return options.format == "svg" ? svg_of_dot(text) : text;
}

std::string draw_graph(Draw_options const& options, Graph_file const& file) {
    if (options.format == "text") return file.graph.print();
    std::string const dot = graph_dot(file.document);
    return options.format == "svg" ? svg_of_dot(dot) : dot;
}

// The plan's picture; as text its name, kernels and candidates.
std::string draw_plan(Draw_options const& options, Graph_file& file) {
    std::string text;
    if (options.format != "text") {
        auto const format = options.format == "svg" ? fe::graph::PictureFormat::SVG : fe::graph::PictureFormat::DOT;
        require(file.graph.draw_plan(text, format));
        return text;
    }
    std::vector<std::uint8_t> bytes;
    fe::Stored_plan plan;
    require(file.graph.serialize(bytes));
    require(fe::read_stored_plan(bytes, plan));
    require(file.graph.print_candidates(text));
    return plan.to_text() + "\n" + text;
}

int draw(Draw_options const& options) {
    Graph_file file = read_graph(options.path);
    std::string text;
    if (options.what == "plan") {
        fe::error_t const error = file.graph.build(parse_target(options.target));
        if (error.is_bad()) {
            std::string const reason =
                "no plan on " + options.target + ", sdpa explain says more:\n" + error.get_message() + "\n";
            if (options.is_json)
                print_json({{"what", options.what}, {"picture", nullptr}, {"refusal", error.get_message()}});
            else print_text(reason);
            return kNo;
        }
        text = draw_plan(options, file);
    } else {
        require(file.graph.validate());
        text = options.what == "graph" ? draw_graph(options, file) : draw_operations(options, file);
    }
    if (!text.empty() && text.back() != '\n') text += '\n';
    if (options.is_json) print_json({{"what", options.what}, {"format", options.format}, {"picture", text}});
    else print_text(text);
    return kYes;
}

}  // namespace

void add_draw(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Draw_options>();
    CLI::App* const command = app.add_subcommand("draw", "A picture of a graph, of its operations or of its plan");
    add_graph(*command, options->path);
    command->add_option("--what", options->what, "graph, operations or plan")
        ->capture_default_str()
        ->check(CLI::IsMember({"graph", "operations", "plan"}));
    command->add_option("--format", options->format, "text, svg, or dot for Graphviz")
        ->capture_default_str()
        ->check(CLI::IsMember({"text", "svg", "dot"}));
    command->add_option("--target,--for", options->target, "Of a plan: " + help_of_targets())->capture_default_str();
    command->add_flag("--json", options->is_json, "Print JSON");
    command->footer(
        footer("  sdpa draw graph.json --what operations\n  sdpa draw graph.json --format svg > graph.svg\n"
               "  sdpa draw graph.json --what plan --for h100 --format svg > plan.svg",
               "0: it was drawn; 1: there is no plan to draw"));
    command->callback([options, &action] { action = [options] { return draw(*options); }; });
}

}  // namespace sdpa
