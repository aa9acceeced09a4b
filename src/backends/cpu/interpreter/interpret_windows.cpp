// Operations over the windows of neighborhood attention. Each result is summed up in double and stored once.
#include "cpu/interpreter/interpreter.h"

#include <algorithm>

namespace cudnn_frontend::cpu {
namespace {

using neighborhood::Axis;
using Axes = std::vector<Axis>;

constexpr std::size_t kSpace = 2;  // the first dim of space: of tokens {B, H, space, D}, of slots {B, H, space, W}

Axes axes_of(neighborhood::Options const& options, Tensor const& tokens) {
    return neighborhood::axes_of(
        options, {tokens.dim.begin() + kSpace, tokens.dim.begin() + kSpace + options.kernel_size.size()});
}

// Where the row of a token starts.
std::int64_t offset_of(Tensor const& tensor, Extents const& token) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d + 1 < tensor.rank; ++d) offset += token[d] * tensor.stride[d];
    return offset;
}

// The distance in a row of slots of neighbors along each axis.
Extents slot_strides(Axes const& axes) {
    Extents strides{};
    std::int64_t stride = 1;
    for (std::size_t a = axes.size(); a-- > 0; stride *= axes[a].kernel) strides[a] = stride;
    return strides;
}

// Calls visit(token, slot) for each key that is visible to the token, or for each query to which it is visible.
template <class PositionsOf, class SlotAlong, class Visit>
void for_each_partner(Axes const& axes, Extents const& token, PositionsOf const& positions_of,
                      SlotAlong const& slot_along, Visit const& visit) {
    Extents const strides = slot_strides(axes);
    Extents partner = token, first{}, count{};
    for (std::size_t a = 0; a < axes.size(); ++a) {
        neighborhood::Positions const positions = positions_of(axes[a], token[kSpace + a]);
        first[a] = positions.first;
        count[a] = positions.count;
    }
    Walk<0> walk(axes.size(), count, {});
    do {
        std::int64_t slot = 0;
        for (std::size_t a = 0; a < axes.size(); ++a) {
            partner[kSpace + a] = first[a] + walk.index()[a] * axes[a].dilation;
            slot += slot_along(axes[a], token[kSpace + a], partner[kSpace + a]) * strides[a];
        }
        visit(partner, slot);
    } while (walk.next());
}

std::int64_t slot_of(Axis const& axis, std::int64_t query, std::int64_t key) {
    return (key - neighborhood::keys_of(axis, query).first) / axis.dilation;
}

template <class Visit>
void for_each_key(Axes const& axes, Extents const& query, Visit const& visit) {
    for_each_partner(axes, query, neighborhood::keys_of<long long>, slot_of, visit);
}

template <class Visit>
void for_each_query(Axes const& axes, Extents const& key, Visit const& visit) {
    auto const slot = [](Axis const& axis, std::int64_t at, std::int64_t query) { return slot_of(axis, query, at); };
    for_each_partner(axes, key, neighborhood::queries_of<long long>, slot, visit);
}

// Calls visit(token) for each token of the tensor.
template <class Visit>
void for_each_token(Tensor const& tensor, Visit const& visit) {
    Walk<0> token(tensor.rank - 1, tensor.dim, {});
    do visit(token.index());
    while (token.next());
}

double load_slot(Tensor const& slots, Extents const& query, std::int64_t slot) {
    return core::load(slots.type, slots.data, offset_of(slots, query) + slot * slots.stride[slots.rank - 1]);
}

void store_slot(Tensor const& slots, Extents const& query, std::int64_t slot, double value) {
    store_row(slots, offset_of(slots, query) + slot * slots.stride[slots.rank - 1], 1, 1, &value);
}

void fill_slots(Tensor const& slots, Extents const& query, double value) {
    for (std::int64_t slot = 0; slot < slots.dim[slots.rank - 1]; ++slot) store_slot(slots, query, slot, value);
}

// A piece of a token's row, of at most kChunk elements.
struct RowPiece {
    std::int64_t column, count;
};

void load_piece(Tensor const& tensor, Extents const& token, RowPiece const& piece, double* row) {
    std::int64_t const stride = tensor.stride[tensor.rank - 1];
    load_row(tensor, offset_of(tensor, token) + piece.column * stride, stride, piece.count, row);
}

void store_piece(Tensor const& tensor, Extents const& token, RowPiece const& piece, double const* row) {
    std::int64_t const stride = tensor.stride[tensor.rank - 1];
    store_row(tensor, offset_of(tensor, token) + piece.column * stride, stride, piece.count, row);
}

template <class Visit>
void for_each_piece(std::int64_t width, Visit const& visit) {
    for (std::int64_t column = 0; column < width; column += kChunk) {
        visit(RowPiece{column, std::min(kChunk, width - column)});
    }
}

double dot(Tensor const& a, Extents const& of_a, Tensor const& b, Extents const& of_b) {
    std::array<double, kChunk> x, y;
    double sum = 0.0;
    for_each_piece(a.dim[a.rank - 1], [&](RowPiece const& piece) {
        load_piece(a, of_a, piece, x.data());
        load_piece(b, of_b, piece, y.data());
        for (std::size_t i = 0; i < static_cast<std::size_t>(piece.count); ++i) sum += x[i] * y[i];
    });
    return sum;
}

void multiply_tokens(Axes const& axes, Tensor const& queries, Tensor const& keys, Tensor const& slots,
                     double without_key) {
    for_each_token(slots, [&](Extents const& query) {
        fill_slots(slots, query, without_key);
        for_each_key(axes, query, [&](Extents const& key, std::int64_t slot) {
            store_slot(slots, query, slot, dot(queries, query, keys, key));
        });
    });
}

// The row of each token of y: rows of its partners, weighed by the slots of their pairs. A slot of 0 leaves its partner
// out, also infinity and NaN.
template <class ForEachTerm>
void sum_rows(Tensor const& rows, Tensor const& y, ForEachTerm const& for_each_term) {
    for_each_token(y, [&](Extents const& token) {
        for_each_piece(y.dim[y.rank - 1], [&](RowPiece const& piece) {
            std::array<double, kChunk> sum{}, row;
            for_each_term(token, [&](Extents const& partner, double weight) {
                if (weight == 0.0) return;
                load_piece(rows, partner, piece, row.data());
                for (std::size_t i = 0; i < static_cast<std::size_t>(piece.count); ++i) sum[i] += weight * row[i];
            });
            store_piece(y, token, piece, sum.data());
        });
    });
}

void weigh_keys(Axes const& axes, Tensor const& slots, Tensor const& keys, Tensor const& queries) {
    sum_rows(keys, queries, [&](Extents const& query, auto const& add) {
        for_each_key(axes, query,
                     [&](Extents const& key, std::int64_t slot) { add(key, load_slot(slots, query, slot)); });
    });
}

void weigh_queries(Axes const& axes, Tensor const& slots, Tensor const& queries, Tensor const& keys) {
    sum_rows(queries, keys, [&](Extents const& key, auto const& add) {
        for_each_query(axes, key,
                       [&](Extents const& query, std::int64_t slot) { add(query, load_slot(slots, query, slot)); });
    });
}

// The offset in the bias of the entry for a query and a visible key.
std::int64_t bias_offset(Axes const& axes, Tensor const& bias, Extents const& query, Extents const& key) {
    std::int64_t offset = query[1] * bias.stride[0];
    for (std::size_t a = 0; a < axes.size(); ++a) {
        std::int64_t const position = query[kSpace + a];
        std::int64_t const along = slot_of(axes[a], position, key[kSpace + a]);
        offset += (neighborhood::first_bias_of(axes[a], position) + along) * bias.stride[1 + a];
    }
    return offset;
}

// The slot of the key that is visible to the query at these indices of the bias, if there is one.
std::optional<std::int64_t> slot_at(Axes const& axes, Extents const& query, Extents const& at) {
    Extents const strides = slot_strides(axes);
    std::int64_t slot = 0;
    for (std::size_t a = 0; a < axes.size(); ++a) {
        std::int64_t const position = query[kSpace + a];
        std::int64_t const along = at[1 + a] - neighborhood::first_bias_of(axes[a], position);
        if (along < 0 || along >= neighborhood::keys_of(axes[a], position).count) return {};
        slot += along * strides[a];
    }
    return slot;
}

}  // namespace

void interpret(ir::WindowProductOp const& op, Memory const& memory, double*) {
    Tensor const a = memory.tensor(op.a), b = memory.tensor(op.b), y = memory.tensor(op.y);
    Axes const axes = axes_of(op.options, y);
    switch (op.part) {
        case ir::WindowPart::Slots: return multiply_tokens(axes, a, b, y, op.without_key);
        case ir::WindowPart::Queries: return weigh_keys(axes, a, b, y);
        case ir::WindowPart::Keys: return weigh_queries(axes, a, b, y);
    }
}

void interpret(ir::WindowBiasOp const& op, Memory const& memory, double*) {
    Tensor const bias = memory.tensor(op.x), slots = memory.tensor(op.y);
    Axes const axes = axes_of(op.options, slots);
    for_each_token(slots, [&](Extents const& query) {
        fill_slots(slots, query, 0.0);
        for_each_key(axes, query, [&](Extents const& key, std::int64_t slot) {
            store_slot(slots, query, slot, core::load(bias.type, bias.data, bias_offset(axes, bias, query, key)));
        });
    });
}

// Visits, for each distance, the queries that have a key there.
void interpret(ir::WindowBiasSumOp const& op, Memory const& memory, double*) {
    Tensor const slots = memory.tensor(op.x), bias = memory.tensor(op.y);
    Axes const axes = axes_of(op.options, slots);
    Tensor of_head = slots;
    of_head.dim[1] = 1;
    Walk<1> distance(bias.rank, bias.dim, {bias.stride});
    do {
        double sum = 0.0;
        Extents const& at = distance.index();
        for_each_token(of_head, [&](Extents query) {
            query[1] = at[0];
            if (auto const slot = slot_at(axes, query, at)) sum += load_slot(slots, query, *slot);
        });
        store_row(bias, distance.offset(0), 1, 1, &sum);
    } while (distance.next());
}

}  // namespace cudnn_frontend::cpu
