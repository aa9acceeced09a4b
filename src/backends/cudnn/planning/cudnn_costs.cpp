#include "cudnn/planning/cudnn_costs.h"

#include "core/data_type.h"
#include "cuda/device_facts.h"

#include <algorithm>
#include <cmath>

namespace cudnn_frontend::cudnn {
namespace {

struct Figure {
    std::string_view name;
    double CudnnRates::*value;
};

constexpr Figure kFigures[] = {{"start", &CudnnRates::start},
                               {"bandwidth", &CudnnRates::bandwidth},
                               {"forward_tile", &CudnnRates::forward_tile},
                               {"forward_width", &CudnnRates::forward_width},
                               {"backward_tile", &CudnnRates::backward_tile},
                               {"backward_width", &CudnnRates::backward_width},
                               {"decode_heads", &CudnnRates::decode_heads}};

}  // namespace

std::optional<CudnnRates> read_rates(std::string_view text) {
    CudnnRates rates;
    for (Figure const& figure : kFigures) {
        auto const value = cuda::read_rate(text, figure.name);
        if (!value) return {};
        rates.*figure.value = *value;
    }
    rates.backward_192_128_tile = cuda::read_rate(text, "backward_192_128_tile");
    rates.backward_192_128_deterministic_tile = cuda::read_rate(text, "backward_192_128_deterministic_tile");
    return rates;
}

namespace {

using Port = nodes::attention::Port;

constexpr double kTile = 128.0;

double tiles(double rows) { return std::ceil(rows / kTile); }

// The sizes of an attention, as numbers to calculate with. Sequences count as having all their rows.
struct AttentionSizes {
    explicit AttentionSizes(nodes::GraphSpec const& graph) : fields(*nodes::attention_fields(graph.nodes.front())) {
        core::Dims const& q = graph.tensor(graph.nodes.front(), Port::Q)->dim;
        core::Dims const& k = graph.tensor(graph.nodes.front(), Port::K)->dim;
        core::Dims const& v = graph.tensor(graph.nodes.front(), Port::V)->dim;
        batches = static_cast<double>(q[0]);
        query_heads = static_cast<double>(q[1]);
        queries = static_cast<double>(q[2]);
        key_heads = static_cast<double>(k[1]);
        keys = static_cast<double>(k[2]);
        nodes::TensorSpec const* const pages = graph.tensor(graph.nodes.front(), Port::PageTableK);
        if (pages != nullptr) keys *= static_cast<double>(pages->dim[2]);
        columns = static_cast<double>(q[3] + v[3]);
        is_of_192_and_128 = q[3] == 192 && v[3] == 128;
        auto const* const backward = std::get_if<nodes::SdpaBackwardFields>(&graph.nodes.front().fields);
        is_deterministic = backward != nullptr && backward->deterministic;
    }

    double width() const { return columns / 2.0; }
    double key_bytes() const { return 2.0 * batches * key_heads * keys * columns; }
    double query_bytes() const { return 2.0 * batches * query_heads * queries * columns; }
    double shift() const {
        return fields.diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT ? keys - queries : 0.0;
    }

    nodes::AttentionFields const& fields;
    double batches = 0, query_heads = 0, key_heads = 0, queries = 0, keys = 0, columns = 0;
    bool is_of_192_and_128 = false, is_deterministic = false;
};

// The number of tiles of keys that are visible to a tile of queries: the mean over all tiles of queries, some of whose
// keys the masks hide.
double tiles_of_row(AttentionSizes const& s) {
    double seen = 0.0;
    double const rows = tiles(s.queries);
    constexpr double kSampled = 64.0;  // so that long sequences cost no more
    int const count = static_cast<int>(std::min(rows, kSampled));
    double const step = rows / count;
    for (int i = 0; i < count; ++i) {
        double const first_query = std::floor(i * step) * kTile + s.shift();
        double const last_query = std::min(first_query + kTile, s.queries + s.shift()) - 1.0;
        double first = 0.0, last = s.keys - 1.0;
        if (s.fields.left_bound) first = std::max(0.0, first_query + 1.0 - static_cast<double>(*s.fields.left_bound));
        if (s.fields.right_bound) last = std::min(last, last_query + static_cast<double>(*s.fields.right_bound));
        if (last >= first) seen += std::floor(last / kTile) - std::floor(first / kTile) + 1.0;
    }
    return seen / count;
}

// Blocks run side by side, one on each multiprocessor.
double rounds(double blocks, int multiprocessors) { return std::ceil(blocks / multiprocessors); }

// One query: the engine splits the keys itself, and reads them once for some query heads.
double decode(AttentionSizes const& s, CudnnRates const& rates) {
    double const passes = std::ceil(s.query_heads / s.key_heads / rates.decode_heads);
    return rates.start + s.key_bytes() * passes / rates.bandwidth;
}

// With a window a block may have few visible tiles, but a later round takes at least as long as this many.
double fewest_tiles(AttentionSizes const& s) { return s.fields.left_bound ? 6.0 : 0.0; }

double forward(AttentionSizes const& s, CudnnRates const& rates, int multiprocessors) {
    if (s.queries == 1.0) return decode(s, rates);
    double const blocks = s.batches * s.query_heads * tiles(s.queries);
    double const tile = rates.forward_tile + rates.forward_width * s.width();
    double const seen = tiles_of_row(s), later_rounds = rounds(blocks, multiprocessors) - 1.0;
    double const computing = (seen + later_rounds * std::max(seen, fewest_tiles(s))) * tile;
    double const moving = (s.key_bytes() + s.query_bytes()) / rates.bandwidth;
    return rates.start + std::max(computing, moving);
}

// Engines skip tiles only where the diagonal starts in the first element and nothing right of it is visible.
bool skips_tiles(AttentionSizes const& s) { return s.fields.right_bound == 0 && s.shift() == 0.0; }

// The measured time of a tile, for head dims that have engines of their own.
std::optional<double> measured_tile(AttentionSizes const& s, CudnnRates const& rates) {
    if (!s.is_of_192_and_128) return {};
    return s.is_deterministic ? rates.backward_192_128_deterministic_tile : rates.backward_192_128_tile;
}

// Each tensor counts once. So does dQ in FLOAT, which is cleared, added to (a read and a write), and read. The
// deterministic algorithm has scores in memory instead, whose time is in that of its measured tiles.
double backward_bytes(AttentionSizes const& s, bool accumulates) {
    double const tensors = 2.0 * s.key_bytes() + 2.0 * s.query_bytes(), passes = accumulates ? 4.0 : 0.0;
    return tensors + passes * s.query_bytes();
}

double backward(AttentionSizes const& s, CudnnRates const& rates, int multiprocessors) {
    double const of_row = skips_tiles(s) ? tiles_of_row(s) : tiles(s.keys);
    double const all = s.batches * s.query_heads * tiles(s.queries) * of_row;
    auto const measured = measured_tile(s, rates);
    double const tile = measured.value_or(rates.backward_tile + rates.backward_width * s.width());
    double const bytes = backward_bytes(s, !(measured && s.is_deterministic));
    return 3.0 * rates.start + std::ceil(all / multiprocessors) * tile + bytes / rates.bandwidth;
}

bool is_plain(nodes::GraphSpec const& graph) {
    if (graph.nodes.size() != 1 || !graph.nodes.front().modifier.empty()) return false;
    nodes::AttentionFields const* const fields = nodes::attention_fields(graph.nodes.front());
    if (fields == nullptr || fields->alibi_mask || fields->dropout_probability) return false;
    if (graph.tensor(graph.nodes.front(), Port::Bias) != nullptr) return false;
    return core::is_half(graph.tensor(graph.nodes.front(), Port::Q)->data_type);
}

}  // namespace

std::optional<double> CudnnCosts::of(nodes::ValidatedGraph const& validated) const {
    nodes::GraphSpec const& graph = validated.spec();
    if (!is_plain(graph)) return {};
    AttentionSizes const sizes(graph);
    bool const is_backward = graph.nodes.front().kind() == nodes::NodeKind::SdpaBackward;
    return is_backward ? backward(sizes, rates_, multiprocessors_) : forward(sizes, rates_, multiprocessors_);
}

}  // namespace cudnn_frontend::cudnn
