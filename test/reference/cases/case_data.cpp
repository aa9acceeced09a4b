#include "reference/cases/case_data.h"

#include "reference/cases/paged_tensor.h"
#include "support/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace sdpa_test {
namespace {

// A tensor of numbers for batch entries or heads.
HostTensor make_numbers(AttentionCase const& c, DataType_t type, Index4 const& dim) {
    Index4 stride = packed_strides(dim);
    if (c.numbers_apart) std::ranges::for_each(stride, [](std::int64_t& elements) { elements *= 2; });
    return make_tensor(type, dim, stride);
}

HostTensor make_in_layout(DataType_t type, Layout layout, Index4 const& dim) {
    auto const [b, h, s, d] = dim;
    switch (layout) {
        case Layout::Sbhd: return make_tensor(type, dim, {h * d, d, b * h * d, 1});
        case Layout::Gaps:
        case Layout::WideGaps: {
            std::int64_t const row = d + (layout == Layout::Gaps ? 3 : 16);
            return make_tensor(type, dim, {(h * (s + 1) + 1) * row, (s + 1) * row, row, 1});
        }
        case Layout::Shared: return make_tensor(type, dim, {0, s * d, d, 1});
        case Layout::Transposed: return make_tensor(type, dim, {h * s * d, s * d, 1, s});
        case Layout::Bshd:
        case Layout::Packed: return make_tensor(type, dim, {s * h * d, d, h * d, 1});
        default: return make_tensor(type, dim);
    }
}

// Sets where packed sequences start, with `row` elements for each row, and where the last one ends.
void set_starts(HostTensor& tensor, std::int64_t gap, std::int64_t row, AttentionCase const& c) {
    std::int64_t start = 0;
    tensor.starts.clear();
    for (std::int64_t const length : tensor.rows) {
        tensor.starts.push_back(start);
        start += (length + gap) * row;
    }
    std::int64_t const b = tensor.dim[0];
    tensor.offset_unit = c.offsets_in_rows ? row : 1;
    tensor.offsets = std::make_shared<HostTensor>(make_numbers(c, c.offset_type, {b + 1, 1, 1, 1}));
    tensor.offsets->fill([&](Index4 const& at) {
        std::int64_t const elements = at[0] == b ? start : tensor.starts[static_cast<std::size_t>(at[0])];
        return static_cast<double>(elements / tensor.offset_unit);
    });
}

std::int64_t end_of(HostTensor const& ragged) {
    return static_cast<std::int64_t>(ragged.offsets->get({ragged.dim[0], 0, 0, 0})) * ragged.offset_unit;
}

// Each sequence gets as many rows as the longest, head by head.
HostTensor make_slots(DataType_t type, Index4 const& dim, std::vector<std::int64_t> const& lengths,
                      AttentionCase const& c) {
    HostTensor tensor = make_tensor(type, dim);
    tensor.rows.assign(lengths.size(), dim[2]);
    set_starts(tensor, 0, dim[1] * dim[3], c);
    tensor.rows = lengths;
    return tensor;
}

// Packed sequences, each row with all its heads.
HostTensor make_ragged(DataType_t type, Index4 const& dim, std::vector<std::int64_t> const& lengths,
                       AttentionCase const& c, Layout layout) {
    auto const [b, h, s, d] = dim;
    HostTensor tensor{type, dim, {s * h * d, d, h * d, 1}};
    tensor.rows = lengths;
    set_starts(tensor, layout == Layout::RaggedGaps ? 2 : 0, h * d, c);
    tensor.memory = std::make_shared<HostMemory>(end_of(tensor) * element_size(type));
    return tensor;
}

// Packs tensors of equal lengths into one buffer: with their rows next to each other, or their heads, which then are
// equal in number and size.
void pack_ragged(std::initializer_list<HostTensor*> group, bool by_head, AttentionCase const& c) {
    std::int64_t width = 0, count = 0;
    for (HostTensor const* tensor : group) width += tensor->dim[1] * tensor->dim[3], ++count;
    std::int64_t first = 0;
    std::shared_ptr<HostMemory> memory;
    for (HostTensor* tensor : group) {
        auto const [b, h, s, d] = tensor->dim;
        tensor->stride = {s * width, by_head ? count * d : d, width, 1};
        set_starts(*tensor, 0, width, c);
        if (!memory) memory = std::make_shared<HostMemory>(end_of(*tensor) * element_size(tensor->type));
        tensor->memory = memory;
        tensor->first = first;
        first += by_head ? d : h * d;
    }
}

bool have_equal_heads(HostTensor const& a, HostTensor const& b) { return a.dim[1] == b.dim[1] && a.dim[3] == b.dim[3]; }

// A tensor of rows of queries, or of keys.
HostTensor make_rows(AttentionCase const& c, DataType_t type, Layout layout, Index4 const& dim,
                     std::optional<std::vector<std::int64_t>> const& lengths) {
    if (layout == Layout::RaggedSlots) return make_slots(type, dim, *lengths, c);
    return is_ragged(layout) ? make_ragged(type, dim, *lengths, c, layout) : make_in_layout(type, layout, dim);
}

// A number for each row.
HostTensor make_stats(AttentionCase const& c, DataType_t type = DataType_t::FLOAT) {
    return make_rows(c, type, c.layout_of_stats(), {c.b, c.h_q, c.s_q, 1}, c.len_q);
}

// Columns of zeros draw no random numbers, so that the others do not depend on them.
void fill_rows(AttentionCase const& c, Random& random, double magnitude, HostTensor const& tensor) {
    if (!c.has_data) return;
    std::int64_t const columns = tensor.dim[3] - c.zero_columns;
    tensor.fill([&](Index4 const& at) { return at[3] < columns ? magnitude * random.real(-1.0, 1.0) : 0.0; });
}

void lower_scores(Inputs const& in) {
    for (auto const& [tensor, sign] : {std::pair(in.q, 1.0), std::pair(in.k, -1.0)}) {
        for_each_index(tensor.dim, [&tensor = tensor, sign = sign](Index4 const& at) {
            tensor.set(at, sign * std::abs(tensor.get(at)));
        });
    }
}

// All heads of all tensors at one position are next to each other. The tensors agree in batch and length.
void pack_rows(DataType_t type, std::initializer_list<HostTensor*> group) {
    std::int64_t width = 0;
    for (HostTensor const* tensor : group) width += tensor->dim[1] * tensor->dim[3];
    Index4 const& dim = (*group.begin())->dim;
    auto const memory = std::make_shared<HostMemory>(dim[0] * dim[2] * width * element_size(type));
    std::int64_t first = 0;
    for (HostTensor* tensor : group) {
        *tensor = {type, tensor->dim, {dim[2] * width, tensor->dim[3], width, 1}, memory, first};
        first += tensor->dim[1] * tensor->dim[3];
    }
}

// Puts K and V into pages if the case has them paged.
void put_in_pages(AttentionCase const& c, HostTensor& k, HostTensor& v) {
    if (c.paging.k_rows > 0) k = make_paged(c, k.dim, c.paging.k_rows);
    if (c.paging.v_rows > 0) v = make_paged(c, v.dim, c.paging.v_rows);
}

// Q, K and V, or their gradients. If lengths differ, only K and V can be packed together.
void make_qkv(AttentionCase const& c, DataType_t type, Layout layout, HostTensor& q, HostTensor& k, HostTensor& v) {
    q = make_rows(c, type, layout, {c.b, c.h_q, c.s_q, c.d_qk}, c.len_q);
    k = make_rows(c, type, layout, {c.b, c.h_k, c.s_kv, c.d_qk}, c.len_kv);
    v = make_rows(c, type, layout, {c.b, c.h_v, c.s_kv, c.d_v}, c.len_kv);
    if (layout == Layout::RaggedPacked || layout == Layout::RaggedHeads) {
        bool const is_one_group = c.s_q == c.s_kv && c.len_q == c.len_kv;
        bool const by_head = layout == Layout::RaggedHeads && have_equal_heads(k, v);
        if (is_one_group) pack_ragged({&q, &k, &v}, by_head && have_equal_heads(q, k), c);
        else pack_ragged({&k, &v}, by_head, c);
    }
    if (layout != Layout::Packed) return;
    if (c.s_q == c.s_kv) pack_rows(type, {&q, &k, &v});
    else pack_rows(type, {&k, &v});
}

HostTensor scalar(DataType_t type, double value) {
    return make_tensor(type, {1, 1, 1, 1}).fill([value](Index4 const&) { return value; });
}

// Cumulative lengths may start at any number.
HostTensor sums_tensor(AttentionCase const& c, std::vector<std::int64_t> const& lengths) {
    HostTensor const tensor = make_numbers(c, c.offset_type, {static_cast<std::int64_t>(lengths.size()) + 1, 1, 1, 1});
    double sum = static_cast<double>(lengths.size() % 2 * 5);
    return tensor.fill([&](Index4 const& at) {
        return at[0] == 0 ? sum : sum += static_cast<double>(lengths[static_cast<std::size_t>(at[0]) - 1]);
    });
}

HostTensor lengths_tensor(AttentionCase const& c, std::vector<std::int64_t> const& lengths) {
    if (c.sums_of_lengths) return sums_tensor(c, lengths);
    HostTensor const tensor = make_numbers(c, c.length_type, {static_cast<std::int64_t>(lengths.size()), 1, 1, 1});
    return tensor.fill([&](Index4 const& at) { return static_cast<double>(lengths[static_cast<std::size_t>(at[0])]); });
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void poison_padding(HostTensor const& tensor, std::vector<std::int64_t> const& lengths) {
    for_each_index(tensor.dim, [&](Index4 const& at) {
        if (at[2] >= lengths[static_cast<std::size_t>(at[0])]) tensor.set(at, kNan);
    });
}

// Poisons a bias or a dropout mask past the lengths of all batch entries that share it.
void poison_padded_scores(AttentionCase const& c, HostTensor const& tensor) {
    if (!tensor) return;
    bool const is_shared = tensor.dim[0] < c.b || tensor.stride[0] == 0;
    auto const is_past = [&](std::int64_t b, std::int64_t at, std::vector<std::int64_t> const& lengths) {
        std::int64_t const longest =
            is_shared ? *std::ranges::max_element(lengths) : lengths[static_cast<std::size_t>(b)];
        return at >= longest;
    };
    for_each_index(tensor.dim, [&](Index4 const& at) {
        bool const is_row_past = tensor.dim[2] == c.s_q && is_past(at[0], at[2], *c.len_q);
        bool const is_column_past = tensor.dim[3] == c.s_kv && is_past(at[0], at[3], *c.len_kv);
        if (is_row_past || is_column_past) tensor.set(at, kNan);
    });
}

// Sets a row of the tensor to NaN or infinity: an early one of queries, a late one of keys, so that masks often hide
// the keys from the queries.
void make_wild_row(Random& random, HostTensor const& tensor, bool is_late) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNumbers[] = {kNan, kNan, kInfinity, -kInfinity};
    std::int64_t const rows = tensor.dim[2], back = random.between(0, rows / 4);
    Index4 at{random.between(0, tensor.dim[0] - 1), random.between(0, tensor.dim[1] - 1),
              is_late ? rows - 1 - back : back, 0};
    double const number = random.pick(kNumbers);
    bool const is_whole = random.chance(0.5);
    for (at[3] = 0; at[3] < (is_whole ? tensor.dim[3] : 1); ++at[3]) tensor.set(at, number);
}

void make_wild_inputs(AttentionCase const& c, Inputs const& in) {
    Random random(c.seed + 0x3a11);
    if (random.chance(0.3)) make_wild_row(random, in.q, false);
    if (random.chance(0.3)) make_wild_row(random, in.k, true);
    if (random.chance(0.7)) make_wild_row(random, in.v, true);
}

// The layout for tensors without rows of heads.
Layout gaps_or_none(Layout layout) { return layout == Layout::Gaps ? Layout::Gaps : Layout::Bhsd; }

// A bias or a dropout mask.
HostTensor make_for_scores(AttentionCase const& c, DataType_t type, Index4 const& dim) {
    if (dim[2] == 1 && dim[3] == 1 && c.numbers_apart) return make_numbers(c, type, dim);
    return make_in_layout(type, c.scores_layout.value_or(gaps_or_none(c.input_layout)), dim);
}

HostTensor make_dump(AttentionCase const& c) {
    if (!c.rng_dump) return {};
    return make_in_layout(DataType_t::FLOAT, gaps_or_none(c.output_layout), {c.b, c.h_q, c.s_q, c.s_kv});
}

void make_dropout(AttentionCase const& c, Random& random, Inputs& in) {
    if (c.dropout == Dropout::Probability) {
        in.seed = scalar(c.rng_type, static_cast<double>(c.rng_seed));
        in.offset = scalar(c.rng_type, static_cast<double>(c.rng_offset));
    }
    if (c.dropout == Dropout::Mask) {
        in.mask = make_for_scores(c, c.mask_type, *c.mask);
        if (c.has_data) in.mask.fill([&](Index4 const&) { return random.chance(c.dropout_probability) ? 0.0 : 1.0; });
        in.mask_scale = scalar(DataType_t::FLOAT, 1.0 / (1.0 - c.dropout_probability));
        in.mask_scale_inv = scalar(DataType_t::FLOAT, 1.0 - c.dropout_probability);
    }
}

// An element of the bias: the number, or what stands in its place.
double element_of_bias(AttentionCase const& c, Random& random, Index4 const& at, double number) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::int64_t const row = at[2] / 128, column = at[3] / 128;
    bool const is_in_row = at[2] % 5 == 1, is_one_in_row = is_in_row && at[3] % 7 == 2;
    switch (c.bias_infinities) {
        case Infinities::None: return number;
        case Infinities::Some: return random.chance(0.3) ? -kInfinity : number;
        case Infinities::Rows: return is_in_row ? -kInfinity : number;
        case Infinities::Tiles: return column > 0 && (row + column) % 2 == 1 ? -kInfinity : number;
        case Infinities::Positive: return is_one_in_row ? kInfinity : number;
        case Infinities::Nan: return is_one_in_row ? kNan : number;
    }
    return number;
}

void make_bias(AttentionCase const& c, Random& random, Inputs& in) {
    if (!c.bias) return;
    in.bias = make_for_scores(c, c.bias_type, *c.bias);
    if (!c.has_data) return;
    in.bias.fill([&](Index4 const& at) {
        double const number = random.real(-1.0, 1.0) + c.bias_shift;
        return element_of_bias(c, random, at, number);
    });
}

// A document for each token. With every second seed those of a sequence follow each other, so that whole blocks of
// scores are hidden, and tokens of any document are next to each other with the others.
HostTensor make_documents(AttentionCase const& c, Random& random, Index4 const& dim) {
    std::int64_t const tokens = dim[2] * dim[3];
    std::vector<double> documents(static_cast<std::size_t>(c.b * tokens));
    for (double& document : documents) document = static_cast<double>(random.between(0, 2));
    for (auto first = documents.begin(); c.seed % 2 == 1 && first != documents.end(); first += tokens) {
        std::sort(first, first + tokens);
    }
    return make_numbers(c, DataType_t::INT32, dim).fill([&](Index4 const& at) {
        return documents[static_cast<std::size_t>(at[0] * tokens + at[2] + at[3])];
    });
}

void make_modifier(AttentionCase const& c, Random& random, Inputs& in) {
    auto const filled = [&](DataType_t type, Index4 const& dim, auto draw) {
        return make_numbers(c, type, dim).fill([&](Index4 const&) { return draw(); });
    };
    switch (c.modifier) {
        case oracle::Modify::Slopes:
            in.modifier_of_queries =
                filled(DataType_t::FLOAT, {1, c.h_q, 1, 1}, [&] { return random.real(-0.2, 0.2); });
            return;
        case oracle::Modify::Documents:
        case oracle::Modify::CappedDocuments:
            in.modifier_of_queries = make_documents(c, random, {c.b, 1, c.s_q, 1});
            in.modifier_of_keys = make_documents(c, random, {c.b, 1, 1, c.s_kv});
            return;
        case oracle::Modify::Prefix:
            in.modifier_of_queries = filled(DataType_t::INT32, {c.b, 1, 1, 1},
                                            [&] { return static_cast<double>(random.between(0, c.s_kv)); });
            return;
        default: return;
    }
}

// Drawn separately from the other data, so that a sink changes nothing else.
HostTensor make_sink(AttentionCase const& c) {
    if (!c.sink) return {};
    Random random(c.seed + 0x51);
    return make_numbers(c, *c.sink, {1, c.h_q, 1, 1}).fill([&](Index4 const&) {
        return random.real(0.0, 2.0) + c.sink_shift;
    });
}

// Bits past the last tile are random too: they are ignored.
HostTensor make_block_mask(AttentionCase const& c) {
    if (!c.block_mask) return {};
    Random random(c.seed + 0xb10c);
    auto const parts = [](std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; };
    Index4 const dim{c.b, c.h_q, parts(c.s_q, 128), parts(parts(c.s_kv, 128), 8)};
    return make_tensor(DataType_t::UINT8, dim).fill([&](Index4 const&) {
        double byte = 0.0;
        for (int bit = 0; bit < 8; ++bit) byte = 2.0 * byte + (random.chance(0.6) ? 1.0 : 0.0);
        return byte;
    });
}

// A scale and descale for numbers of about this magnitude, with some headroom.
struct FactorPair {
    HostTensor scale, descale;
};

FactorPair make_pair_of_factors(AttentionCase const& c, DataType_t type, double magnitude, Random& random) {
    double const range = is_fp8(type) ? oracle::largest(format_of(type)) : magnitude;
    double scale = std::exp2(std::floor(std::log2(range / magnitude)) - static_cast<double>(random.between(0, 2)));
    double descale = 1.0 / scale;
    if (c.odd_factors) scale *= random.real(0.6, 1.0), descale *= random.real(0.9, 1.1);
    return {scalar(DataType_t::FLOAT, scale), scalar(DataType_t::FLOAT, descale)};
}

HostTensor make_amax(AttentionCase const& c) {
    return is_fp8(c.type) ? make_tensor(DataType_t::FLOAT, {1, 1, 1, 1}) : HostTensor();
}

}  // namespace

// The factors come from estimates of the results' magnitudes: if one is too low, numbers saturate.
Factors make_factors(AttentionCase const& c) {
    if (!is_fp8(c.type)) return {};
    Random random(c.seed + 0xf8);
    auto const pair = [&](DataType_t type, double magnitude) {
        return make_pair_of_factors(c, type, magnitude, random);
    };
    DataType_t const gradients = c.type_of_gradients();
    auto const real = [](std::int64_t count) { return static_cast<double>(count); };
    double const dropped = c.dropout == Dropout::None ? 1.0 : 1.0 / (1.0 - static_cast<double>(c.dropout_probability));
    double const scale = c.scale == Scale::None ? 1.0 : static_cast<double>(c.scale_value);
    double const d_p = 2.0 * scale * dropped * std::sqrt(real(c.d_v));
    double const queries_of_key = std::max(1.0, real(c.s_q) / real(c.s_kv));
    Factors f;
    f.descale_q = pair(c.type, c.magnitude).descale;
    f.descale_k = pair(c.type, c.magnitude).descale;
    f.descale_v = pair(c.type, 1.0).descale;
    f.descale_d_o = pair(gradients, 1.0).descale;
    auto const take = [](FactorPair const& both, HostTensor& first, HostTensor& second) {
        first = both.scale, second = both.descale;
    };
    take(pair(c.type, dropped), f.scale_s, f.descale_s);
    take(pair(c.result_type, dropped), f.scale_o, f.descale_o);
    take(pair(gradients, d_p), f.scale_d_p, f.descale_d_p);
    f.scale_d_q = pair(gradients, d_p * c.magnitude).scale;
    f.scale_d_k = pair(gradients, d_p * c.magnitude * queries_of_key * real(c.h_q / c.h_k)).scale;
    f.scale_d_v = pair(gradients, 2.0 * dropped * queries_of_key * real(c.h_q / c.h_v)).scale;
    return f;
}

Inputs make_inputs(AttentionCase const& c) {
    Random random(c.seed);
    Inputs in;
    in.factors = make_factors(c);
    make_qkv(c, c.type, c.input_layout, in.q, in.k, in.v);
    if (c.keys_layout) {
        in.k = make_rows(c, c.type, *c.keys_layout, in.k.dim, c.len_kv);
        in.v = make_rows(c, c.type, *c.keys_layout, in.v.dim, c.len_kv);
    }
    put_in_pages(c, in.k, in.v);
    fill_rows(c, random, c.magnitude / factor_of(in.factors.descale_q), in.q);
    fill_rows(c, random, c.magnitude / factor_of(in.factors.descale_k), in.k);
    fill_rows(c, random, 1.0 / factor_of(in.factors.descale_v), in.v);
    if (c.low_scores && c.has_data) lower_scores(in);
    if (c.scale == Scale::ByValue || c.scale == Scale::Device) {
        in.scale = scalar(DataType_t::FLOAT, static_cast<double>(c.scale_value));
    }
    make_bias(c, random, in);
    in.sink = make_sink(c);
    in.block_mask = make_block_mask(c);
    if (c.len_q) in.len_q = lengths_tensor(c, *c.len_q);
    if (c.len_kv) in.len_kv = lengths_tensor(c, *c.len_kv);
    if (c.nan_in_padding && c.has_data) {
        poison_padding(in.q, *c.len_q);
        poison_padding(in.k, *c.len_kv);
        poison_padding(in.v, *c.len_kv);
    }
    make_dropout(c, random, in);
    make_modifier(c, random, in);
    if (c.nan_in_padding && c.has_data) {
        poison_padded_scores(c, in.bias);
        poison_padded_scores(c, in.mask);
    }
    if (c.wild_rows) make_wild_inputs(c, in);
    return in;
}

static void leave_out(AttentionCase const& c, AttentionResult result, HostTensor& tensor) {
    if (c.left_out.contains(result)) tensor = {};
}

ForwardOutputs make_forward_outputs(AttentionCase const& c) {
    ForwardOutputs out;
    out.o = make_rows(c, c.result_type, c.output_layout, {c.b, c.h_q, c.s_q, c.d_v}, c.len_q);
    if (c.generate_stats) out.stats = make_stats(c, c.stats_type);
    if (c.logit_max) out.max = make_stats(c);
    if (c.score_sum_exp) out.sum_exp = make_stats(c);
    out.rng_dump = make_dump(c);
    out.amax_s = make_amax(c);
    out.amax_o = make_amax(c);
    leave_out(c, AttentionResult::O, out.o);
    leave_out(c, AttentionResult::Stats, out.stats);
    return out;
}

// Fills rows beyond the lengths as a forward pass leaves them: not written, or marked as masked.
static void leave_stale(BackwardInputs const& in, std::vector<std::int64_t> const& lengths, Random& random) {
    auto const is_padding = [&](Index4 const& at) { return at[2] >= lengths[static_cast<std::size_t>(at[0])]; };
    for_each_index(in.o.dim, [&](Index4 const& at) {
        if (is_padding(at)) in.o.set(at, random.real(-4.0, 4.0));
    });
    for_each_index(in.stats.dim, [&](Index4 const& at) {
        if (is_padding(at)) in.stats.set(at, -std::numeric_limits<double>::infinity());
    });
}

BackwardInputs make_backward_inputs(AttentionCase const& c, oracle::Forward const& forward) {
    Random random(c.seed + 0x5eed);
    Index4 const dim{c.b, c.h_q, c.s_q, c.d_v};
    BackwardInputs in{make_rows(c, c.result_type, c.output_layout, dim, c.len_q), make_stats(c),
                      make_rows(c, c.type_of_gradients(), c.input_layout, dim, c.len_q)};
    Factors const factors = make_factors(c);
    if (!c.has_data) return in;
    double const of_o = factor_of(factors.scale_o), of_d_o = factor_of(factors.descale_d_o);
    in.o.fill([&](Index4 const& at) { return forward.o.at(at[0], at[1], at[2], at[3]) * of_o; });
    in.stats.fill([&](Index4 const& at) { return forward.stats.at(at[0], at[1], at[2], 0) * factor_of_stats(c); });
    fill_rows(c, random, 1.0 / of_d_o, in.d_o);
    if (c.nan_in_padding) {
        for (HostTensor const& tensor : in.all()) poison_padding(tensor, *c.len_q);
    }
    if (c.wild_rows && random.chance(0.5)) make_wild_row(random, in.d_o, false);
    if (c.stale_padding) leave_stale(in, *c.len_q, random);
    return in;
}

BackwardOutputs make_backward_outputs(AttentionCase const& c) {
    BackwardOutputs out;
    make_qkv(c, c.type_of_gradients(), c.output_layout, out.d_q, out.d_k, out.d_v);
    if (c.d_bias) {
        out.d_bias = make_in_layout(c.bias_type, gaps_or_none(c.output_layout), c.d_bias_dim.value_or(*c.bias));
    }
    if (c.d_sink) out.d_sink = make_numbers(c, DataType_t::FLOAT, {1, c.h_q, 1, 1});
    out.rng_dump = make_dump(c);
    for (HostTensor* const amax : {&out.amax_d_q, &out.amax_d_k, &out.amax_d_v, &out.amax_d_p}) *amax = make_amax(c);
    leave_out(c, AttentionResult::DQ, out.d_q);
    leave_out(c, AttentionResult::DK, out.d_k);
    leave_out(c, AttentionResult::DV, out.d_v);
    return out;
}

double factor_of_stats(AttentionCase const& c) { return c.stats_use_log2 ? std::numbers::log2e : 1.0; }

double factor_of(HostTensor const& factor) { return factor ? factor.get({}) : 1.0; }

oracle::Fp8 format_of(DataType_t type) { return type == DataType_t::FP8_E4M3 ? oracle::Fp8::E4m3 : oracle::Fp8::E5m2; }

oracle::Array to_array(HostTensor const& tensor, HostTensor const& descale) {
    oracle::Array result = to_array(tensor);
    for (double& value : result.values) value *= factor_of(descale);
    return result;
}

oracle::Array to_array(HostTensor const& tensor) {
    oracle::Array result(tensor.dim[0], tensor.dim[1], tensor.dim[2], tensor.dim[3]);
    for_each_index(tensor.dim, [&](Index4 const& at) { result.at(at[0], at[1], at[2], at[3]) = tensor.get(at); });
    return result;
}

oracle::Problem to_problem(AttentionCase const& c, Inputs const& inputs, HostTensor const& rng_dump) {
    oracle::Problem p;
    Factors const& factors = inputs.factors;
    p.q = to_array(inputs.q, factors.descale_q);
    p.k = to_array(inputs.k, factors.descale_k);
    p.v = to_array(inputs.v, factors.descale_v);
    if (is_fp8(c.type)) {
        p.narrow_probability = {format_of(c.type), factor_of(factors.scale_s), factor_of(factors.descale_s)};
        p.narrow_gradient = {format_of(c.type_of_gradients()), factor_of(factors.scale_d_p),
                             factor_of(factors.descale_d_p)};
    }
    if (c.scale != Scale::None) p.scale = static_cast<double>(c.scale_value);
    p.modifier = {
        c.modifier, static_cast<double>(c.modifier_number), c.modifier_reach, c.modifier_step, c.s_kv - c.s_q, {}, {}};
    if (inputs.modifier_of_queries) p.modifier.of_queries = to_array(inputs.modifier_of_queries);
    if (inputs.modifier_of_keys) p.modifier.of_keys = to_array(inputs.modifier_of_keys);
    if (c.bias) p.bias = to_array(inputs.bias);
    p.d_bias_dim = c.d_bias_dim;
    if (c.sink) p.sink = to_array(inputs.sink);
    if (c.block_mask) p.block_mask = to_array(inputs.block_mask);
    p.alibi = c.alibi;
    p.len_q = c.len_q;
    p.len_kv = c.len_kv;
    p.bottom_right = c.alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
    p.left = c.left;
    p.right = c.right;
    if (c.dropout == Dropout::Probability) {
        p.dropout_mask = to_array(rng_dump);
        p.dropout_scale = 1.0 / (1.0 - static_cast<double>(c.dropout_probability));
    }
    if (c.dropout == Dropout::Mask) {
        p.dropout_mask = to_array(inputs.mask);
        p.dropout_scale = inputs.mask_scale.get({});
    }
    return p;
}

}  // namespace sdpa_test
