#include "json/document.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::json {
namespace {

constexpr std::size_t kLongestComplaint = 200;

std::string line_and_column(std::string_view text, std::size_t offset) {
    std::string_view const before = text.substr(0, offset);
    auto const line = 1 + std::count(before.begin(), before.end(), '\n');
    std::size_t const line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return "line " + std::to_string(line) + ", column " + std::to_string(offset - line_start + 1);
}

// The library's message without its prefix and without the input that it quotes, which may be of any length.
std::string complaint(std::string_view what) {
    if (auto const dash = what.find(" - "); dash != std::string_view::npos) {
        what.remove_prefix(dash + 3);
    } else if (auto const bracket = what.find("] "); bracket != std::string_view::npos) {
        what.remove_prefix(bracket + 2);
    }
    auto const echo = what.find("; last read");
    auto const rest = what.rfind("; expected");
    std::string text(what.substr(0, std::min(echo, rest)));
    if (rest != std::string_view::npos) text += what.substr(rest);
    return text.size() <= kLongestComplaint ? text : text.substr(0, kLongestComplaint) + "...";
}

// Builds the value from the library's events. The library's own handler has no limits and does not detect duplicate
// members.
class DocumentBuilder final : public nlohmann::json_sax<nlohmann::json> {
   public:
    DocumentBuilder(std::string_view text, Problems& problems) : text_(text), problems_(problems) {}

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, string_t const&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::list()); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        name_ = std::move(name);
        return true;
    }

    bool end_object() override {
        refuse_twins();
        return close();
    }

    bool parse_error(std::size_t position, std::string const&, nlohmann::detail::exception const& error) override {
        std::size_t const offset = std::min(position == 0 ? 0 : position - 1, text_.size());
        std::string const place = pointer();
        problems_.add(line_and_column(text_, offset) + (place.empty() ? place : " (in " + place + ")"),
                      complaint(error.what()), "JSON text");
        return false;
    }

    Json take() { return std::move(root_); }

   private:
    Json* insert(Json value) {
        if (open_.empty()) return &(root_ = std::move(value));
        Json& parent = *open_.back();
        if (parent.is_object()) return &parent.append(std::move(name_), std::move(value));
        return &parent.append(std::move(value));
    }

    bool add(Json value) {
        if (!fits()) return false;
        insert(std::move(value));
        return true;
    }

    bool open(Json container) {
        if (!fits()) return false;
        if (open_.size() == kMaxDepth) return refuse("nesting deeper", kMaxDepth, "levels");
        open_.push_back(insert(std::move(container)));
        return true;
    }

    bool close() {
        open_.pop_back();
        return true;
    }

    bool fits() {
        if (++values_ > kMaxValues) return refuse("more", kMaxValues, "values in the document");
        if (open_.empty() || size_of(*open_.back()) < kMaxMembers) return true;
        return refuse("more", kMaxMembers, "members in one object or array");
    }

    static std::size_t size_of(Json const& container) {
        return container.is_object() ? container.members().size() : container.elements().size();
    }

    bool refuse(char const* what, std::size_t limit, char const* unit) {
        std::string const most = std::to_string(limit) + " " + unit;
        problems_.add(pointer(), std::string(what) + " than " + most, "at most " + most);
        return false;
    }

    void refuse_twins() {
        std::vector<std::string_view> names;
        for (Member const& member : open_.back()->members()) names.push_back(member.name);
        std::sort(names.begin(), names.end());
        auto twin = std::adjacent_find(names.begin(), names.end());
        while (twin != names.end() && !problems_.is_full()) {
            problems_.add(pointer() + "/" + pointer_token(*twin), "the member twice", "each name once in an object");
            twin = std::adjacent_find(std::find_if(twin, names.end(), [&](auto name) { return name != *twin; }),
                                      names.end());
        }
    }

    // The JSON pointer of the innermost open container.
    std::string pointer() const {
        std::string text;
        for (std::size_t level = 0; level + 1 < open_.size(); ++level) {
            Json const& parent = *open_[level];
            text += "/" + (parent.is_object() ? pointer_token(parent.members().back().name)
                                              : std::to_string(parent.elements().size() - 1));
        }
        return text;
    }

    std::string_view text_;
    Problems& problems_;
    Json root_;
    std::vector<Json*> open_;  // from the root inwards
    std::string name_;         // the member whose value comes next
    std::size_t values_ = 0;
};

}  // namespace

Json parse(std::string_view text, Problems& problems) {
    if (text.size() > kMaxBytes) {
        problems.add("", std::to_string(text.size()) + " bytes", "at most " + std::to_string(kMaxBytes));
        return {};
    }
    // The library would treat a zero byte as the end and ignore the rest.
    if (auto const zero = text.find('\0'); zero != std::string_view::npos) {
        problems.add(line_and_column(text, zero), "a zero byte", "JSON text");
        return {};
    }
    // The library's own message for this depends on its version.
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        problems.add(line_and_column(text, text.size()), "no text", "JSON text");
        return {};
    }
    DocumentBuilder builder(text, problems);
    nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &builder);
    return builder.take();
}

}  // namespace cudnn_frontend::json
