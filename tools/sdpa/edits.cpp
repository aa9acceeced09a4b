#include "edits.h"

#include "input.h"
#include "output.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace sdpa {
namespace {

using Sizes = std::vector<std::int64_t>;

// Costs: what changes neither memory nor numbers is cheap, what changes the result is dear.
constexpr int kSetting = 0, kDescription = 1, kPrecision = 4, kCopy = 5, kPadding = 6, kRounding = 8, kOtherSize = 9,
              kOtherResult = 12;

Sizes sizes(Json const& tensor, char const* member) {
    return tensor.contains(member) ? tensor[member].get<Sizes>() : Sizes();
}

std::string name_of_tensor(Json const& tensor, std::string const& id) {
    std::string const name = tensor.value("name", "");
    return name.empty() ? id : name;
}

// Strides without gaps for these dims, in the order of the strides so far; row-major where there are none.
Sizes packed(Sizes const& dim, Sizes const& like) {
    std::vector<std::size_t> order(dim.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (like.size() == dim.size())
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return like[a] > like[b]; });
    Sizes stride(dim.size(), 1);
    std::int64_t next = 1;
    for (auto place = order.rbegin(); place != order.rend(); ++place) {
        stride[*place] = next;
        next *= std::max<std::int64_t>(dim[*place], 1);
    }
    return stride;
}

// A node's port among its inputs or outputs.
struct Port {
    std::size_t node;
    std::string name, tensor;
    bool is_input;
};

class Editor {
   public:
    explicit Editor(Json const& document) : document_(document) {
        for (std::size_t n = 0; n < document.at("nodes").size(); ++n) {
            for (bool const is_input : {true, false}) {
                for (auto const& [name, id] : member(document["nodes"][n], is_input ? "inputs" : "outputs").items())
                    ports_.push_back({n, name, id.get<std::string>(), is_input});
            }
        }
    }

    std::vector<Edit> all();

   private:
    Json const& tensor(std::string const& id) const { return member(document_.at("tensors"), id); }
    bool is_attention(std::size_t node) const {
        return document_["nodes"][node].at("tag").get<std::string>().starts_with("SDPA_");
    }
    // The tensors of these ports of attention nodes, each once.
    std::vector<std::string> at_ports(std::initializer_list<std::string_view> names) const;
    Sizes dim_at(std::string_view port) const;
    std::string names(std::vector<std::string> const& ids) const;
    void add(int cost, std::string const& text, Json changed, std::string const& kind = "") {
        if (changed != document_) edits_.push_back({cost, kind.empty() ? text : kind, text, std::move(changed)});
    }

    void implementations();
    void inferred_results();
    void own_uids();
    void types_of_integers();
    void offsets_of_elements();
    void packed_strides();
    void other_type(char const* type);
    void head_dims();
    void pad(Sizes const& columns, int cost);
    void equal_sizes();
    void fit(std::string const& port, Sizes const& dim);
    void missing_inputs();
    void swapped_dims();
    void without_options();
    void without(std::string const& text, int cost, std::set<std::string> const& fields,
                 std::set<std::string> const& ports);

    Json const& document_;
    std::vector<Port> ports_;
    std::vector<Edit> edits_;
};

std::vector<std::string> Editor::at_ports(std::initializer_list<std::string_view> names) const {
    std::vector<std::string> ids;
    for (Port const& port : ports_) {
        if (is_attention(port.node) && std::find(names.begin(), names.end(), port.name) != names.end() &&
            std::find(ids.begin(), ids.end(), port.tensor) == ids.end())
            ids.push_back(port.tensor);
    }
    return ids;
}

Sizes Editor::dim_at(std::string_view port) const {
    auto const ids = at_ports({port});
    return ids.empty() ? Sizes() : sizes(tensor(ids.front()), "dim");
}

std::string Editor::names(std::vector<std::string> const& ids) const {
    std::string text;
    for (std::size_t i = 0; i < ids.size(); ++i)
        text += (i == 0 ? "" : i + 1 == ids.size() ? " and " : ", ") + name_of_tensor(tensor(ids[i]), ids[i]);
    return text;
}

void Editor::implementations() {
    for (char const* choice : {"AUTO", "COMPOSITE", "UNIFIED"}) {
        Json changed = document_;
        for (Json& node : changed["nodes"]) {
            if (node["tag"] == "SDPA_FORWARD" && member(node, "fields").value("implementation", "AUTO") != choice)
                node["fields"]["implementation"] = choice;
        }
        add(kSetting, std::string("call set_implementation(") + choice + ")", changed, "implementation");
    }
}

void Editor::inferred_results() {
    for (Port const& port : ports_) {
        if (port.is_input || !tensor(port.tensor).contains("dim")) continue;
        Json changed = document_;
        changed["tensors"][port.tensor].erase("dim");
        changed["tensors"][port.tensor].erase("stride");
        add(kDescription, "set no dims and strides for " + names({port.tensor}) + ": they are inferred", changed);
    }
}

void Editor::own_uids() {
    std::set<std::int64_t> used;
    Json changed = document_;
    std::vector<std::string> ids;
    for (auto& [id, value] : changed["tensors"].items()) {
        if (!value.contains("uid") || !value["uid"].is_number() || used.insert(value["uid"].get<std::int64_t>()).second)
            continue;
        value.erase("uid");
        ids.push_back(id);
    }
    add(kDescription, "give " + names(ids) + " a uid that no other tensor has", changed);
}

void Editor::types_of_integers() {
    for (auto const& [port, type] :
         std::initializer_list<std::pair<std::string_view, char const*>>{{"seq_len_q", "INT32"},
                                                                         {"seq_len_kv", "INT32"},
                                                                         {"cu_seq_len_q", "INT32"},
                                                                         {"cu_seq_len_kv", "INT32"},
                                                                         {"page_table_k", "INT32"},
                                                                         {"page_table_v", "INT32"},
                                                                         {"seed", "INT64"},
                                                                         {"offset", "INT64"},
                                                                         {"block_mask", "UINT8"}}) {
        for (std::string const& id : at_ports({port})) {
            Json changed = document_;
            changed["tensors"][id]["data_type"] = type;
            add(kDescription, "make " + names({id}) + " " + type, changed);
        }
    }
}

void Editor::offsets_of_elements() {
    Json changed = document_;
    std::vector<std::string> ids;
    for (auto& [id, value] : changed["tensors"].items()) {
        if (value.value("ragged_offset_multiplier", std::int64_t{1}) == 1) continue;
        value.erase("ragged_offset_multiplier");
        ids.push_back(id);
    }
    add(kCopy, "count elements in the ragged offsets of " + names(ids) + ", with a multiplier of 1", changed);
}

void Editor::packed_strides() {
    Json all = document_;
    std::vector<std::string> changed_ids;
    for (auto const& [id, value] : document_.at("tensors").items()) {
        Sizes const dim = sizes(value, "dim"), stride = sizes(value, "stride");
        Sizes const row_major = packed(dim, {});
        if (stride.empty() || dim.empty() || stride == row_major || value.contains("ragged_offset")) continue;
        Json changed = document_;
        changed["tensors"][id]["stride"] = all["tensors"][id]["stride"] = row_major;
        add(kCopy, "copy " + names({id}) + " to contiguous memory, strides " + list_text(row_major), changed);
        changed_ids.push_back(id);
    }
    if (changed_ids.size() > 1) add(kCopy, "copy " + names(changed_ids) + " to contiguous memory", all);
}

// In place of single precision.
void Editor::other_type(char const* type) {
    Json changed = document_;
    if (member(document_, "context").value("io_data_type", "") == "FLOAT") changed["context"]["io_data_type"] = type;
    for (std::string const& id : at_ports({"Q", "K", "V", "O", "dO", "dQ", "dK", "dV"})) {
        if (tensor(id).value("data_type", "") == "FLOAT") changed["tensors"][id]["data_type"] = type;
    }
    // The precision of these stays.
    if (changed != document_) {
        for (std::string const& id : at_ports({"Stats", "bias", "sink_token", "Max", "Sum_exp", "dSink_token"})) {
            if (!tensor(id).contains("data_type")) changed["tensors"][id]["data_type"] = "FLOAT";
        }
    }
    add(kRounding, std::string("make Q, K, V and the results ") + type + " in place of FLOAT", changed, "type");
}

// Columns of Q and K, and of V.
void Editor::pad(Sizes const& columns, int cost) {
    Json changed = document_;
    std::string text;
    Sizes const now = {dim_at("Q")[3], dim_at("V")[3]};
    for (std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        auto const ids = side == 0 ? at_ports({"Q", "K", "dQ", "dK"}) : at_ports({"V", "O", "dO", "dV"});
        if (now[side] == columns[side]) continue;
        for (std::string const& id : ids) {
            Sizes dim = sizes(tensor(id), "dim");
            if (dim.size() != 4) continue;
            dim[3] = columns[side];
            changed["tensors"][id]["dim"] = dim;
            if (tensor(id).contains("stride"))
                changed["tensors"][id]["stride"] = packed(dim, sizes(tensor(id), "stride"));
        }
        text += (text.empty() ? "" : ", ") + ("head dim " + std::to_string(now[side])) + " -> " +
                std::to_string(columns[side]) + " for " + names(ids);
    }
    add(cost, text + ": zeros in the added columns, the same attn_scale", changed, "head dim");
}

void Editor::head_dims() {
    Sizes const q = dim_at("Q"), v = dim_at("V");
    if (q.size() != 4 || v.size() != 4) return;
    auto const up = [](std::int64_t number, std::int64_t step) { return (number + step - 1) / step * step; };
    int cost = kPadding;
    for (std::int64_t const step : {8, 16, 64, 128}) pad({up(q[3], step), up(v[3], step)}, cost);
    std::int64_t const both = up(std::max(q[3], v[3]), 8);
    pad({both, both}, cost + 1);
}

// Another size of a port's tensor.
void Editor::fit(std::string const& port, Sizes const& dim) {
    for (std::string const& id : at_ports({port})) {
        Sizes const now = sizes(tensor(id), "dim");
        if (now == dim) continue;
        Json changed = document_;
        changed["tensors"][id]["dim"] = dim;
        changed["tensors"][id]["stride"] = packed(dim, sizes(tensor(id), "stride"));
        add(kOtherSize, "give " + names({id}) + " the dims " + list_text(dim) + " in place of " + list_text(now),
            changed);
    }
}

// Sizes that others determine.
void Editor::equal_sizes() {
    Sizes const q = dim_at("Q"), k = dim_at("K"), v = dim_at("V");
    if (q.size() != 4 || k.size() != 4 || v.size() != 4) return;
    bool const is_paged = !at_ports({"page_table_k"}).empty();
    if (!is_paged) {
        fit("K", {q[0], k[1], k[2], q[3]});
        fit("V", {q[0], v[1], k[2], v[3]});
        fit("bias", {1, q[1], q[2], k[2]});
        fit("Q", {q[0], q[1], q[2], k[3]});
    }
    if (k[1] > 0 && q[1] % k[1] != 0) {
        Json changed = document_;
        for (std::string const& id : at_ports({"K", "V", "dK", "dV"})) {
            Sizes dim = sizes(tensor(id), "dim");
            if (dim.size() != 4) continue;
            dim[1] = q[1];
            changed["tensors"][id]["dim"] = dim;
            changed["tensors"][id]["stride"] = packed(dim, sizes(tensor(id), "stride"));
        }
        add(kOtherSize, "give K and V as many heads as Q, " + std::to_string(q[1]), changed);
    }
    for (char const* lengths : {"seq_len_q", "seq_len_kv"}) fit(lengths, {q[0], 1, 1, 1});
}

// Tensors that an option needs.
void Editor::missing_inputs() {
    Sizes const q = dim_at("Q");
    if (q.size() != 4) return;
    struct Need {
        char const* field;
        std::array<char const*, 2> ports, instead;
        char const* type;
        Sizes dim;
    };
    for (Need const& need :
         {Need{"dropout_probability", {"seed", "offset"}, {"dropout_mask", ""}, "INT64", {1, 1, 1, 1}},
          Need{"padding_mask",
               {"seq_len_q", "seq_len_kv"},
               {"cu_seq_len_q", "cu_seq_len_kv"},
               "INT32",
               {q[0], 1, 1, 1}}}) {
        Json changed = document_;
        std::string added;
        for (Json& node : changed["nodes"]) {
            if (!member(node, "fields").contains(need.field)) continue;
            for (std::size_t i = 0; i < need.ports.size(); ++i) {
                Json& inputs = node["inputs"];
                if (inputs.contains(need.ports[i]) || inputs.contains(need.instead[i]) ||
                    inputs.contains(need.instead[0]))
                    continue;
                std::string const id = "t" + std::to_string(changed["tensors"].size());
                changed["tensors"][id] = {{"name", need.ports[i]},
                                          {"data_type", need.type},
                                          {"dim", need.dim},
                                          {"stride", packed(need.dim, {})}};
                inputs[need.ports[i]] = id;
                added += (added.empty() ? "" : " and ") + std::string(need.ports[i]);
            }
        }
        add(kCopy, "pass " + added + ", " + need.type + " " + list_text(need.dim), changed);
    }
}

// Dims are batch, heads, rows, columns, whatever the order in memory is.
void Editor::swapped_dims() {
    Json changed = document_;
    auto const ids = at_ports({"Q", "K", "V", "O", "dO", "dQ", "dK", "dV"});
    for (std::string const& id : ids) {
        for (char const* list : {"dim", "stride"}) {
            Sizes numbers = sizes(tensor(id), list);
            if (numbers.size() != 4) continue;
            std::swap(numbers[1], numbers[2]);
            changed["tensors"][id][list] = numbers;
        }
    }
    Sizes const q = dim_at("Q");
    bool const is_likely = q.size() == 4 && q[1] > q[2];
    add(is_likely ? kDescription : kOtherSize + 1,
        "swap dims 1 and 2 of " + names(ids) + " and their strides: dims are batch, heads, rows, columns", changed);
}

void Editor::without(std::string const& text, int cost, std::set<std::string> const& fields,
                     std::set<std::string> const& ports) {
    Json changed = document_;
    for (Json& node : changed["nodes"]) {
        for (auto const& [group, names] : {std::pair("fields", &fields), {"inputs", &ports}, {"outputs", &ports}}) {
            if (!node.contains(group)) continue;
            for (std::string const& name : *names) node[group].erase(name);
        }
    }
    add(cost, text, changed);
}

void Editor::without_options() {
    without("do without the deterministic algorithm", kPrecision, {"deterministic"}, {});
    without("do without set_unfuse_fma(true)", kPrecision, {"unfuse_fma"}, {});
    without("take Stats as natural logarithms", kPrecision, {"stats_use_log2"}, {});
    without("do without the bounds of all tokens, set_max_total_seq_len_*", kSetting,
            {"max_total_seq_len_q", "max_total_seq_len_kv"}, {});
    without("do without the maximum and the sum of each row", kPrecision, {}, {"Max", "Sum_exp"});
    without("do without the gradient of the bias", kOtherResult, {}, {"dBias"});
    without("do without the dropout mask as a result", kPrecision, {}, {"rng_dump"});
    without("drop the bias", kOtherResult, {}, {"bias", "dBias"});
    without("drop the ALiBi mask", kOtherResult, {"alibi_mask"}, {});
    without("drop dropout", kOtherResult, {"dropout_probability"},
            {"seed", "offset", "dropout_mask", "dropout_scale", "dropout_scale_inv", "rng_dump"});
    without("drop the sink", kOtherResult, {}, {"sink_token", "dSink_token"});
    without("drop the block mask", kOtherResult, {}, {"block_mask"});
    without("align the mask at the top left", kOtherResult, {"diagonal_alignment"}, {});
    without("drop the left bound of the window", kOtherResult, {"left_bound"}, {});
    without("drop the right bound: no causal mask", kOtherResult + 1, {"right_bound"}, {});
    without("drop the padding mask and its lengths", kOtherResult + 1, {"padding_mask"},
            {"seq_len_q", "seq_len_kv", "cu_seq_len_q", "cu_seq_len_kv"});
    without("drop the relative position bias", kOtherResult, {}, {"Rel_pos_bias", "dRel_pos_bias"});
    without("drop the dilation", kOtherResult, {"dilation"}, {});
    without("make no axis causal", kOtherResult, {"is_causal"}, {});
}

std::vector<Edit> Editor::all() {
    implementations();
    inferred_results();
    own_uids();
    types_of_integers();
    offsets_of_elements();
    packed_strides();
    head_dims();
    equal_sizes();
    missing_inputs();
    swapped_dims();
    other_type("HALF");
    other_type("BFLOAT16");
    without_options();
    std::stable_sort(edits_.begin(), edits_.end(), [](Edit const& a, Edit const& b) { return a.cost < b.cost; });
    return std::move(edits_);
}

}  // namespace

std::vector<Edit> edits_of(Json const& document) { return Editor(document).all(); }

}  // namespace sdpa
