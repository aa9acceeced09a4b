// Graphs and stored plans from files or standard input.
#pragma once

#include "command.h"

#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/stored_plan.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

namespace fe = cudnn_frontend;

// Throws Failure with the error's text.
void require(fe::error_t const& error);

// The kind of file that is read and how to get one, for messages; its greatest size; and the bytes that it begins with,
// since no more than the beginning of another file is read.
struct Expected_file {
    char const* kind = "a graph as JSON, docs/json.md";
    char const* source = "sdpa new, which makes one";
    std::size_t most_bytes = std::size_t{64} << 20;
    std::string_view start = {};
};

// The bytes of a file, or of standard input for "-". Throws Failure, as all functions here do.
std::string read_bytes(std::string const& path, Expected_file const& expected = {});
// The name in messages: the path, or "standard input".
std::string name_of(std::string const& path);

// The files, and those with the ending .json in folders, sorted.
std::vector<std::string> files_of(std::vector<std::string> const& paths);

// A graph that was read, and its document in version 1 of the format, for edits.
struct Graph_file {
    std::string name;
    Json document;
    fe::graph::Graph graph;
    Json capsule = nullptr;  // the capsule that has the graph, docs/capsules.md
};
Graph_file read_graph(std::string const& path);
// All graphs of files and folders, so that a command finds one that is not readable before it works on the others.
std::vector<Graph_file> read_graphs(std::vector<std::string> const& paths);
Graph_file parse_graph(std::string const& name, std::string const& text);
// The graph of a document; the error says what is wrong with it.
fe::error_t graph_of(Json const& document, fe::graph::Graph& graph);
// The same, validated. Throws Failure.
fe::graph::Graph valid_graph_of(Json const& document);

// The member of an object, or an empty object where there is none.
Json const& member(Json const& object, std::string const& name);

// A stored plan where the bytes are one; nothing where they are text.
std::optional<fe::Stored_plan> parse_stored_plan(std::string const& name, std::string const& bytes);

// cpu, reference, cuda, a described GPU such as h100, or a file that describes one. Throws Failure for anything else,
// and where there is no GPU for cuda.
fe::Target parse_target(std::string const& name);
// The same without described GPUs, on which nothing can run; the message names the command that serves them.
fe::Target parse_target_to_run(std::string const& name, std::string const& other);
// The help of options that choose a target.
std::string help_of_targets();

// The cuDNN that this process asks from now on, as a file or its folder. Throws Failure where none can be used there.
void choose_library(std::string const& path);
std::string help_of_libraries();

}  // namespace sdpa
