#include "json/document.h"

#include "core/immortal.h"

#include <algorithm>

namespace cudnn_frontend::json {

Json::Json() = default;
Json::Json(std::nullptr_t) {}
Json::Json(double value) : value_(value) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(char const* value) : value_(std::string(value)) {}

Json::Content Json::integer(std::int64_t value) { return value; }

Json::Content Json::integer(std::uint64_t value) {
    if (std::in_range<std::int64_t>(value)) return static_cast<std::int64_t>(value);
    return value;
}

Json Json::list() { return list(List()); }

Json Json::list(List elements) {
    Json json;
    json.value_ = std::move(elements);
    return json;
}

Json Json::object(std::initializer_list<Member> members) {
    Json json;
    json.value_ = Object(members);
    return json;
}

Json::List const& Json::elements() const {
    static core::Immortal<List> const none;
    auto const* const list = std::get_if<List>(&value_);
    return list == nullptr ? *none : *list;
}

Json::Object const& Json::members() const {
    static core::Immortal<Object> const none;
    auto const* const object = std::get_if<Object>(&value_);
    return object == nullptr ? *none : *object;
}

Json const* Json::find(std::string_view name) const {
    auto const found = std::ranges::find(members(), name, &Member::name);
    return found == members().end() ? nullptr : &found->value;
}

Json& Json::append(Json element) { return std::get<List>(value_).emplace_back(std::move(element)); }

Json& Json::append(std::string name, Json value) {
    return std::get<Object>(value_).emplace_back(Member{std::move(name), std::move(value)}).value;
}

bool Json::operator==(Json const& other) const { return value_ == other.value_; }

}  // namespace cudnn_frontend::json
