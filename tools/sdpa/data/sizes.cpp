#include "data/sizes.h"

#include "data/memory.h"
#include "output.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

namespace sdpa {
namespace {

using Choice = std::optional<std::int64_t>;  // a size, or the graph's own

// The axes of a port's tensor that have these sizes; -1: none has.
struct Port_axes {
    std::string_view port;
    int batch = -1, queries = -1, keys = -1;
    bool may_broadcast = false;  // a size of 1 stays
};

constexpr Port_axes kPorts[] = {
    {"Q", 0, 2},         {"K", 0, -1, 2},         {"V", 0, -1, 2},          {"O", 0, 2},      {"dO", 0, 2},
    {"Stats", 0, 2},     {"Max", 0, 2},           {"Sum_exp", 0, 2},        {"dQ", 0, 2},     {"dK", 0, -1, 2},
    {"dV", 0, -1, 2},    {"bias", 0, 2, 3, true}, {"dBias", 0, 2, 3, true}, {"seq_len_q", 0}, {"seq_len_kv", 0},
    {"page_table_k", 0}, {"page_table_v", 0},     {"attn_scale"},           {"seed"},         {"offset"},
    {"sink_token"},      {"dSink_token"},
};

// The strides after a change of dims: an axis steps over more elements by the factor by which the axes inside it grew.
std::optional<Sizes> strides_of(Sizes const& dim, Sizes const& stride, Sizes const& resized) {
    std::vector<std::size_t> axes(dim.size());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    // Where two axes have one stride, the later one is inside: the other or both have the size 1.
    std::sort(axes.begin(), axes.end(),
              [&](std::size_t a, std::size_t b) { return stride[a] != stride[b] ? stride[a] < stride[b] : a > b; });
    Sizes result = stride;
    std::int64_t before = 1, after = 1;
    for (std::size_t const axis : axes) {
        if (stride[axis] % before != 0) return std::nullopt;
        result[axis] = stride[axis] / before * after;
        if (dim[axis] == resized[axis]) continue;
        before *= dim[axis];
        after *= resized[axis];
    }
    return result;
}

class Resizer {
   public:
    Resizer(std::string name, Json document) : name_(std::move(name)), document_(std::move(document)) {
        Json const& nodes = document_["nodes"];
        if (nodes.size() != 1 || !nodes[0]["tag"].get<std::string>().starts_with("SDPA_"))
            throw Failure(name_, std::to_string(nodes.size()) + " nodes", "one node of attention for other sizes");
    }

    Json result(Choice batch, Choice queries, Choice keys) && {
        Json const inputs = node()["inputs"];
        bool const is_paged = inputs.contains("page_table_k");
        if (is_paged && keys) node()["fields"]["max_seq_len_kv"] = *keys;
        for (char const* side : {"inputs", "outputs"}) {
            for (auto const& [port, id] : node()[side].items()) {
                if (is_paged && (port == "K" || port == "V")) continue;  // pages, as many as there are
                Json& tensor = document_["tensors"][id.get<std::string>()];
                Port_axes const& axes = axes_of(port);
                set_dim(tensor, axes, axes.batch, batch);
                set_dim(tensor, axes, axes.queries, queries);
                set_dim(tensor, axes, axes.keys, keys);
                if (keys && port.starts_with("page_table")) set_dim(tensor, axes, 2, tables_of(inputs, *keys));
                if (batch && tensor.contains("ragged_offset"))
                    set_dim(document_["tensors"][tensor["ragged_offset"].get<std::string>()], axes, 0, *batch + 1);
            }
        }
        return std::move(document_);
    }

   private:
    Json& node() { return document_["nodes"][0]; }

    Port_axes const& axes_of(std::string const& port) const {
        auto const found = std::find_if(std::begin(kPorts), std::end(kPorts),
                                        [&](Port_axes const& axes) { return axes.port == port; });
        if (found == std::end(kPorts))
            throw Failure(name_, "the port " + port + ", whose dims for other sizes are not known here",
                          "Q, K, V, O, their gradients, Stats, a bias, lengths and page tables");
        return *found;
    }

    // The entries of a page table for so many keys.
    std::int64_t tables_of(Json const& inputs, std::int64_t keys) {
        Sizes const pages = document_["tensors"][inputs["K"].get<std::string>()].value("dim", Sizes());
        return pages.size() == 4 && pages[2] > 0 ? (keys + pages[2] - 1) / pages[2] : 0;
    }

    // Dims that validation infers are left to it.
    void set_dim(Json& tensor, Port_axes const& axes, int axis, Choice size) {
        Sizes const dim = tensor.value("dim", Sizes()), stride = tensor.value("stride", Sizes());
        auto const at = static_cast<std::size_t>(axis);
        if (axis < 0 || !size || at >= dim.size() || (axes.may_broadcast && dim[at] == 1)) return;
        Sizes resized = dim;
        resized[at] = *size;
        tensor["dim"] = resized;
        if (stride.size() != dim.size()) return;
        auto const strides = strides_of(dim, stride, resized);
        if (!strides)
            throw Failure(name_, "the strides " + list_text(stride) + " of '" + tensor.value("name", "") + "'",
                          "multiples of its dims " + list_text(dim));
        tensor["stride"] = *strides;
    }

    std::string name_;
    Json document_;
};

// A choice for each of the sizes; without sizes one choice, which leaves the size as it is.
std::vector<Choice> choices(std::vector<std::int64_t> const& sizes) {
    return sizes.empty() ? std::vector<Choice>{std::nullopt} : std::vector<Choice>(sizes.begin(), sizes.end());
}

// Queries and keys of each graph.
std::vector<std::pair<Choice, Choice>> lengths_of(Size_ranges const& ranges) {
    std::vector<std::pair<Choice, Choice>> all;
    for (std::int64_t const tokens : ranges.tokens) all.emplace_back(tokens, tokens);
    if (!all.empty()) return all;
    for (Choice const queries : choices(ranges.queries)) {
        for (Choice const keys : choices(ranges.keys)) all.emplace_back(queries, keys);
    }
    return all;
}

std::string name_with(std::string const& name, Choice batch, Choice queries, Choice keys) {
    std::vector<std::string> sizes;
    if (batch) sizes.push_back("batch " + std::to_string(*batch));
    if (queries) sizes.push_back("queries " + std::to_string(*queries));
    if (keys) sizes.push_back("keys " + std::to_string(*keys));
    return name + " (" + joined(sizes) + ")";
}

Choice number_of(std::string_view text) {
    constexpr std::int64_t kMost = std::int64_t{1} << 32;
    std::int64_t number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > kMost) return std::nullopt;
    return number;
}

// A size, or FROM-TO; false for other texts.
bool add_sizes(std::string_view part, std::vector<std::int64_t>& sizes) {
    auto const dash = part.find('-');
    Choice const first = number_of(part.substr(0, dash));
    Choice const last = dash == std::string_view::npos ? first : number_of(part.substr(dash + 1));
    if (!first || !last || *last < *first) return false;
    for (std::int64_t size = *first; size < *last; size *= 2) sizes.push_back(size);
    sizes.push_back(*last);
    return true;
}

[[noreturn]] void refuse_sizes(std::string const& option, std::string const& text) {
    throw Failure(option, "'" + text + "'", "sizes such as 1,2,3, or 16-128 for the doubles 16,32,64,128");
}

}  // namespace

std::vector<std::int64_t> parse_sizes(std::string const& option, std::string const& text) {
    std::vector<std::int64_t> sizes;
    for (std::string_view rest = text; !rest.empty();) {
        std::string_view const part = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        if (!add_sizes(part, sizes)) refuse_sizes(option, text);
    }
    return sizes;
}

std::vector<Resized_graph> resize_graph(std::string const& name, Json const& document, Size_ranges const& ranges) {
    if (ranges.are_empty()) return {{name, document}};
    std::vector<Resized_graph> all;
    for (Choice const batch : choices(ranges.batches)) {
        for (auto const& [queries, keys] : lengths_of(ranges))
            all.push_back(
                {name_with(name, batch, queries, keys), Resizer(name, document).result(batch, queries, keys)});
    }
    return all;
}

}  // namespace sdpa
