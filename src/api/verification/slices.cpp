#include "api/verification/slices.h"

#include "attention/masks.h"
#include "core/data_type.h"
#include "nodes/attention/attention_node.h"

#include <array>

namespace cudnn_frontend::verification {
namespace {

using attention::Size;
using nodes::AttentionFields;
using nodes::Node;

// A range of each kind of size.
struct IndexRange {
    std::int64_t first = 0, count = 1;
};

AttentionFields& fields_of(Node& node) {
    return const_cast<AttentionFields&>(*nodes::attention_fields(std::as_const(node)));
}

TensorId tensor_at(Node const& node, int port) { return node.ports[static_cast<std::size_t>(port)]; }

std::int64_t heads_of(Problem const& problem, Node const& node, int port) {
    return problem.spec.tensor(node, port)->dim[1];
}

std::int64_t unused_uid(Problem const& problem) {
    std::int64_t uid = 1;
    while (std::ranges::any_of(problem.spec.tensors, [&](auto const& tensor) { return tensor.uid == uid; })) ++uid;
    return uid;
}

// The sizes of one batch entry, and its mask.
struct BatchEntry {
    std::int64_t queries, keys;
    std::int64_t shift;  // of the diagonal
};

BatchEntry entry_of(Problem const& problem, Node const& node, std::int64_t batch) {
    Dims const dims = nodes::score_dims(problem.spec, node);
    Dims const queries = lengths_of(problem, node, attention::kQueryLengths);
    Dims const keys = lengths_of(problem, node, attention::kKeyLengths);
    BatchEntry entry{dims[2], dims[3], 0};
    if (!queries.empty()) entry.queries = queries[static_cast<std::size_t>(batch)];
    if (!keys.empty()) entry.keys = keys[static_cast<std::size_t>(batch)];
    bool const is_at_end = nodes::attention_fields(node)->diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
    if (is_at_end) entry.shift = entry.keys - entry.queries;
    return entry;
}

BatchEntry entry_of(Problem const& problem, std::int64_t batch) {
    return entry_of(problem, problem.spec.nodes.front(), batch);
}

// The range from first to past last, cut to 0 and the size.
IndexRange clipped(std::int64_t first, std::int64_t last, std::int64_t size) {
    first = std::clamp<std::int64_t>(first, 0, size);
    return {first, std::max<std::int64_t>(std::min(last, size) - first, 0)};
}

IndexRange visible_keys(AttentionFields const& mask, BatchEntry const& entry, IndexRange const& rows) {
    std::int64_t const last_row = rows.first + rows.count - 1 + entry.shift, first_row = rows.first + entry.shift;
    return clipped(mask.left_bound ? first_row - *mask.left_bound + 1 : 0,
                   mask.right_bound ? last_row + *mask.right_bound + 1 : entry.keys, entry.keys);
}

IndexRange rows_that_see(AttentionFields const& mask, BatchEntry const& entry, IndexRange const& keys) {
    std::int64_t const last_key = keys.first + keys.count - 1 - entry.shift, first_key = keys.first - entry.shift;
    return clipped(mask.right_bound ? first_key - *mask.right_bound : 0,
                   mask.left_bound ? last_key + *mask.left_bound : entry.queries, entry.queries);
}

class Slicer {
   public:
    Slicer(Problem const& problem, SlicePart const& part)
        : part_(part),
          slice_{problem, {}},
          entry_(entry_of(problem, part.batch)),
          fields_(fields_of(slice_.problem.spec.nodes.front())) {}

    std::optional<ProblemSlice> make();

   private:
    Node& node() { return slice_.problem.spec.nodes.front(); }
    bool choose_ranges();
    bool fit_mask();
    IndexRange range_along(Size kind, std::int64_t size) const;
    void cut(attention::Operand const& row, TensorId id);
    void disconnect(int port) { node().ports[static_cast<std::size_t>(port)] = nodes::kNoTensor; }
    void put_alibi_into_bias();
    bool is_shown(attention::Operand const& row) const;

    SlicePart const& part_;
    ProblemSlice slice_;
    BatchEntry const entry_;
    AttentionFields& fields_;
    IndexRange rows_, keys_;
    std::int64_t all_heads_ = 0;
};

bool Slicer::choose_ranges() {
    all_heads_ = heads_of(slice_.problem, node(), attention::Q);
    IndexRange const chosen =
        clipped(part_.first, part_.first + part_.count, part_.is_of_keys ? entry_.keys : entry_.queries);
    if (chosen.count == 0) return false;
    rows_ = part_.is_of_keys ? rows_that_see(fields_, entry_, chosen) : chosen;
    keys_ = part_.is_of_keys ? chosen : visible_keys(fields_, entry_, chosen);
    return rows_.count > 0 && keys_.count > 0;
}

// The same band, with its bounds counted from the slice's corner.
bool Slicer::fit_mask() {
    std::int64_t const moved = entry_.shift + rows_.first - keys_.first;
    if (fields_.right_bound) fields_.right_bound = *fields_.right_bound + moved;
    if (fields_.left_bound) fields_.left_bound = *fields_.left_bound - moved;
    fields_.diagonal_alignment = DiagonalAlignment_t::TOP_LEFT;
    return fields_.right_bound.value_or(0) >= 0 && fields_.left_bound.value_or(1) >= 1;
}

IndexRange Slicer::range_along(Size kind, std::int64_t size) const {
    auto const of_heads = [&](std::int64_t count) {
        std::int64_t const first = part_.first_head * count / all_heads_;
        std::int64_t const last = (part_.first_head + part_.heads - 1) * count / all_heads_;
        return IndexRange{first, last - first + 1};
    };
    switch (kind) {
        case Size::B: return size == 1 ? IndexRange{0, 1} : IndexRange{part_.batch, 1};
        case Size::Hq:
        case Size::Hk:
        case Size::Hv: return of_heads(size);
        case Size::Sq: return size == 1 ? IndexRange{0, 1} : rows_;
        case Size::Skv: return size == 1 ? IndexRange{0, 1} : keys_;
        default: return {0, size};
    }
}

bool Slicer::is_shown(attention::Operand const& row) const {
    return part_.is_of_keys ? attention::has_key_rows(row) : attention::has_query_rows(row);
}

void Slicer::cut(attention::Operand const& row, TensorId id) {
    nodes::TensorSpec& tensor = slice_.problem.tensor(id);
    if (slice_.problem.data(id) == nullptr || tensor.dim.size() != 4) return;
    Elements const whole = elements_of(slice_.problem, id);
    Dims origin(4, 0);
    for (std::size_t axis = 0; axis < 4; ++axis) {
        IndexRange const range = range_along(row.shape.sizes[axis], tensor.dim[axis]);
        origin[axis] = range.first;
        tensor.dim[axis] = range.count;
    }
    std::int64_t const uid = *tensor.uid;
    slice_.problem.memory[uid].data += whole.place(origin) * core::size_of(tensor.data_type);
    tensor.ragged_offset = nodes::kNoTensor;
    tensor.ragged_offset_multiplier = 1;
    if (attention_use(slice_.problem.spec, id).is_result && is_shown(row)) slice_.origins[uid] = origin;
}

void Slicer::put_alibi_into_bias() {
    Problem& problem = slice_.problem;
    TensorId const given = tensor_at(node(), attention::Bias);
    nodes::TensorSpec bias;
    bias.name = "bias with ALiBi";
    bias.dim = {1, part_.heads, rows_.count, keys_.count};
    bias.stride = core::packed_strides(bias.dim);
    bias.data_type = DataType_t::FLOAT;
    bias.uid = unused_uid(problem);
    Memory const memory = Memory::of(core::volume(bias.dim).value_or(0) * core::size_of(bias.data_type));
    problem.memory[*bias.uid] = memory;
    Elements const sum{bias.data_type, bias.dim, bias.stride, {}, {}, memory.data};
    std::optional<Elements> const of_user =
        given == nodes::kNoTensor ? std::nullopt : std::optional(elements_of(problem, given));
    Dims place(4, 0);
    sum.for_each([&](Dims const& index) {
        double const distance = static_cast<double>(index[3] + keys_.first - index[2] - rows_.first);
        double value = attention::alibi_slope(part_.first_head + index[1], all_heads_) * distance;
        for (std::size_t axis = 0; of_user && axis < 4; ++axis) place[axis] = of_user->dim[axis] == 1 ? 0 : index[axis];
        if (of_user) value += of_user->get(place);
        sum.set(index, value);
    });
    node().ports[attention::Bias] = static_cast<TensorId>(problem.spec.tensors.size());
    problem.spec.tensors.push_back(std::move(bias));
    fields_.alibi_mask = false;
}

// Ports that a part does not have: lengths, which its sizes replace, and sums over all rows and keys.
bool is_left_out(attention::Operand const& row) {
    using namespace attention;
    bool const is_sum = row.part == attention::Part::Fp8 && row.port >= AmaxS && row.port <= AmaxDP;
    return is_length(row) || is_sum || row.port == DBias || row.port == DSinkToken || row.port == RngDump;
}

std::optional<ProblemSlice> Slicer::make() {
    if (!choose_ranges() || !fit_mask()) return std::nullopt;
    std::vector<std::pair<attention::Operand const*, TensorId>> connected;
    for (attention::Operand const& row : attention::kOperands) {
        TensorId const id = tensor_at(node(), row.port);
        bool const is_new = std::ranges::none_of(connected, [&](auto const& known) { return known.second == id; });
        if (id != nodes::kNoTensor && is_new && !is_left_out(row)) connected.emplace_back(&row, id);
    }
    // The extents of ragged tensors depend on lengths, so that these go last.
    for (auto const& [row, id] : connected) cut(*row, id);
    for (attention::Operand const& row : attention::kOperands) {
        if (is_left_out(row)) disconnect(row.port);
    }
    fields_.padding_mask = false;
    fields_.max_total_seq_len_q = fields_.max_total_seq_len_kv = std::nullopt;
    if (auto* const forward = std::get_if<nodes::SdpaForwardFields>(&node().fields)) {
        forward->max_seq_len_kv = std::nullopt;
        forward->implementation = AttentionImplementation_t::AUTO;
    }
    if (fields_.alibi_mask) put_alibi_into_bias();
    return std::move(slice_);
}

std::int64_t spread(std::int64_t number, std::int64_t parts, std::int64_t size) {
    if (number == 0 || size <= 1) return 0;
    if (number == parts - 1) return size - 1;
    // The golden ratio, in 32 bits: positions that share no stride with tiles.
    return static_cast<std::int64_t>(
        (static_cast<std::uint64_t>(number) * 2654435769ULL % (1ULL << 32)) * static_cast<std::uint64_t>(size) >> 32);
}

bool is_backward(Node const& node) { return node.kind() == nodes::NodeKind::SdpaBackward; }

std::int64_t group_size(Problem const& problem, Node const& node) {
    std::int64_t const keys = heads_of(problem, node, attention::K), values = heads_of(problem, node, attention::V);
    return heads_of(problem, node, attention::Q) / std::max<std::int64_t>(std::min(keys, values), 1);
}

// The number of rows or keys that give so many scores, from 1 to kMost.
std::int64_t count_for(std::int64_t scores, std::int64_t others, std::int64_t heads) {
    constexpr std::int64_t kMost = 64;
    return std::clamp<std::int64_t>(scores / std::max<std::int64_t>(others * heads, 1), 1, kMost);
}

SlicePart part_at(Problem const& problem, SlicePart part, std::int64_t scores) {
    Node const& node = problem.spec.nodes.front();
    BatchEntry const entry = entry_of(problem, part.batch);
    AttentionFields const& mask = *nodes::attention_fields(node);
    std::int64_t const group = group_size(problem, node);
    if (part.is_of_keys) {
        part.first_head = part.first_head / group * group;
        part.heads = group;
    }
    IndexRange const one{part.first, 1};
    std::int64_t const others =
        part.is_of_keys ? rows_that_see(mask, entry, one).count : visible_keys(mask, entry, one).count;
    part.count = count_for(scores, others, part.heads);
    std::int64_t const size = part.is_of_keys ? entry.keys : entry.queries;
    part.first = std::clamp<std::int64_t>(part.first, 0, std::max<std::int64_t>(size - part.count, 0));
    return part;
}

}  // namespace

bool can_be_sliced(Problem const& problem) {
    using namespace attention;
    if (problem.spec.nodes.size() != 1) return false;
    Node const& node = problem.spec.nodes.front();
    AttentionFields const* const fields = nodes::attention_fields(node);
    if (fields == nullptr || fields->block_scaled || fields->dropout_probability.value_or(0.0F) > 0.0F) return false;
    constexpr std::array kWhole = {PageTableK, PageTableV, BlockMask, Score, ScoreMod, DScore, DScoreMod};
    return std::ranges::none_of(kWhole, [&](Port port) { return tensor_at(node, port) != nodes::kNoTensor; });
}

std::optional<ProblemSlice> slice(Problem const& problem, SlicePart const& part) {
    return Slicer(problem, part).make();
}

std::vector<std::vector<double>> squares_of_weights(Problem const& problem, Node const& node, bool is_of_keys) {
    AttentionFields const& mask = *nodes::attention_fields(node);
    std::vector<std::vector<double>> all;
    for (std::int64_t b = 0; b < nodes::score_dims(problem.spec, node)[0]; ++b) {
        BatchEntry const entry = entry_of(problem, node, b);
        std::vector<double> rows, sums = {0.0}, keys;
        for (std::int64_t row = 0; row < entry.queries; ++row) {
            auto const visible = static_cast<double>(visible_keys(mask, entry, {row, 1}).count);
            rows.push_back(visible == 0.0 ? 0.0 : 1.0 / visible);
            sums.push_back(sums.back() + rows.back() * rows.back());
        }
        for (std::int64_t key = 0; is_of_keys && key < entry.keys; ++key) {
            IndexRange const seen_by = rows_that_see(mask, entry, {key, 1});
            auto const first = static_cast<std::size_t>(seen_by.first);
            keys.push_back(sums[first + static_cast<std::size_t>(seen_by.count)] - sums[first]);
        }
        all.push_back(is_of_keys ? keys : rows);
    }
    return all;
}

std::vector<SlicePart> sample(Problem const& problem, std::int64_t scores) {
    constexpr std::int64_t kParts = 12;
    Node const& node = problem.spec.nodes.front();
    Dims const dims = nodes::score_dims(problem.spec, node);
    bool const has_keys = is_backward(node);
    std::vector<SlicePart> parts;
    Dims entries;  // those with rows and keys
    for (std::int64_t b = 0; b < dims[0]; ++b) {
        BatchEntry const entry = entry_of(problem, b);
        if (entry.queries > 0 && entry.keys > 0) entries.push_back(b);
    }
    auto const count = static_cast<std::int64_t>(entries.size());
    for (std::int64_t number = 0; number < kParts && count > 0; ++number) {
        for (bool const is_of_keys : {false, true}) {
            if (is_of_keys && !has_keys) continue;
            SlicePart part{.first_head = spread(number, kParts, dims[1])};
            part.batch = entries[static_cast<std::size_t>(spread(number, kParts, count))];
            part.is_of_keys = is_of_keys;
            BatchEntry const entry = entry_of(problem, part.batch);
            part.first = spread(number, kParts, is_of_keys ? entry.keys : entry.queries);
            parts.push_back(part_at(problem, part, scores / kParts / (has_keys ? 2 : 1)));
        }
    }
    return parts;
}

SlicePart part_around(Problem const& problem, TensorId result, Dims const& index, std::int64_t scores) {
    AttentionUse const use = attention_use(problem.spec, result);
    SlicePart part{.batch = index[0]};
    part.is_of_keys = attention::has_key_rows(*use.operand);
    std::int64_t const heads = heads_of(problem, *use.node, attention::Q);
    part.first_head = index[1] * heads / problem.tensor(result).dim[1];
    part.first = index[2];
    return part_at(problem, part, scores);
}

}  // namespace cudnn_frontend::verification
