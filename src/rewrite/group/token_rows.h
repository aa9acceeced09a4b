// Tokens of a sequence that a buffer holds one after the other.
#pragma once

#include "rewrite/group/whole_band.h"

#include <vector>

namespace cudnn_frontend::rewrite {

// The spans in order; those that overlap or touch are one.
std::vector<Span> merged(std::vector<Span> spans);
// The tokens that are in both lists, whose spans are in order and do not overlap.
std::vector<Span> common(std::vector<Span> const& a, std::vector<Span> const& b);
// The tokens that are not removed.
std::vector<Span> without(std::vector<Span> const& spans, std::vector<Span> const& removed);

class TokenRows {
   public:
    TokenRows() = default;
    explicit TokenRows(std::vector<Span> merged_spans) : spans_(std::move(merged_spans)) {}

    std::int64_t count() const;
    // The token is in one of the spans. Tokens that follow it there are in the rows that follow.
    std::int64_t row_of(std::int64_t token) const;

   private:
    std::vector<Span> spans_;
};

}  // namespace cudnn_frontend::rewrite
