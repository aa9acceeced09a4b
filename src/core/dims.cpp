#include "core/dims.h"

#include <algorithm>
#include <numeric>

namespace cudnn_frontend::core {
namespace {

std::optional<std::int64_t> multiply(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
    return product;
}

std::optional<std::int64_t> add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
    return sum;
}

}  // namespace

std::optional<std::int64_t> volume(Dims const& dim) {
    std::int64_t count = 1;
    for (std::int64_t const size : dim) {
        auto const product = multiply(count, size);
        if (!product) return std::nullopt;
        count = *product;
    }
    return count;
}

std::optional<std::int64_t> span_of(Dims const& dim, Dims const& stride) {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < dim.size(); ++i) {
        auto const reach = multiply(dim[i] - 1, stride[i]);
        auto const sum = reach ? add(last, *reach) : std::nullopt;
        if (!sum) return std::nullopt;
        last = *sum;
    }
    return add(last, 1);
}

Dims packed_strides(Dims const& dim) {
    Dims stride(dim.size());
    std::int64_t next = 1;
    for (std::size_t i = dim.size(); i-- > 0;) {
        stride[i] = next;
        next = multiply(next, dim[i]).value_or(0);  // tensors of such a size break a rule
    }
    return stride;
}

bool overlaps_itself(Dims const& dim, Dims const& stride) {
    std::vector<std::size_t> order(dim.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return stride[a] < stride[b]; });
    std::int64_t reached = 0;  // the largest index within the dims of smaller stride
    for (std::size_t const i : order) {
        if (dim[i] == 1) continue;
        if (stride[i] <= reached) return true;
        auto const reach = multiply(dim[i] - 1, stride[i]);
        auto const sum = reach ? add(reached, *reach) : std::nullopt;
        if (!sum) return true;
        reached = *sum;
    }
    return false;
}

bool is_permutation(Dims const& list, std::size_t count) {
    Dims sorted = list;
    std::sort(sorted.begin(), sorted.end());
    Dims indices(count);
    std::iota(indices.begin(), indices.end(), std::int64_t{0});
    return sorted == indices;
}

Dims permuted(Dims const& list, Dims const& permutation) {
    Dims result;
    for (std::int64_t const index : permutation) result.push_back(list[static_cast<std::size_t>(index)]);
    return result;
}

bool broadcasts_to(Dims const& from, Dims const& to) {
    for (std::size_t i = 1; i <= from.size(); ++i) {
        std::int64_t const size = from[from.size() - i];
        if (size != 1 && (i > to.size() || size != to[to.size() - i])) return false;
    }
    return true;
}

template <class List, class Show>
static std::string list_text(List const& list, Show const& show) {
    std::string text = "[";
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (i > 0) text += ", ";
        text += show(list[i]);
    }
    return text + "]";
}

std::string to_string(Dims const& dim) {
    return list_text(dim, [](std::int64_t size) { return std::to_string(size); });
}

std::string to_string(std::vector<bool> const& list) {
    return list_text(list, [](bool element) { return element ? "true" : "false"; });
}

}  // namespace cudnn_frontend::core
