#include "core/text.h"

#include "core/process/standard_arithmetic.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace cudnn_frontend::core {
namespace {

template <class Number>
std::string text_of(Number value) {
    process::StandardArithmetic const standard;
    std::array<char, 32> text{};
    auto const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return {text.data(), end};
}

}  // namespace

std::string shortest_text(float value) { return text_of(value); }
std::string shortest_text(double value) { return text_of(value); }

std::string table(std::vector<std::vector<std::string>> const& rows, std::string_view indent) {
    std::vector<std::size_t> widths;
    for (std::vector<std::string> const& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string all;
    for (std::vector<std::string> const& row : rows) {
        std::string line(indent);
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += row[i];
            if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        all += line + "\n";
    }
    return all;
}

// XML has no characters for these control codes.
static bool is_forbidden_in_xml(char letter) {
    return (letter >= 0 && letter < 0x20 && letter != '\t' && letter != '\n' && letter != '\r') || letter == 0x7f;
}

std::string escaped_for_xml(std::string_view plain) {
    constexpr char const* kReplacement = "\xef\xbf\xbd";  // U+FFFD
    std::string all;
    for (char const letter : plain) {
        switch (letter) {
            case '&': all += "&amp;"; break;
            case '<': all += "&lt;"; break;
            case '>': all += "&gt;"; break;
            case '"': all += "&quot;"; break;
            default:
                if (is_forbidden_in_xml(letter)) all += kReplacement;
                else all += letter;
        }
    }
    return all;
}

std::string version_text(std::size_t version) {
    return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
}

}  // namespace cudnn_frontend::core
