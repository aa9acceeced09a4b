// The table of docs/flash.md: the options that the functions support, next to the original's.
//   flash_support_table                  prints it
//   flash_support_table --check <file>   looks for it in the file
// A CPU target is called. For a GPU the table of cuDNN's quirks is asked, as of one release on one architecture.
#include "api/graph/graph_impl.h"
#include "cudnn/quirks/support.h"
#include "flash/checks/rules.h"
#include "flash/shapes.h"
#include "gpu_call.h"
#include "nodes/validation/validate.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

using namespace flash_test;
namespace flash = sdpa_graph::flash;
namespace quirks = cudnn_frontend::quirks;

namespace {

constexpr quirks::Capabilities kHopper{.cudnn_version = 91900, .sm = 90};
constexpr char const* kHead =
    "| | original | CPU, forward | CPU, backward | GPU, forward | GPU, backward |\n|---|---|---|---|---|---|\n";

struct Row {
    char const* what;
    char const* original;
    bool is_forward_alone;
    std::int64_t queries, keys;
    void (*change)(Padded& call);
};

void drop(Padded& call) {
    call.p_dropout = 0.1f;
    call.generator_ = call.seed = call.generator.view();
}

constexpr Row kPaddedRows[] = {
    {"padded tensors", "yes", false, 128, 192, [](Padded&) {}},
    {"causal, as many queries as keys", "yes", false, 128, 128, [](Padded& c) { c.is_causal = true; }},
    {"causal, fewer queries than keys", "yes", false, 128, 192, [](Padded& c) { c.is_causal = true; }},
    {"causal, more queries than keys", "yes", false, 192, 128, [](Padded& c) { c.is_causal = true; }},
    {"a window to both sides", "yes", false, 128, 192, [](Padded& c) { c.left = c.right = 16; }},
    {"soft cap", "yes", false, 128, 192, [](Padded& c) { c.softcap = 30.0f; }},
    {"soft cap and causal", "yes", false, 128, 192,
     [](Padded& c) {
         c.softcap = 30.0f;
         c.is_causal = true;
     }},
    {"slopes", "yes", false, 128, 192, [](Padded& c) { c.slopes_ = c.slopes.view(); }},
    {"slopes and causal", "yes", false, 128, 192,
     [](Padded& c) {
         c.slopes_ = c.slopes.view();
         c.is_causal = true;
     }},
    {"dropout", "yes", false, 128, 192, drop},
    {"dropout and causal, as many queries as keys", "yes", false, 128, 128,
     [](Padded& c) {
         drop(c);
         c.is_causal = true;
     }},
    {"dropout and causal, fewer queries than keys", "yes", false, 128, 192,
     [](Padded& c) {
         drop(c);
         c.is_causal = true;
     }},
    {"return_softmax", "yes", true, 128, 192,
     [](Padded& c) {
         drop(c);
         c.return_softmax = true;
     }},
    {"dropout and a soft cap", "no", false, 128, 192,
     [](Padded& c) {
         drop(c);
         c.softcap = 30.0f;
     }},
};

struct Packed_row {
    char const* what;
    char const* original;
    bool is_forward_alone;
    void (*change)(Packed& call);
};

Tensor_view used_keys(Packed& call) {
    call.arena.buffers.push_back(Buffer::integers({2, 1}));
    return call.arena.buffers.back().view();
}

constexpr Packed_row kPackedRows[] = {
    {"packed tensors", "yes", false, [](Packed&) {}},
    {"packed tensors, all of the above but dropout", "yes", false,
     [](Packed& c) {
         c.softcap = 30.0f;
         c.slopes_ = c.slopes.view();
         c.left = 2;
     }},
    {"used keys", "yes", true, [](Packed& c) { c.used_ = used_keys(c); }},
    {"keys in pages of 256 rows", "yes", true,
     [](Packed& c) {
         c.use_pages(3, {2, 0});
     }},
    {"keys in pages of 768 rows", "yes", true,
     [](Packed& c) {
         c.use_pages(3, {2, 0});
         c.k = c.v = Buffer(DataType_t::HALF, {3, 768, 2, 8});
     }},
    {"keys in pages and dropout", "ignores dropout", true,
     [](Packed& c) {
         c.use_pages(3, {2, 0});
         c.p_dropout = 0.1f;
         c.generator_ = c.generator.view();
     }},
};

std::string answer(cudnn_frontend::error_object const& error) {
    return error.is_good() ? "yes" : "`" + error.where.rule + "`";
}

// The limits that apply to the graph of the call with cuDNN.
std::string limits_of(flash::Call const& call) {
    cudnn_frontend::graph::Graph graph;
    flash::describe(
        flash::shapes_of(call, flash::sizes_of(call), flash::rounding_of(call), cudnn_frontend::Target::cpu()), graph);
    auto const snapshot = cudnn_frontend::detail::Graph_access::snapshot(graph);
    auto const validation = cudnn_frontend::nodes::validate(snapshot.spec);
    if (!validation.graph) return validation.report.to_text();
    return answer(cudnn_frontend::quirks::check(*validation.graph, kHopper).to_error());
}

std::string on_gpu(flash::Call const& call) {
    cudnn_frontend::error_object const refused = flash::check(call);
    return refused.is_bad() ? answer(refused) : limits_of(call);
}

std::string on_gpu(Row const& row, bool is_backward) {
    Padded example({2, row.queries, 4, 64}, {2, row.keys, 2, 64});
    row.change(example);
    return on_gpu(Gpu_call(example, is_backward).call);
}

std::string on_gpu(Packed_row const& row, bool is_backward) {
    Packed example;
    row.change(example);
    return on_gpu(Gpu_call(example, is_backward).call);
}

std::string on_cpu(Row const& row, bool is_backward) {
    Padded example({2, row.queries, 4, 64}, {2, row.keys, 2, 64});
    row.change(example);
    return answer(is_backward ? example.backward() : example.forward());
}

std::string on_cpu(Packed_row const& row, bool is_backward) {
    Packed example;
    row.change(example);
    return answer(is_backward ? example.backward() : example.forward());
}

template <class Line>
std::string line_of(Line const& row) {
    std::string text = std::string("| ") + row.what + " | " + row.original;
    for (bool const is_on_gpu : {false, true})
        for (bool const is_backward : {false, true}) {
            bool const is_there = !is_backward || !row.is_forward_alone;
            text += " | " + (!is_there ? "none" : is_on_gpu ? on_gpu(row, is_backward) : on_cpu(row, is_backward));
        }
    return text + " |\n";
}

std::string table() {
    std::string text = kHead;
    for (Row const& row : kPaddedRows) text += line_of(row);
    for (Packed_row const& row : kPackedRows) text += line_of(row);
    return text;
}

int check(char const* path) {
    std::ifstream file(path);
    std::string const page{std::istreambuf_iterator<char>(file), {}};
    if (page.find(table()) != std::string::npos) return 0;
    std::printf("%s does not have the table that flash_support_table prints:\n%s", path, table().c_str());
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "--check") == 0) return check(argv[2]);
    std::fputs(table().c_str(), stdout);
    return 0;
}
