#include "conversion/frontend_graph.h"

#include "input.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>

namespace sdpa {
namespace {

// How a member of theirs is read. Ignored ones say nothing that our documents hold, or repeat another member; functions
// below read the members that are Elsewhere.
enum class Treatment { Copied, Number, Ignored, Elsewhere };

struct Known_member {
    std::string_view theirs;
    Treatment treatment = Treatment::Copied;
    std::string_view ours = theirs;
};

using enum Treatment;

constexpr Known_member kContext[] = {{"name"},
                                     {"io_data_type"},
                                     {"intermediate_data_type"},
                                     {"compute_data_type"},
                                     {"sm_count", Ignored},
                                     {"is_dynamic_shape_enabled", Ignored},
                                     {"is_override_shape_enabled", Ignored}};

constexpr Known_member kTensor[] = {{"name"},
                                    {"data_type"},
                                    {"dim"},
                                    {"stride"},
                                    {"is_virtual"},
                                    {"is_pass_by_value", Copied, "is_by_value"},
                                    {"reordering_type", Copied, "reordering"},
                                    {"alignment"},
                                    {"vector_count"},
                                    {"vector_dimension"},
                                    {"ragged_offset_multiplier"},
                                    {"uid", Elsewhere},
                                    {"uid_assigned", Elsewhere},
                                    {"ragged_offset_uid", Elsewhere}};

constexpr Known_member kField[] = {{"attn_scale_value", Number, "attn_scale"},
                                   {"dropout_probability", Number},
                                   {"alibi_mask"},
                                   {"padding_mask"},
                                   {"diagonal_alignment"},
                                   {"left_bound"},
                                   {"right_bound"},
                                   {"sliding_window_length", Copied, "left_bound"},
                                   {"max_seq_len_kv"},
                                   {"max_total_seq_len_q"},
                                   {"max_total_seq_len_kv"},
                                   {"stats_use_log2"},
                                   {"unfuse_fma"},
                                   {"implementation"},
                                   {"is_deterministic_algorithm", Copied, "deterministic"},
                                   {"causal_mask", Elsewhere},
                                   {"causal_mask_bottom_right", Elsewhere},
                                   {"is_inference", Ignored},    // the output Stats says it
                                   {"generate_stats", Ignored},  // the same
                                   {"is_mxfp8", Ignored},        // the tag says it
                                   {"mma_core_mode", Ignored},
                                   {"rescale_threshold", Ignored},
                                   {"name", Elsewhere},
                                   {"compute_data_type", Elsewhere},
                                   {"tag", Elsewhere},
                                   {"inputs", Elsewhere},
                                   {"outputs", Elsewhere}};

// Their ports have these names, some in other letters.
constexpr std::string_view kPorts =
    " Q K V O Stats Max Sum_exp attn_scale bias dropout_mask dropout_scale dropout_scale_inv seed offset rng_dump"
    " sink_token seq_len_q seq_len_kv cu_seq_len_q cu_seq_len_kv page_table_k page_table_v block_mask dO dQ dK dV dBias"
    " dSink_token Q_T K_T dO_T dO_f16 descale_q descale_k descale_v descale_o descale_dO descale_s descale_dP"
    " descale_q_T descale_k_T descale_dO_T scale_s scale_o scale_dQ scale_dK scale_dV scale_dP amax_s amax_o amax_dQ"
    " amax_dK amax_dV amax_dP ";

// Our name of a port; empty where there is none.
std::string port_of(std::string const& theirs) {
    if (theirs == "Amax_d") return "amax_dP";  // a slip of theirs
    std::string const word = " " + theirs + " ";
    auto const is_same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
    auto const found = std::search(kPorts.begin(), kPorts.end(), word.begin(), word.end(), is_same);
    return found == kPorts.end() ? "" : std::string(found + 1, found + 1 + std::ssize(theirs));
}

std::optional<std::string_view> tag_of(std::string_view theirs) {
    if (theirs == "SDPA" || theirs == "SDPA_FWD" || theirs == "SDPA_FP8_FWD" || theirs == "SDPA_MXFP8_FWD")
        return "SDPA_FORWARD";
    if (theirs == "SDPA_BWD" || theirs == "SDPA_FP8_BWD" || theirs == "SDPA_MXFP8_BWD") return "SDPA_BACKWARD";
    return std::nullopt;
}

// A member that is text; otherwise empty.
std::string text_of(Json const& object, char const* name) {
    Json const& value = member(object, name);
    return value.is_string() ? value.get<std::string>() : "";
}

std::string within(std::string const& place, std::string const& name) { return place + ", " + name; }

std::string quoted(std::string const& text) { return "'" + text + "'"; }

// A number, or the bits of a FLOAT as 8 hexadecimal digits.
Json number_of(std::string const& place, Json const& value) {
    if (value.is_number()) return value;
    std::uint32_t bits = 0;
    if (value.is_string() && value.get_ref<std::string const&>().size() == 8) {
        std::string const& digits = value.get_ref<std::string const&>();
        auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
        if (error == std::errc() && end == digits.data() + digits.size()) return std::bit_cast<float>(bits);
    }
    throw Failure(place, value.dump(), "a number, or the 8 hexadecimal digits of a FLOAT");
}

bool says_nothing(Json const& value) { return value.is_null() || value == false; }

// Whether a member that older versions printed is true.
bool flag(Json const& theirs, char const* name, std::string const& place) {
    Json const value = theirs.value(name, Json());
    if (!says_nothing(value) && value != true) throw Failure(within(place, name), value.dump(), "true or false");
    return value == true;
}

// Copies the known members of theirs. An unknown one that is null or false does not change a graph.
void copy_members(std::span<Known_member const> known, std::string const& place, Json const& theirs, Json& ours) {
    for (auto const& [name, value] : theirs.items()) {
        if (says_nothing(value)) continue;
        auto const found = std::ranges::find(known, name, &Known_member::theirs);
        if (found == known.end())
            throw Failure(
                place, "the member " + quoted(name) + " with " + value.dump() + ", whose meaning is not known here",
                "null", "without it, and with the option that it stands for added to the result, docs/json.md");
        std::string const target(found->ours);
        if (found->treatment == Copied) ours[target] = value;
        if (found->treatment == Number) ours[target] = number_of(within(place, name), value);
    }
}

class Converter {
   public:
    explicit Converter(Json const& theirs) : theirs_(theirs) {}

    Converted_graph result() && {
        Json& document = result_.document;
        document = {{"format", "sdpa-graph"}, {"version", 1}};
        document["context"] = document["tensors"] = Json::object();
        document["nodes"] = Json::array();
        copy_members(kContext, "context", member(theirs_, "context"), document["context"]);
        for (auto const& [key, tensor] : member(theirs_, "tensors").items()) add_tensor(key, tensor);
        for (auto const& [key, tensor] : member(theirs_, "tensors").items()) add_ragged_offset(key, tensor);
        for (Json const& node : member(theirs_, "nodes")) add_node(node);
        return std::move(result_);
    }

   private:
    Json& tensors() { return result_.document["tensors"]; }

    void add_tensor(std::string const& key, Json const& theirs) {
        std::string const place = "tensor " + quoted(key);
        if (!theirs.is_object()) throw Failure(place, theirs.dump(), "an object");
        Json tensor = Json::object();
        copy_members(kTensor, place, theirs, tensor);
        std::string const& id = ids_[key] = "t" + std::to_string(tensors().size());
        if (theirs.contains("uid") && theirs.value("uid_assigned", Json(true)) == true) {
            tensor["uid"] = theirs["uid"];
            ids_of_uids_[theirs["uid"].dump()] = id;
        }
        tensors()[id] = std::move(tensor);
    }

    // Versions before 1.27 print the uid of an offset's tensor, and nothing else of it.
    void add_ragged_offset(std::string const& key, Json const& theirs) {
        Json const uid = theirs.value("ragged_offset_uid", Json());
        if (says_nothing(uid)) return;
        std::string& id = ids_of_uids_[uid.dump()];
        if (id.empty()) {
            Json const dim = theirs.value("dim", Json());
            if (!dim.is_array() || dim.empty() || !dim[0].is_number_integer())
                throw Failure("tensor " + quoted(key), "a ragged offset and no dims", "dims");
            id = "t" + std::to_string(tensors().size());
            tensors()[id] = {{"name", "ragged_offset_" + uid.dump()},
                             {"uid", uid},
                             {"data_type", "INT32"},
                             {"dim", {dim[0].get<std::int64_t>() + 1, 1, 1, 1}},
                             {"stride", {1, 1, 1, 1}}};
            result_.remarks.push_back(
                "the ragged offset of " + quoted(key) +
                " is not described there; it was added with one element more than the batch, of INT32");
        }
        tensors()[ids_.at(key)]["ragged_offset"] = id;
    }

    // A tensor by the key that it has in the table: its name, or from version 1.27 on its uid.
    std::string const& id_of(std::string const& place, Json const& reference) const {
        auto const found = ids_.find(reference.is_string() ? reference.get<std::string>() : reference.dump());
        if (found == ids_.end()) throw Failure(place, reference.dump(), "the key of one of the tensors");
        return found->second;
    }

    Json ports_of(std::string const& place, Json const& theirs) const {
        Json ports = Json::object();
        for (auto const& [name, reference] : theirs.items()) {
            if (reference.is_null()) continue;
            std::string const port = port_of(name);
            if (port.empty()) throw Failure(place, "the port " + quoted(name), "one of attention");
            ports[port] = id_of(within(place, name), reference);
        }
        return ports;
    }

    void add_node(Json const& theirs) {
        std::string const tag = text_of(theirs, "tag");
        auto const ours = tag_of(tag);
        if (!ours)
            throw Failure("", "a node with the tag " + quoted(tag),
                          "attention: SDPA, SDPA_FWD, SDPA_BWD, or one of FP8 or MXFP8");
        std::string const place = "node " + quoted(text_of(theirs, "name"));
        Json node{{"tag", *ours}};
        Json fields = Json::object();
        for (char const* name : {"name", "compute_data_type"}) {
            if (theirs.contains(name) && !says_nothing(theirs[name])) node[name] = theirs[name];
        }
        copy_members(kField, place, theirs, fields);
        add_causality(theirs, place, fields);
        if (tag.find("MXFP8") != std::string::npos) fields["block_scaled"] = true;
        node["inputs"] = ports_of(place, member(theirs, "inputs"));
        node["outputs"] = ports_of(place, member(theirs, "outputs"));
        if (*ours == "SDPA_FORWARD" && node["outputs"].contains("Stats")) fields["generate_stats"] = true;
        node["fields"] = std::move(fields);
        result_.document["nodes"].push_back(std::move(node));
    }

    // Before version 1.10 causality was two options of its own.
    static void add_causality(Json const& theirs, std::string const& place, Json& fields) {
        bool const is_bottom_right = flag(theirs, "causal_mask_bottom_right", place);
        if (is_bottom_right) fields["diagonal_alignment"] = "BOTTOM_RIGHT";
        if (is_bottom_right || flag(theirs, "causal_mask", place)) fields["right_bound"] = 0;
    }

    Json const& theirs_;
    Converted_graph result_;
    std::map<std::string, std::string> ids_;          // by the tensor's key
    std::map<std::string, std::string> ids_of_uids_;  // by the uid's digits
};

// The graph of a text from its first brace to its last one; null where there is none.
Json graph_in(std::string_view text) {
    auto const first = text.find('{'), last = text.rfind('}');
    if (first == std::string_view::npos || last == std::string_view::npos || last < first) return nullptr;
    Json graph = Json::parse(text.substr(first, last - first + 1), nullptr, false);
    return graph.is_object() && graph.contains("nodes") && graph.contains("tensors") ? graph : Json();
}

}  // namespace

std::vector<Json> frontend_graphs_of(std::string const& text) {
    if (Json graph = graph_in(text); !graph.is_null()) return {std::move(graph)};
    std::vector<Json> graphs;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.find("\"nodes\"") == std::string::npos) continue;
        if (Json graph = graph_in(line); !graph.is_null()) graphs.push_back(std::move(graph));
    }
    return graphs;
}

Converted_graph convert_frontend_graph(Json const& graph) { return Converter(graph).result(); }

}  // namespace sdpa
