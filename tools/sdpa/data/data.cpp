#include "data/data.h"

#include "output.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <numeric>
#include <set>

namespace sdpa {
namespace {

// splitmix64, which is the same everywhere.
class Random {
   public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}

    std::uint64_t bits() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }
    // A number with a variance of 1, between -sqrt(3) and sqrt(3).
    double number() { return (static_cast<double>(bits() >> 11) * 0x1p-53 - 0.5) * 3.4641016151377544; }
    std::int64_t integer(std::int64_t first, std::int64_t last) {
        return first + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(last - first + 1));
    }

   private:
    std::uint64_t state_;
};

bool is_key_side(std::string const& port) {
    static std::set<std::string> const ports = {"K", "V", "dK", "dV", "page_table_k", "page_table_v"};
    return ports.contains(port);
}

struct Port_of_tensor {
    std::string name;
    Json const* node = nullptr;
};

// The first node's port that has the tensor, by uid.
std::map<std::int64_t, Port_of_tensor> ports_of(Json const& document) {
    std::map<std::int64_t, Port_of_tensor> ports;
    for (Json const& node : document.at("nodes")) {
        for (char const* group : {"inputs", "outputs"}) {
            for (auto const& [name, id] : member(node, group).items()) {
                Json const& tensor = document["tensors"][id.get<std::string>()];
                ports.insert({tensor["uid"].get<std::int64_t>(), {name, &node}});
            }
        }
    }
    return ports;
}

class DataMaker {
   public:
    DataMaker(Json const& document, fe::graph::Graph const& graph, Data_options const& options)
        : document_(with_dims(document, graph)),
          graph_(graph),
          options_(options),
          random_(options.seed),
          ports_(ports_of(document_)) {}

    Memories make();
    Memories described() {
        describe();
        return std::move(all_);
    }

   private:
    Sizes given_at(std::string const& port) const;
    Sizes dim_of_port(char const* port) const;
    std::int64_t field(char const* name) const;
    std::int64_t longest(bool is_keys) const;
    bool has_same_lengths() const;
    Sizes const& lengths(bool is_keys);
    void describe();
    void lay_out(Memory& memory);
    void fill(Memory& memory);
    void fill_numbers(Memory& memory);
    void fill_integers(Memory& memory);
    void fill_offsets();
    void fill_given();
    Sizes const& starts_for(std::int64_t offset_uid, Memory const& memory, std::int64_t multiplier);

    Json const document_;
    fe::graph::Graph const& graph_;
    Data_options const& options_;
    Random random_;
    std::map<std::int64_t, Port_of_tensor> ports_;
    std::map<std::int64_t, fe::graph::Tensor_attributes> attributes_;
    std::map<std::int64_t, Sizes> offsets_;  // by the uid of the tensor of offsets
    std::map<bool, Sizes> lengths_;
    Memories all_;
};

Sizes DataMaker::dim_of_port(char const* port) const {
    for (Json const& node : document_.at("nodes")) {
        Json const& inputs = member(node, "inputs");
        if (!inputs.contains(port)) continue;
        return document_["tensors"][inputs[port].get<std::string>()]["dim"].get<Sizes>();
    }
    return {};
}

std::int64_t DataMaker::field(char const* name) const {
    for (Json const& node : document_.at("nodes")) {
        Json const& fields = member(node, "fields");
        if (fields.contains(name) && fields[name].is_number_integer()) return fields[name].get<std::int64_t>();
    }
    return 0;
}

// The most rows or keys of a batch entry.
std::int64_t DataMaker::longest(bool is_keys) const {
    if (!is_keys) return dim_of_port("Q")[2];
    for (auto const& [table, port] : {std::pair("page_table_k", "K"), {"page_table_v", "V"}}) {
        Sizes const pages = dim_of_port(table);
        if (pages.empty()) return dim_of_port(port)[2];
        if (std::int64_t const most = field("max_seq_len_kv"); most > 0) return most;
        Sizes const bias = dim_of_port("bias");
        if (!bias.empty() && bias[3] > 1) return bias[3];
        if (std::string(port) == "V") return pages[2] * dim_of_port("V")[2];
    }
    return 0;
}

// Whether queries and keys share a tensor of lengths or of offsets.
bool DataMaker::has_same_lengths() const {
    std::set<std::string> of_queries, of_keys;
    for (Json const& node : document_.at("nodes")) {
        for (auto const& [port, id] : member(node, "inputs").items()) {
            Json const& tensor = document_["tensors"][id.get<std::string>()];
            auto& side = is_key_side(port) || port.ends_with("_kv") ? of_keys : of_queries;
            if (port.find("seq_len") != std::string::npos) side.insert(id.get<std::string>());
            if (tensor.contains("ragged_offset")) side.insert(tensor["ragged_offset"].get<std::string>());
        }
    }
    return std::any_of(of_keys.begin(), of_keys.end(), [&](auto const& id) { return of_queries.contains(id); });
}

// The given integers of the tensor at a port; none where it has none.
Sizes DataMaker::given_at(std::string const& port) const {
    for (auto const& [uid, memory] : all_) {
        auto const found = options_.given.find(uid);
        if (memory.port == port && found != options_.given.end()) return {found->second.begin(), found->second.end()};
    }
    return {};
}

Sizes const& DataMaker::lengths(bool is_keys) {
    Sizes& all = lengths_[is_keys];
    if (!all.empty()) return all;
    std::string const side = is_keys ? "kv" : "q";
    if (all = given_at("seq_len_" + side); !all.empty()) return all;
    Sizes const sums = given_at("cu_seq_len_" + side);
    for (std::size_t i = 1; i < sums.size(); ++i) all.push_back(sums[i] - sums[i - 1]);
    if (!all.empty()) return all;
    if (is_keys && has_same_lengths()) return all = lengths(false);
    std::int64_t const batches = dim_of_port("Q")[0];
    std::int64_t most = longest(is_keys);
    std::int64_t const total = field(is_keys ? "max_total_seq_len_kv" : "max_total_seq_len_q");
    if (total > 0) most = std::min(most, total / batches);
    for (std::int64_t b = 0; b < batches; ++b)
        all.push_back(options_.has_full_lengths || b == 0 ? most : random_.integer((most + 1) / 2, most));
    return all;
}

void DataMaker::describe() {
    for (std::int64_t const uid : graph_.get_variant_pack_uids_sorted()) {
        fe::graph::Tensor_attributes tensor;
        fe::error_t const error = graph_.query_tensor_attributes_of_uid(uid, tensor);
        if (error.is_bad()) throw Failure(error.err_msg);
        Memory& memory = all_[uid];
        memory.name = tensor.get_name();
        memory.type = tensor.get_data_type();
        memory.dim = tensor.get_dim();
        memory.stride = tensor.get_stride();
        memory.is_by_value = tensor.get_is_pass_by_value();
        auto const port = ports_.find(uid);
        if (port != ports_.end()) {
            memory.port = port->second.name;
            Json const& outputs = member(*port->second.node, "outputs");
            memory.is_output = outputs.contains(memory.port);
        }
        if (memory.name.empty()) memory.name = memory.port.empty() ? "uid " + std::to_string(uid) : memory.port;
        attributes_.insert({uid, std::move(tensor)});
    }
}

// More than any memory holds.
constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

// Elements from the first to past the last of so many rows.
std::int64_t span_of(Memory const& memory, std::int64_t rows) {
    std::int64_t span = rows <= 0 ? 0 : 1;
    for (std::size_t axis = 1; axis < memory.dim.size(); ++axis)
        span += std::max<std::int64_t>((axis == 2 ? rows : memory.dim[axis]) - 1, 0) * memory.stride[axis];
    return span;
}

// Where each entry of a ragged tensor starts, in units of its multiplier.
Sizes const& DataMaker::starts_for(std::int64_t offset_uid, Memory const& memory, std::int64_t multiplier) {
    Sizes& starts = offsets_[offset_uid];
    if (!starts.empty()) return starts;
    if (auto const given = options_.given.find(offset_uid); given != options_.given.end()) {
        starts.assign(given->second.begin(), given->second.end());
        return starts;
    }
    starts.push_back(0);
    bool const is_table = memory.port.starts_with("page_table");
    Sizes const pages = dim_of_port(memory.port == "page_table_k" ? "K" : "V");
    for (std::int64_t const length : lengths(is_key_side(memory.port))) {
        std::int64_t const rows = is_table ? (length + pages[2] - 1) / pages[2] : length;
        std::int64_t const elements = std::max(span_of(memory, rows), rows * memory.stride[2]);
        starts.push_back(starts.back() + (elements + multiplier - 1) / multiplier);
    }
    return starts;
}

void DataMaker::lay_out(Memory& memory) {
    std::int64_t last = 0;
    for (std::size_t axis = 0; axis < memory.dim.size(); ++axis)
        last += std::max<std::int64_t>(memory.dim[axis] - 1, 0) * memory.stride[axis];
    std::int64_t elements = last + 1;
    auto const uid =
        std::find_if(all_.begin(), all_.end(), [&](auto const& entry) { return &entry.second == &memory; })->first;
    auto const& attributes = attributes_.at(uid);
    if (auto const offset = attributes.get_ragged_offset()) {
        std::int64_t const multiplier = attributes.get_ragged_offset_multiplier();
        Sizes const units = starts_for(offset->get_uid(), memory, multiplier);
        for (std::int64_t const unit : units) {
            if (unit > kMostElements / multiplier)
                throw Failure("", "a ragged offset of " + std::to_string(unit),
                              "at most " + std::to_string(kMostElements / multiplier));
            memory.starts.push_back(unit * multiplier);
        }
        elements = std::max<std::int64_t>(memory.starts.back(), 1);
        memory.rows = lengths(is_key_side(memory.port));
        if (memory.port.starts_with("page_table")) {
            std::int64_t const page = dim_of_port(memory.port == "page_table_k" ? "K" : "V")[2];
            for (std::int64_t& rows : memory.rows) rows = (rows + page - 1) / page;
        }
        for (std::size_t b = 0; b < memory.rows.size(); ++b) {
            if (memory.starts[b] < 0) throw Failure("", "a ragged offset below 0", "0 or more");
            elements = std::max(elements, memory.starts[b] + span_of(memory, memory.rows[b]));
        }
    }
    memory.bytes.assign(static_cast<std::size_t>(elements * element_bits(memory.type) / 8), std::byte{0xFF});
}

void DataMaker::fill_numbers(Memory& memory) {
    std::string const& port = memory.port;
    bool const is_factor = port.starts_with("descale") || port.starts_with("scale_") || port == "dropout_scale_inv";
    if (is_factor || memory.type == fe::DataType_t::FP8_E8M0) memory.generate([] { return 1.0; });
    else if (port == "dropout_scale") memory.generate([] { return 1.25; });
    else if (port == "dropout_mask") memory.generate([&] { return random_.integer(0, 4) > 0 ? 1.0 : 0.0; });
    else if (port == "attn_scale" || memory.is_by_value) memory.generate([] { return 0.125; });
    else memory.generate([&] { return random_.number(); });
}

void DataMaker::fill_integers(Memory& memory) {
    std::string const& port = memory.port;
    Sizes values;
    if (port == "seq_len_q" || port == "seq_len_kv") values = lengths(port == "seq_len_kv");
    if (port == "cu_seq_len_q" || port == "cu_seq_len_kv") {
        Sizes const& each = lengths(port == "cu_seq_len_kv");
        values.assign(1, 0);
        for (std::int64_t const length : each) values.push_back(values.back() + length);
    }
    if (port == "seed") values = {12345};
    if (port == "offset") values = {8};
    if (port.starts_with("page_table")) {
        std::int64_t const pages = dim_of_port(port == "page_table_k" ? "K" : "V")[0];
        Sizes order(static_cast<std::size_t>(pages));
        std::iota(order.begin(), order.end(), 0);
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.bits() % i]);
        std::size_t next = 0;
        memory.for_each([&](Sizes const&, std::int64_t at) { memory.set(at, double(order[next++ % order.size()])); });
        return;
    }
    if (port == "block_mask") {
        memory.for_each([&](Sizes const&, std::int64_t at) {
            memory.set(at, options_.has_full_lengths ? 255.0 : double(random_.bits() & 0xFF));
        });
        return;
    }
    std::int64_t next = 0;
    std::int64_t const size = memory.size();
    // Other integers, such as the documents of a score modifier, are sorted.
    memory.for_each([&](Sizes const&, std::int64_t at) {
        std::int64_t const value =
            values.empty() ? next * 4 / size : values[static_cast<std::size_t>(next) % values.size()];
        ++next;
        memory.set(at, double(value));
    });
}

void DataMaker::fill(Memory& memory) {
    using fe::DataType_t;
    bool const is_integer = memory.type == DataType_t::INT32 || memory.type == DataType_t::INT64 ||
                            memory.type == DataType_t::INT8 || memory.type == DataType_t::UINT8 ||
                            memory.type == DataType_t::BOOLEAN;
    if (memory.is_output) return;
    if (is_integer) fill_integers(memory);
    else fill_numbers(memory);
}

void DataMaker::fill_offsets() {
    for (auto const& [uid, starts] : offsets_) {
        auto const found = all_.find(uid);
        if (found == all_.end()) continue;
        for (std::size_t i = 0; i < starts.size(); ++i)
            found->second.set(static_cast<std::int64_t>(i), double(starts[i]));
    }
}

void DataMaker::fill_given() {
    for (auto const& [uid, numbers] : options_.given) {
        Memory& memory = all_.at(uid);
        Sizes strides(memory.dim.size(), 1);
        for (std::size_t axis = strides.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * memory.dim[axis];
        memory.for_each([&, &numbers = numbers](Sizes const& index, std::int64_t at) {
            std::int64_t const place = std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0});
            memory.set(at, numbers[static_cast<std::size_t>(place)]);
        });
    }
}

Memories DataMaker::make() {
    describe();
    for (auto& [uid, memory] : all_) lay_out(memory);
    for (auto& [uid, memory] : all_) {
        if (!offsets_.contains(uid)) fill(memory);
    }
    fill_offsets();
    fill_given();
    return std::move(all_);
}

bool is_backward(Json const& node) {
    std::string const tag = node.at("tag").get<std::string>();
    return tag == "SDPA_BACKWARD" || tag == "NEIGHBORHOOD_BACKWARD";
}

// O and Stats of forward on the same numbers, except those that were given.
void fill_results_of_forward(Json const& document, Given_numbers const& given, Memories& memories) {
    auto const forward = forward_of(document);
    if (!forward) return;
    Memories inputs;
    Json const& outputs = forward->at("nodes")[0]["outputs"];
    fe::graph::Graph graph;
    fe::error_t error = graph_of(*forward, graph);
    if (error.is_good()) error = graph.build(fe::Target::cpu());
    if (error.is_bad()) throw Failure("O and Stats for backward cannot be computed: " + error.err_msg);
    for (std::int64_t const uid : graph.get_variant_pack_uids_sorted()) {
        auto const found = memories.find(uid);
        if (found == memories.end())
            throw Failure("O and Stats for backward cannot be computed: forward needs other tensors");
        inputs[uid] = found->second;
    }
    run_on_host(*forward, fe::Target::cpu(), inputs);
    for (auto const& [port, id] : outputs.items()) {
        std::int64_t const uid = document["tensors"][id.get<std::string>()]["uid"].get<std::int64_t>();
        if (!given.contains(uid)) memories.at(uid).bytes = inputs.at(uid).bytes;
    }
}

}  // namespace

Json with_uids(Json const& document) {
    Json result = document;
    std::int64_t next = 1;
    for (auto const& [id, tensor] : document.at("tensors").items()) {
        if (tensor.contains("uid") && tensor["uid"].is_number())
            next = std::max(next, tensor["uid"].get<std::int64_t>() + 1);
    }
    for (auto& [id, tensor] : result["tensors"].items()) {
        if (!tensor.contains("uid") || !tensor["uid"].is_number()) tensor["uid"] = next++;
    }
    return result;
}

Json with_dims(Json const& document, fe::graph::Graph const& graph) {
    Json result = document;
    for (auto& [id, tensor] : result["tensors"].items()) {
        fe::graph::Tensor_attributes attributes;
        if (tensor.contains("dim")) continue;
        require(graph.query_tensor_attributes_of_uid(tensor["uid"].get<std::int64_t>(), attributes));
        tensor["dim"] = attributes.get_dim();
    }
    return result;
}

bool is_computed(Json const& document, std::string const& id) {
    for (Json const& node : document.at("nodes")) {
        for (auto const& [port, output] : member(node, "outputs").items()) {
            if (output == id) return true;
        }
    }
    return false;
}

std::optional<Json> forward_of(Json const& document) {
    for (Json const& node : document.at("nodes")) {
        if (!is_backward(node)) continue;
        Json const& inputs = node["inputs"];
        if (!inputs.contains("O") || is_computed(document, inputs["O"].get<std::string>())) continue;
        bool const is_attention = node["tag"] == "SDPA_BACKWARD";
        if (inputs.contains("score_mod") || inputs.contains("descale_q"))
            throw Failure("", "backward with a score modifier or 8-bit numbers and without its forward",
                          "a graph for which O and Stats can be computed", "put forward into the same graph");
        Json forward = {{"tag", is_attention ? "SDPA_FORWARD" : "NEIGHBORHOOD_FORWARD"}, {"name", "forward"}};
        for (auto const& [port, id] : inputs.items()) {
            if (port != "O" && port != "dO" && port != "Stats" && port != "dropout_scale_inv")
                forward["inputs"][port] = id;
        }
        forward["outputs"] = {{"O", inputs["O"]}, {"Stats", inputs["Stats"]}};
        for (auto const& [field, value] : member(node, "fields").items()) {
            if (field != "deterministic") forward["fields"][field] = value;
        }
        forward["fields"]["generate_stats"] = true;
        Json result = document;
        result["nodes"] = Json::array({forward});
        return result;
    }
    return std::nullopt;
}

Memories make_data(Json const& document, fe::graph::Graph const& graph, Data_options const& options) {
    Memories memories = DataMaker(document, graph, options).make();
    if (options.computes_forward) fill_results_of_forward(document, options.given, memories);
    return memories;
}

Memories describe_tensors(Json const& document, fe::graph::Graph const& graph) {
    return DataMaker(document, graph, {}).described();
}

std::vector<std::byte> make_workspace(std::int64_t bytes) {
    try {
        return std::vector<std::byte>(static_cast<std::size_t>(bytes));
    } catch (std::bad_alloc const&) {
        throw Failure("", "a plan with a workspace of " + bytes_text(static_cast<std::uint64_t>(bytes)),
                      "one for which there is enough memory here", "fewer batch entries, heads or rows");
    }
}

void run_on_host(Json const& document, fe::Target const& target, Memories& memories) {
    fe::graph::Graph graph;
    require(graph_of(document, graph));
    require(graph.build(target));
    auto workspace = make_workspace(graph.get_workspace_size());
    require(graph.execute(host_pack(memories), workspace.data()));
}

}  // namespace sdpa
