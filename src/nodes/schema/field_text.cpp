#include "nodes/schema/field.h"

#include "core/data_type.h"
#include "core/floats.h"
#include "core/text.h"

namespace cudnn_frontend::nodes {
namespace {

// A value that a float holds prints as that float.
std::string number(double value) {
    float const narrow = core::narrowed(value);
    bool const is_float = core::Exact(core::widened(narrow)) == core::Exact(value);
    return is_float ? core::shortest_text(narrow) : core::shortest_text(value);
}

struct ToText {
    Field const& field;

    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const {
        if (field.enumerators == nullptr) return std::to_string(value);
        auto const names = field.enumerators();
        auto const index = static_cast<std::size_t>(value);
        return index < names.size() ? names[index] : "?";
    }
    std::string operator()(double value) const { return number(value); }
    std::string operator()(std::string const& value) const { return value; }
    std::string operator()(core::Dims const& value) const { return core::to_string(value); }
    std::string operator()(std::vector<bool> const& value) const { return core::to_string(value); }
    std::string operator()(detail::Scalar const& value) const { return number(core::to_double(value)); }
};

}  // namespace

std::string value_text(Field const& field, FieldValue const& value) { return std::visit(ToText{field}, value); }

std::string settings_text(std::span<Field const> fields, void const* object, void const* defaults) {
    std::string text;
    for (Field const& field : fields) {
        FieldValue const value = field.get(object);
        if (field.is_label || value == field.get(defaults)) continue;
        text += std::string(" ") + field.name + "=" + value_text(field, value);
    }
    return text;
}

}  // namespace cudnn_frontend::nodes
