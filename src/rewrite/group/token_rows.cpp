#include "rewrite/group/token_rows.h"

#include <algorithm>

namespace cudnn_frontend::rewrite {

std::vector<Span> merged(std::vector<Span> spans) {
    std::ranges::sort(spans, {}, &Span::first);
    std::vector<Span> all;
    for (Span const& span : spans) {
        bool const touches = !all.empty() && span.first <= all.back().end;
        if (touches) all.back().end = std::max(all.back().end, span.end);
        else all.push_back(span);
    }
    return all;
}

std::vector<Span> common(std::vector<Span> const& a, std::vector<Span> const& b) {
    std::vector<Span> all;
    for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
        Span const both = common(*i, *j);
        if (both.count() > 0) all.push_back(both);
        if (i->end < j->end) ++i;
        else ++j;
    }
    return all;
}

std::vector<Span> without(std::vector<Span> const& spans, std::vector<Span> const& removed) {
    std::vector<Span> all;
    for (Span rest : spans) {
        for (Span const& hole : common({rest}, removed)) {
            if (hole.first > rest.first) all.push_back({rest.first, hole.first});
            rest.first = hole.end;
        }
        if (rest.count() > 0) all.push_back(rest);
    }
    return all;
}

std::int64_t TokenRows::count() const {
    std::int64_t sum = 0;
    for (Span const& span : spans_) sum += span.count();
    return sum;
}

std::int64_t TokenRows::row_of(std::int64_t token) const {
    std::int64_t row = 0;
    for (Span const& span : spans_) {
        if (token < span.end) return row + token - span.first;
        row += span.count();
    }
    return row;
}

}  // namespace cudnn_frontend::rewrite
