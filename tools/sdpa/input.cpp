#include "input.h"

#include "output.h"

#include <cudnn_frontend/runtime.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

namespace sdpa {
namespace {

namespace fs = std::filesystem;

struct Close {
    void operator()(std::FILE* file) const {
        if (file != stdin) std::fclose(file);
    }
};

[[noreturn]] void refuse(std::string const& name, std::string const& found, Expected_file const& expected) {
    throw Failure(name, found, expected.kind, expected.source);
}

[[noreturn]] void refuse_unreadable(std::string const& name, Expected_file const& expected) {
    refuse(name, std::string("no file that can be read (") + std::strerror(errno) + ")", expected);
}

void need_size(std::string const& name, std::uint64_t bytes, Expected_file const& expected) {
    if (bytes <= expected.most_bytes) return;
    refuse(name, "more than " + bytes_text(expected.most_bytes), expected);
}

std::FILE* open(std::string const& path, Expected_file const& expected) {
    if (path == "-") return stdin;
    std::error_code status;
    if (fs::is_directory(path, status)) refuse(path, "a folder", expected);
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) refuse_unreadable(path, expected);
    return file;
}

}  // namespace

void require(fe::error_t const& error) {
    if (error.is_bad()) throw Failure(error.get_message());
}

std::string name_of(std::string const& path) { return path == "-" ? "standard input" : path; }

std::string read_bytes(std::string const& path, Expected_file const& expected) {
    std::string const name = name_of(path);
    std::unique_ptr<std::FILE, Close> const file(open(path, expected));
    std::error_code status;
    auto const size = path == "-" ? 0 : fs::file_size(path, status);
    if (!status) need_size(name, size, expected);
    std::string bytes;
    std::array<char, 65536> piece{};
    while (std::size_t const count = std::fread(piece.data(), 1, piece.size(), file.get())) {
        bytes.append(piece.data(), count);
        if (!bytes.starts_with(expected.start)) break;
        need_size(name, bytes.size(), expected);
    }
    if (std::ferror(file.get()) != 0) refuse_unreadable(name, expected);
    if (bytes.empty()) refuse(name, "nothing in it", expected);
    return bytes;
}

fe::error_t graph_of(Json const& document, fe::graph::Graph& graph) {
    return graph.deserialize(document.dump(-1, ' ', false, Json::error_handler_t::replace));
}

fe::graph::Graph valid_graph_of(Json const& document) {
    fe::graph::Graph graph;
    require(graph_of(document, graph));
    require(graph.validate());
    return graph;
}

// The document of a capsule; null for other texts.
static Json parse_capsule(std::string const& name, std::string const& text) {
    constexpr char const* kFormat = "sdpa-graph-capsule";
    if (text.find(kFormat) == std::string::npos) return nullptr;
    Json const document = Json::parse(text, nullptr, false);
    if (!document.is_object() || document.value("format", Json()) != kFormat) return nullptr;
    if (document.value("version", Json()) != 1 || !member(document, "graph").is_object())
        throw Failure(name, "a capsule of another version or without a graph", "version 1, docs/capsules.md");
    return document;
}

// Says how to convert the text where it is a graph of another format.
static char const* hint_of_conversion(std::string const& text) {
    bool const is_theirs = text.find("\"nodes\"") != std::string::npos && text.find("\"format\"") == std::string::npos;
    return is_theirs ? "\nIt may be a graph that cudnn-frontend printed. Try: sdpa convert" : "";
}

// Commands look for nodes in one list, as in version 1.
static Json document_of(std::string const& text, fe::graph::Graph const& graph) {
    Json document = Json::parse(text);
    if (document["version"] == 1) return document;
    std::string flat;
    require(graph.serialize_as_version(1, flat));
    return Json::parse(flat);
}

Graph_file parse_graph(std::string const& name, std::string const& text) {
    if (text.starts_with("sdpaplan"))
        throw Failure(name, "a stored plan", Expected_file().kind,
                      "sdpa show, which reads stored plans, or " + std::string(Expected_file().source));
    Graph_file file{name, {}, {}};
    file.capsule = parse_capsule(name, text);
    std::string const& graph = file.capsule.is_null() ? text : file.capsule["graph"].dump();
    fe::error_t const error = file.graph.deserialize(graph);
    if (error.is_bad()) throw Failure(name + ": " + error.err_msg + hint_of_conversion(graph));
    file.document = document_of(graph, file.graph);
    return file;
}

std::vector<std::string> files_of(std::vector<std::string> const& paths) {
    std::vector<std::string> files;
    for (std::string const& path : paths) {
        std::error_code status;
        if (!fs::is_directory(path, status)) {
            files.push_back(path);
            continue;
        }
        std::vector<std::string> inside;
        for (auto const& entry : fs::directory_iterator(path)) {
            if (entry.path().extension() == ".json") inside.push_back(entry.path().string());
        }
        if (inside.empty()) throw Failure(path, "no file with the ending .json in this folder", "graphs, docs/json.md");
        std::sort(inside.begin(), inside.end());
        files.insert(files.end(), inside.begin(), inside.end());
    }
    return files;
}

Graph_file read_graph(std::string const& path) { return parse_graph(name_of(path), read_bytes(path)); }

std::vector<Graph_file> read_graphs(std::vector<std::string> const& paths) {
    std::vector<Graph_file> files;
    for (std::string const& path : files_of(paths)) files.push_back(read_graph(path));
    return files;
}

Json const& member(Json const& object, std::string const& name) {
    static Json const none = Json::object();
    auto const found = object.find(name);
    return found == object.end() ? none : *found;
}

std::optional<fe::Stored_plan> parse_stored_plan(std::string const& name, std::string const& bytes) {
    auto const first = bytes.find_first_not_of(" \t\r\n\xef\xbb\xbf");  // the last three are a byte order mark
    if (first != std::string::npos && (bytes[first] == '{' || bytes[first] == '[')) return std::nullopt;
    fe::Stored_plan plan;
    fe::error_t const error = fe::read_stored_plan({bytes.begin(), bytes.end()}, plan);
    if (error.is_bad()) throw Failure(name + ": it is neither a graph as JSON nor a stored plan: " + error.err_msg);
    return plan;
}

std::string help_of_targets() {
    return "cpu, reference, cuda (the GPU here), " + joined(fe::DeviceProperties::names()) +
           " (planned with cuDNN, none of these has to be here), or a file that describes a GPU";
}

fe::Target parse_target(std::string const& name) {
    if (name == "cpu") return fe::Target::cpu();
    if (name == "reference") return fe::Target::reference();
    if (name == "cuda") {
        cudnnHandle_t handle = nullptr;
        fe::error_t const error = fe::runtime::create_handle(&handle);
        if (error.is_bad())
            throw Failure("target cuda: no GPU can be used here: " + error.err_msg +
                          ". Try: sdpa doctor, which says what is missing, or the target cpu");
        return fe::Target::cuda(handle);
    }
    if (name.find('.') == std::string::npos && name.find('/') == std::string::npos) {
        auto const device = fe::DeviceProperties::named(name);
        if (device.status().is_good()) return fe::Target::offline(name);
        throw Failure("", "the target '" + name + "'", help_of_targets());
    }
    constexpr Expected_file kDescription{"a description of a GPU, docs/offline.md", "a name such as h100"};
    std::string const text = read_bytes(name, kDescription);
    auto device = std::make_shared<fe::DeviceProperties>(fe::DeviceProperties::from_json(text));
    if (device->status().is_bad())
        throw Failure(name + ": " + device->status().err_msg + " Try: " + kDescription.kind + ", or " +
                      kDescription.source);
    return fe::Target::offline(std::move(device));
}

fe::Target parse_target_to_run(std::string const& name, std::string const& other) {
    fe::Target target = parse_target(name);
    if (target.kind() == fe::Target::Kind::OFFLINE)
        throw Failure("", "the target '" + name + "', for which plans can be made and not run",
                      "cpu, reference or cuda", other);
    return target;
}

void choose_library(std::string const& path) {
    setenv("SDPA_GRAPH_CUDNN_PATH", path.c_str(), 1);
    if (fe::runtime::cudnn_version() != 0) return;
    throw Failure("--cudnn", "no usable cuDNN in " + path,
                  "a libcudnn.so.9 or its folder, which the wheels nvidia-cudnn-cu13 and nvidia-cudnn-cu12 have as "
                  "nvidia/cudnn/lib",
                  "SDPA_GRAPH_CUDNN_PATH=" + path + " sdpa doctor");
}

std::string help_of_libraries() {
    return "A libcudnn.so.9 or its folder, such as nvidia/cudnn/lib of a wheel, in place of the one that is found";
}

}  // namespace sdpa
