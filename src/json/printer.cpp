#include "json/document.h"

#include "core/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace cudnn_frontend::json {
namespace {

constexpr std::size_t kLineWidth = 100;
constexpr std::size_t kIndent = 2;
constexpr std::size_t kExcerptBytes = 60;

// Always with a fraction or an exponent, so that it reads back as floating point and -0.0 keeps its sign.
std::string number_text(double value) {
    std::string text = core::shortest_text(value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string plain_text(Json const& value) {
    if (std::string const* const text = value.text()) return json_string(*text);
    if (double const* const number = value.floating()) return number_text(*number);
    if (bool const* const boolean = value.boolean()) return *boolean ? "true" : "false";
    if (std::int64_t const* const number = value.integer()) return std::to_string(*number);
    if (std::uint64_t const* const number = value.large_integer()) return std::to_string(*number);
    return "null";
}

class Printer {
   public:
    void print(Json const& value) {
        if (!value.is_structured()) {
            text_ += plain_text(value);
        } else if (value.is_object()) {
            print_object(value.members());
        } else {
            print_list(value.elements());
        }
    }
    std::string take() { return std::move(text_); }

   private:
    void print_object(Json::Object const& members) {
        if (members.empty()) {
            text_ += "{}";
            return;
        }
        open('{');
        for (auto const& [name, value] : members) {
            start_line();
            text_ += json_string(name) + ": ";
            print(value);
        }
        close('}');
    }

    void print_list(Json::List const& list) {
        bool const is_plain = std::ranges::none_of(list, &Json::is_structured);
        if (is_plain) return print_plain_list(list);
        open('[');
        for (Json const& element : list) {
            start_line();
            print(element);
        }
        close(']');
    }

    // Prints the list on one line, or fills lines.
    void print_plain_list(Json::List const& list) {
        std::string line = "[";
        for (Json const& element : list) line += (line.size() > 1 ? ", " : "") + plain_text(element);
        if (column() + line.size() < kLineWidth) {
            text_ += line + "]";
            return;
        }
        open('[');
        for (Json const& element : list) {
            std::string const word = plain_text(element);
            if (is_first_ || column() + word.size() + 3 > kLineWidth) {
                start_line();
            } else {
                text_ += ", ";
            }
            text_ += word;
        }
        close(']');
    }

    std::size_t column() const { return text_.size() - (text_.rfind('\n') + 1); }  // npos + 1 is 0

    void open(char bracket) {
        text_ += bracket;
        depth_ += kIndent;
        is_first_ = true;
    }

    void start_line() {
        if (!is_first_) text_ += ',';
        is_first_ = false;
        text_ += '\n';
        text_.append(depth_, ' ');
    }

    void close(char bracket) {
        depth_ -= kIndent;
        text_ += '\n';
        text_.append(depth_, ' ');
        text_ += bracket;
        is_first_ = false;
    }

    std::string text_;
    std::size_t depth_ = 0;
    bool is_first_ = false;
};

bool continues_character(char byte) { return (static_cast<std::uint8_t>(byte) & 0xc0u) == 0x80u; }

}  // namespace

std::string print(Json const& value) {
    Printer printer;
    printer.print(value);
    return printer.take() + "\n";
}

std::string json_string(std::string_view text) {
    return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string excerpt(Json const& value) {
    if (value.is_object()) return "an object";
    if (value.is_list()) return "an array";
    std::string text = plain_text(value);
    if (text.size() <= kExcerptBytes) return text;
    std::size_t cut = kExcerptBytes;
    while (cut > 0 && continues_character(text[cut])) --cut;
    return text.substr(0, cut) + "...";
}

}  // namespace cudnn_frontend::json
