#include "reference/cases/paged_tensor.h"

#include "support/random.h"

#include <algorithm>
#include <numeric>

namespace sdpa_test {
namespace {

constexpr std::int64_t kUnusedPages = 3;
constexpr double kUnused = 60.0;             // in unused pages, for targets that NaN there would disturb
constexpr double kPastLength = 0.25;         // no result may depend on it
constexpr double kNoSuchPage = 1'000'000.0;  // no target may read it

std::int64_t divided_up(std::int64_t number, std::int64_t by) { return (number + by - 1) / by; }

using Pages = std::vector<std::vector<std::int64_t>>;  // for each batch entry

// Draws as many of the pages for each entry as its keys need.
Pages draw_pages(std::vector<std::int64_t> const& lengths, std::int64_t page_rows, std::int64_t total, Random& random) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(total));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i-- > 1;) {
        std::swap(order[i], order[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i)))]);
    }
    Pages pages;
    auto next = order.begin();
    for (std::int64_t const length : lengths) {
        auto const end = next + divided_up(length, page_rows);
        pages.emplace_back(next, end);
        next = end;
    }
    return pages;
}

HostTensor packed_table(AttentionCase const& c, Pages const& pages, std::int64_t most) {
    HostTensor table{DataType_t::INT32, {c.b, 1, most, 1}, {most, 1, 1, 1}};
    table.offsets = std::make_shared<HostTensor>(make_tensor(c.offset_type, {c.b + 1, 1, 1, 1}));
    std::int64_t start = 0;
    for (std::size_t b = 0; b <= pages.size(); ++b) {
        table.offsets->set({static_cast<std::int64_t>(b), 0, 0, 0}, static_cast<double>(start));
        if (b == pages.size()) break;
        table.starts.push_back(start);
        table.rows.push_back(static_cast<std::int64_t>(pages[b].size()));
        start += table.rows.back();
    }
    table.memory = std::make_shared<HostMemory>(std::max<std::int64_t>(start, 1) * element_size(table.type));
    return table;
}

HostTensor empty_table(AttentionCase const& c, Pages const& pages, std::int64_t most) {
    if (c.paging.packed_tables) return packed_table(c, pages, most);
    std::int64_t const width = most + (c.paging.wide_tables ? 5 : 0);
    return make_tensor(DataType_t::INT32, {c.b, 1, most, 1}, {width, width, 1, 1});
}

HostTensor make_table(AttentionCase const& c, Pages const& pages, std::int64_t most) {
    HostTensor const table = empty_table(c, pages, most);
    auto const used = std::find_if(pages.begin(), pages.end(), [](auto const& of_entry) { return !of_entry.empty(); });
    double const any = used == pages.end() ? 0.0 : static_cast<double>(used->front());
    return table.fill([&](Index4 const& at) {
        auto const& of_entry = pages[static_cast<std::size_t>(at[0])];
        auto const row = static_cast<std::size_t>(at[2]);
        if (row < of_entry.size()) return static_cast<double>(of_entry[row]);
        return c.paging.wild_entries ? kNoSuchPage : any;
    });
}

Index4 strides_of(Layout layout, Index4 const& dim) {
    auto const [pages, h, rows, d] = dim;
    if (layout == Layout::Bhsd || layout == Layout::Shared) return packed_strides(dim);
    if (layout == Layout::Gaps) return {(h * (rows + 1) + 1) * (d + 3), (rows + 1) * (d + 3), d + 3, 1};
    return {rows * h * d, d, h * d, 1};
}

}  // namespace

HostTensor make_paged(AttentionCase const& c, Index4 const& dim, std::int64_t page_rows) {
    Random random(c.seed + 0xba9e + static_cast<std::uint64_t>(page_rows));
    std::int64_t total = kUnusedPages;
    for (std::int64_t const length : *c.len_kv) total += divided_up(length, page_rows);
    Index4 const container_dim{total, dim[1], page_rows, dim[3]};
    HostTensor tensor{c.type, dim};
    tensor.page_rows = page_rows;
    tensor.pages = draw_pages(*c.len_kv, page_rows, total, random);
    tensor.container =
        std::make_shared<HostTensor>(make_tensor(c.type, container_dim, strides_of(c.input_layout, container_dim)));
    tensor.memory = tensor.container->memory;
    if (!c.paging.wild_entries) tensor.container->fill([](Index4 const&) { return kUnused; });
    for (auto const& of_entry : tensor.pages) {
        for (std::int64_t const page : of_entry) {
            for_each_index({1, dim[1], page_rows, dim[3]}, [&](Index4 at) {
                at[0] = page;
                tensor.container->set(at, kPastLength);
            });
        }
    }
    tensor.table = std::make_shared<HostTensor>(make_table(c, tensor.pages, divided_up(dim[2], page_rows)));
    return tensor;
}

}  // namespace sdpa_test
