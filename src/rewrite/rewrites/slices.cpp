#include "rewrite/rewrites/rewrites.h"

#include "rewrite/program_builder.h"
#include "rewrite/view_moves.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;
using enum error_code_t;

constexpr char const* kName = "slices";
constexpr std::size_t kBatch = 0, kHeads = 1;
// Launches would take longer than what they launch.
constexpr std::int64_t kMostSlices = 1024;

// Whether dBias is a sum over heads or batch entries, which slices would cut.
bool sums_scores(Attention const& a) {
    if (!a.has(Port::DBias)) return false;
    core::Dims const& dim = a.tensor(Port::DBias)->dim;
    return dim[kBatch] != a.batches || dim[kHeads] != a.query_heads;
}

constexpr Condition kConditions[] = {
    {"slices.c01", "backward attention", GRAPH_NOT_SUPPORTED, [](Attention const& a) { return a.is_backward(); }},
    {"slices.c02", "no operands but Q, K, V, O, dO, Stats, attn_scale, bias, a sink token, lengths and their gradients",
     GRAPH_NOT_SUPPORTED,
     [](Attention const& a) {
         return has_only(
             a, {Port::Q, Port::K, Port::V, Port::O, Port::DO, Port::Stats, Port::AttnScale, Port::Bias, Port::DBias,
                 Port::SeqLenQ, Port::SeqLenKv, Port::DQ, Port::DK, Port::DV, Port::SinkToken});
     }},
    {"slices.c03", "tensors that are neither packed by lengths nor in blocks", GRAPH_NOT_SUPPORTED, has_dense_tensors},
    {"slices.c04", "a dBias, where there is one, that is summed over neither heads nor batch entries",
     GRAPH_NOT_SUPPORTED, [](Attention const& a) { return !sums_scores(a); }},
    {"slices.c05", "no ALiBi, whose slopes depend on the number of heads, and no dropout", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return !a.fields().alibi_mask && !a.fields().dropout_probability; }},
    {"slices.c06", "as many heads of K as of V, each for a whole number of heads of Q", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return a.key_heads == a.value_heads && a.query_heads % a.key_heads == 0; }},
    {"slices.c07", "memory for all three gradients", GRAPH_NOT_SUPPORTED, has_gradients},
};

// How a graph is cut: batch entries first, then heads of keys, then the query heads that share one.
struct Cut {
    std::int64_t batches, key_heads, shares;
};

// Nothing if the number does not divide them.
std::optional<Cut> cut_into(Attention const& a, std::int64_t count) {
    Cut cut{std::gcd(count, a.batches), 1, 1};
    count /= cut.batches;
    cut.key_heads = std::gcd(count, a.key_heads);
    cut.shares = count / cut.key_heads;
    // Entries and heads are cut to single ones before what they hold is.
    bool const is_whole = (cut.batches == a.batches || count == 1) && (cut.key_heads == a.key_heads || cut.shares == 1);
    return is_whole && a.group() % cut.shares == 0 ? std::optional(cut) : std::nullopt;
}

class SliceWriter {
   public:
    SliceWriter(Attention const& attention, std::int64_t count, Cut const& cut)
        : a_(attention), cut_(cut), program_(std::string(kName) + "(" + std::to_string(count) + ")") {}

    Result<Program> write() {
        if (cut_.shares > 1) make_partial_gradients();
        for (std::int64_t b = 0; b < cut_.batches; ++b) {
            for (std::int64_t h = 0; h < cut_.key_heads; ++h) SDPA_GRAPH_TRY(write_key_heads(b, h));
        }
        return program_.take();
    }

   private:
    // One share's, as K and V have it, behind each other.
    void make_partial_gradients() {
        for (int const port : {Port::DK, Port::DV}) {
            core::Dims dim = slice(port, 0, 0, 0).dim;
            dim.insert(dim.begin(), cut_.shares);
            partial_[port] = program_.scratch(a_.tensor(port)->data_type, dim);
        }
    }

    // The shares' gradients are added up before the scratch serves the next heads.
    error_t write_key_heads(std::int64_t b, std::int64_t h) {
        for (std::int64_t share = 0; share < cut_.shares; ++share) SDPA_GRAPH_TRY(attend(b, h, share));
        for (auto const& [port, partial] : partial_) program_.sum({partial, slice(port, b, h, 0)});
        return {};
    }

    error_t attend(std::int64_t b, std::int64_t h, std::int64_t share) {
        AttentionDraft draft(a_);
        for (int port = 0; port < attention::PortCount; ++port) {
            if (!is_cut(port)) continue;
            auto const partial = partial_.find(port);
            draft.connect(port, partial == partial_.end() ? slice(port, b, h, share) : part(partial->second, share));
        }
        return program_.attend(std::move(draft));
    }

    // Draft connects numbers.
    bool is_cut(int port) const {
        bool const is_connected = port < static_cast<int>(a_.node().ports.size()) && a_.has(port);
        return is_connected && port != Port::AttnScale;
    }

    static View part(View const& parts, std::int64_t index) {
        View one = part_of(parts, 0, index, 1);
        one.dim.erase(one.dim.begin());
        one.stride.erase(one.stride.begin());
        return one;
    }

    // A dim of size 1 is shared by all slices.
    View slice(int port, std::int64_t b, std::int64_t h, std::int64_t share) const {
        View const whole = a_.view(port);
        attention::Size const heads = attention::operand(port).shape.sizes[kHeads];
        bool const has_key_heads = heads == attention::Size::Hk || heads == attention::Size::Hv;
        std::int64_t const in_heads = has_key_heads ? cut_.key_heads : cut_.key_heads * cut_.shares;
        return cut(cut(whole, kBatch, cut_.batches, b), kHeads, in_heads, has_key_heads ? h : h * cut_.shares + share);
    }

    static View cut(View const& view, std::size_t dim, std::int64_t count, std::int64_t index) {
        if (view.dim[dim] == 1) return view;
        std::int64_t const size = view.dim[dim] / count;
        return part_of(view, dim, index * size, size);
    }

    Attention const& a_;
    Cut cut_;
    ProgramBuilder program_;
    std::map<int, View> partial_;  // of dK and dV, where slices share a head of keys
};

}  // namespace

std::span<Condition const> slices_conditions() { return kConditions; }

std::vector<std::int64_t> slice_counts(Attention const& attention) {
    std::vector<std::int64_t> counts;
    std::int64_t const most = std::min(kMostSlices, attention.batches * attention.query_heads);
    for (std::int64_t count = 2; count <= most; ++count) {
        if (cut_into(attention, count)) counts.push_back(count);
    }
    return counts;
}

Result<Program> slices(Attention const& attention, std::int64_t count) {
    SDPA_GRAPH_TRY(check(kName, kConditions, attention));
    auto const cut = cut_into(attention, count);
    if (!cut) {
        return error_t(error_code_t::GRAPH_NOT_SUPPORTED,
                       std::string(kName) + ": " + std::to_string(count) + " slices do not divide " +
                           std::to_string(attention.batches) + " batch entries, " +
                           std::to_string(attention.key_heads) + " heads of keys and the " +
                           std::to_string(attention.group()) + " query heads of each");
    }
    return SliceWriter(attention, count, *cut).write();
}

}  // namespace cudnn_frontend::rewrite
