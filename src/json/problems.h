// The findings about a document in JSON, and their places in it.
#pragma once

#include "core/findings.h"
#include "core/result.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cudnn_frontend::json {

// A place in the document, linked to the place that contains it. Lives on the stack of the reading functions; it
// becomes text only for a report.
class Place {
   public:
    Place() = default;
    Place operator/(std::string_view member) const { return Place(this, member, 0); }
    Place operator/(std::size_t index) const { return Place(this, {}, index); }

    std::string pointer() const;  // RFC 6901, with long and unprintable names shortened

   private:
    Place(Place const* parent, std::string_view member, std::size_t index)
        : parent_(parent), is_member_(member.data() != nullptr), member_(member), index_(index) {}

    Place const* parent_ = nullptr;
    bool is_member_ = false;
    std::string_view member_;
    std::size_t index_ = 0;
};

// Findings at JSON pointers instead of rules. The text comes from outside: so the number of findings has a bound, at
// which loops over the document end, and for an unknown name the fix suggests a known one.
class Problems : public core::Findings {
   public:
    Problems() : Findings(50) {}

    void add(std::string const& where, std::string const& found, std::string const& needed,
             std::string const& fix = std::string());
    // An unknown name; the fix suggests the nearest known one.
    void add_unknown(std::string const& where, std::string const& found, std::string_view name,
                     std::span<char const* const> known);

    // The error of a text that is not the document.
    error_t to_error(std::string_view document = "a graph") const;
};

// One reference token of a JSON pointer.
std::string pointer_token(std::string_view member);

// The known name at the smallest edit distance, ignoring case; empty if all differ too much.
std::optional<std::string_view> nearest_name(std::string_view name, std::span<char const* const> known);

}  // namespace cudnn_frontend::json
