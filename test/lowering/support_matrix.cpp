// Compares the table of limits with the answers of the real cuDNN, for several architectures, with no GPU:
//   support_matrix                 prints docs/reference/support-matrix.md
//   support_matrix rows <part>     prints the rows whose names have this part
//   support_matrix --check <file>  compares with the file, the table with the library, and the allowed cells with
//   the runs
// Leaves with 77 where there is no cuDNN, or another version than the file's.
#include "cudnn/library/api.h"
#include "cudnn/library/library.h"
#include "cudnn/offline/devices.h"
#include "cudnn/offline/null_driver.h"
#include "lowering/offline_answer.h"
#include "lowering/option_rows.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <thread>

namespace {

using namespace sdpa_test;
using namespace cudnn_frontend;
using Error = cudnn_frontend::error_object;

struct Column {
    char const* title;
    char const* device;
    char const* runs = nullptr;  // the place of gpu_suite's record of this compute capability
};
constexpr Column kColumns[] = {
    {"8.0", "a100"}, {"8.9", "l40s"}, {"9.0", "h200", SDPA_TEST_GPU_RUNS}, {"10.0", "b200"}, {"12.0", "rtx5090"}};
constexpr std::size_t kColumnCount = std::size(kColumns);

struct Cell {
    std::string limits;             // ids of those that the table names
    bool may_have_engines = false;  // whether one of them is about runs, not about engines
    bool is_asked = true;           // whether the library can be asked at all
    bool is_there = true;           // whether there is such a graph: only forward has some options
    bool has_run = false;           // whether all shapes of the row ran right on a device of the column
    std::string refusal;            // the library's; empty where it accepts the graph

    bool agrees() const {
        return !is_asked || limits.empty() == refusal.empty() || (may_have_engines && refusal.empty());
    }
    bool is_allowed() const { return is_there && agrees() && limits.empty(); }
    std::string text() const {
        if (!is_there) return "";
        if (!agrees()) return "**?**";
        if (is_allowed()) return has_run ? "**yes**" : "yes";
        return limits + (is_asked && refusal.empty() ? "\\*" : "");
    }
};

std::vector<OptionRow> rows_with(std::string const& part) {
    std::vector<OptionRow> rows = option_rows();
    std::erase_if(rows, [&](OptionRow const& row) { return row.name.find(part) == row.name.npos; });
    return rows;
}

quirks::Capabilities capabilities_of(cudnn::Api const& api, cudnn::Device const& device) {
    return {.cudnn_version = api.get_version(), .sm = device.sm()};
}

Cell ask(cudnn::Api const& api, OptionRow const& row, bool is_backward, cudnn::Device const& device, bool builds_plan) {
    Cell cell;
    auto const described = row.graph(is_backward);
    cell.is_there = described.has_value();
    if (!cell.is_there) return cell;
    nodes::ValidatedGraph const graph = validated(spec_of(*described));
    for (auto const& [quirk, node, violation] : quirks::violations(graph, capabilities_of(api, device), row.settings)) {
        cell.limits += (cell.limits.empty() ? "" : " ") + std::string(quirk->id).substr(std::strlen("cudnn."));
        cell.may_have_engines |= quirks::may_have_engines(*quirk);
        cell.is_asked &= quirk->evidence != quirks::Evidence::AskedOffline && !quirks::is_fatal_to_ask(*quirk);
    }
    // Engines may be named that do not compile; some limits are about these.
    bool const is_about_engines = !cell.limits.empty() && !cell.may_have_engines;
    OfflineQuestion const question{graph, row.settings, builds_plan || is_about_engines};
    if (cell.is_asked) cell.refusal = refusal_of(api, question, device);
    if (!cell.agrees()) {
        std::fprintf(stderr, "%s, %s, %s: the table says %s, the library %s\n", row.name.c_str(),
                     is_backward ? "backward" : "forward", device.name().c_str(),
                     cell.limits.empty() ? "yes" : cell.limits.c_str(),
                     cell.refusal.empty() ? "yes" : cell.refusal.c_str());
    }
    return cell;
}

// The passes that ran right on a device with this version, by row: "forward plain".
std::set<std::string> right_runs(char const* path, std::size_t cudnn_version) {
    std::set<std::string> right;
    std::ifstream file(path);
    auto const is_right = [](std::string const& count) {  // "8/8"
        auto const slash = count.find('/');
        return slash != count.npos && count.substr(0, slash) == count.substr(slash + 1) && count != "0/0";
    };
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::size_t version = 0;
        std::string forward, backward, name;
        bool const is_run = bool(words >> version >> forward >> backward) && std::getline(words.ignore(), name);
        if (!is_run || version != cudnn_version) continue;  // the file starts with lines for people
        if (is_right(forward)) right.insert("forward " + name);
        if (is_right(backward)) right.insert("backward " + name);
    }
    return right;
}

struct Matrix {
    std::vector<OptionRow> rows;
    std::vector<Cell> cells = std::vector<Cell>(rows.size() * 2 * kColumnCount);

    Cell& at(std::size_t row, bool is_backward, std::size_t column) {
        return cells[(row * 2 + (is_backward ? 1 : 0)) * kColumnCount + column];
    }
    bool has_runs(std::size_t column) {
        for (std::size_t row = 0; row < rows.size(); ++row)
            if (at(row, false, column).has_run) return true;
        return false;
    }
};

// Compiling takes two seconds for each cell: a check compiles each option alone on 9.0, and a sample of all cells.
constexpr char const* kOptions[] = {
    "plain",
    "causal, top left",
    "causal, bottom right",
    "right bound",
    "left bound alone",
    "sliding window",
    "padding",
    "scale, by value",
    "scale, on the device",
    "bias",
    "alibi alone",
    "dropout",
    "dropout mask",
    "key and value heads differ",
    "heads of 192 and 128",
    "ragged",
    "pages of 16",
    "softcap",
    "relative bias",
    "sink",
    "max and sum_exp",
    "inference",
    "deterministic",
    "unified",
    "one query, many keys",
    "FP8",
};

bool is_compiled(OptionRow const& row, std::size_t cell) {
    bool const is_hopper = std::string(kColumns[cell % kColumnCount].title) == "9.0";
    bool const is_option = std::ranges::find(kOptions, row.name) != std::end(kOptions);
    return (is_hopper && is_option) || cell % 67 == 0;
}

void fill(Matrix& matrix, cudnn::Api const& api, bool is_check) {
    std::vector<std::shared_ptr<cudnn::Device const>> devices;
    for (Column const& column : kColumns) {
        auto device = cudnn::Device::from_json(api, offline::find_device(column.device).value().properties);
        devices.push_back(std::move(device).value());
    }
    std::atomic<std::size_t> next{0};
    auto const worker = [&] {
        for (std::size_t i = next++; i < matrix.cells.size(); i = next++) {
            bool const is_backward = i / kColumnCount % 2 == 1;
            OptionRow const& row = matrix.rows[i / kColumnCount / 2];
            matrix.cells[i] = ask(api, row, is_backward, *devices[i % kColumnCount], !is_check || is_compiled(row, i));
        }
    };
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(worker);
}

void mark_runs(Matrix& matrix, cudnn::Api const& api) {
    for (std::size_t column = 0; column < kColumnCount; ++column) {
        if (kColumns[column].runs == nullptr) continue;
        std::set<std::string> const right = right_runs(kColumns[column].runs, api.get_version());
        for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
            matrix.at(row, false, column).has_run = right.contains("forward " + matrix.rows[row].name);
            matrix.at(row, true, column).has_run = right.contains("backward " + matrix.rows[row].name);
        }
    }
}

// Passes that the table allows though they did not run, on devices where this version of cuDNN ran others.
std::string passes_without_run(Matrix& matrix) {
    std::string passes;
    for (std::size_t column = 0; column < kColumnCount; ++column) {
        if (!matrix.has_runs(column)) continue;
        for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
            for (bool const is_backward : {false, true}) {
                Cell const& cell = matrix.at(row, is_backward, column);
                if (!cell.is_allowed() || cell.has_run) continue;
                passes += matrix.rows[row].name + (is_backward ? ", backward\n" : ", forward\n");
            }
        }
    }
    return passes;
}

std::string version_line(cudnn::Api const& api) { return "cuDNN " + cudnn::version_text(api.get_version()); }

constexpr char const* kExplanation =
    R"(, asked offline for one graph of each row: 67 queries, 131 keys, BFLOAT16, unless the row says otherwise; FP8
with 80 queries, MXFP8 with 1024 of both. Printed by `build/dev/test/lowering/support_matrix` where that library is found.
Every test run with 9.19.0 compares [its matrix](support-matrix.md) with the library; those of
[9.14.0](support-matrix-9.14.0.md) and [9.28.0](support-matrix-9.28.0.md) are as they were printed.

- *yes*: an engine supports the graph, and its plan was compiled, measured and stored.
- **yes**: the row also ran on a GPU of that compute capability, in all shapes of its group, and the numbers were right
  ([gpu-runs.txt](gpu-runs.txt), written by `gpu_suite limits`).
- An id: a limit of [cudnn.md](../cudnn.md#limits); no engine supports the graph.
- An id with \*: engines support the graph, and it is refused because runs failed or were wrong where it was tried;
  [cudnn-quirks.md](../cudnn-quirks.md) says with which release and on which GPU.

| option |)";

std::string markdown(Matrix& matrix, cudnn::Api const& api) {
    std::string text = "# Support matrix\n\n" + version_line(api) + kExplanation;
    for (char const* direction : {"forward", "backward"}) {
        for (Column const& column : kColumns) text += std::string(" ") + direction + " " + column.title + " |";
    }
    text += "\n|---|";
    for (std::size_t i = 0; i < 2 * kColumnCount; ++i) text += "---|";
    for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
        text += "\n| " + matrix.rows[row].name + " |";
        for (bool const is_backward : {false, true}) {
            for (std::size_t column = 0; column < kColumnCount; ++column)
                text += " " + matrix.at(row, is_backward, column).text() + " |";
        }
    }
    return text + "\n";
}

std::string new_lines(std::string const& before, std::string const& now) {
    std::istringstream text(now);
    std::string lines;
    for (std::string line; std::getline(text, line);) {
        if (("\n" + before).find("\n" + line + "\n") == before.npos) lines += line + "\n";
    }
    return lines;
}

// Whether engines that are named also compile is not asked again where a run of theirs was wrong.
std::string without_stars(std::string text) {
    for (auto at = text.find("\\*"); at != text.npos; at = text.find("\\*")) text.erase(at, 2);
    return text;
}

int check(Matrix& matrix, char const* path, cudnn::Api const& api) {
    std::ifstream file(path);
    std::string const text = without_stars(markdown(matrix, api));
    std::string const committed = without_stars({std::istreambuf_iterator<char>(file), {}});
    if (committed.find(version_line(api) + ",") == committed.npos) {
        std::printf("skipped: %s is of another version than %s\n", path, version_line(api).c_str());
        return 77;
    }
    bool const is_same = committed == text, agrees = text.find("**?**") == text.npos;
    if (!is_same)
        std::printf("%s differs from what the library says now:\n%s", path, new_lines(committed, text).c_str());
    if (!agrees) std::puts("the table of limits and the library disagree where the matrix has a question mark");
    bool const lacks_runs = committed.find("**yes**") != committed.npos && text.find("**yes**") == text.npos;
    if (lacks_runs) std::puts("the file has passes that ran, but docs/reference/gpu-runs.txt none of this version");
    std::string const unrun = passes_without_run(matrix);
    if (!unrun.empty()) {
        std::printf(
            "allowed on 9.0, though docs/reference/gpu-runs.txt has no right runs of all shapes; run gpu_suite limits "
            "there with SDPA_GRAPH_GPU_RECORD:\n%s",
            unrun.c_str());
    }
    return is_same && agrees && !lacks_runs && unrun.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Error const driver = offline::load_null_driver();
    cudnn::Library const& library = cudnn::library();
    if (driver.is_bad() || library.api == nullptr) {
        std::printf("skipped: %s\n", (driver.is_bad() ? driver : library.error).err_msg.c_str());
        return 77;
    }
    bool const is_check = argc == 3 && std::strcmp(argv[1], "--check") == 0;
    bool const is_part = argc == 3 && std::strcmp(argv[1], "rows") == 0;
    Matrix matrix{is_part ? rows_with(argv[2]) : option_rows()};
    fill(matrix, *library.api, is_check);
    mark_runs(matrix, *library.api);
    if (is_check) return check(matrix, argv[2], *library.api);
    std::fputs(markdown(matrix, *library.api).c_str(), stdout);
    return 0;
}
