#include "output.h"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace sdpa {
namespace {

bool has_color() {
    static bool const is_on = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
    return is_on;
}

}  // namespace

void print(std::string_view text) {
    bool const is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!is_written && errno != EPIPE) throw Failure(std::string("standard output: ") + std::strerror(errno));
}

std::string without_codes(std::string text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto const byte = static_cast<unsigned char>(text[i]), after = static_cast<unsigned char>(text.c_str()[i + 1]);
        bool const is_long = byte == 0xc2 && after >= 0x80 && after < 0xa0;  // U+0080 to U+009F in UTF-8
        bool const is_code = is_long || (std::iscntrl(byte) != 0 && text[i] != '\n' && text[i] != '\t');
        bool const is_color = text[i] == '\033' && has_color() && text.substr(i + 1, 1) == "[" &&
                              text.find_first_not_of("0123456789", i + 2) == text.find('m', i + 2);
        if (is_code && !is_color) text[i] = '?';
        if (is_long) text[i + 1] = '?';
    }
    return text;
}

void print_text(std::string const& text) { print(without_codes(text)); }

void write_file(std::string const& path, std::initializer_list<std::string_view> parts) {
    errno = 0;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    for (std::string_view const part : parts) file.write(part.data(), static_cast<std::streamsize>(part.size()));
    if (file.flush()) return;
    std::string const reason = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
    std::error_code status;
    if (file.is_open() && std::filesystem::is_regular_file(path, status)) std::filesystem::remove(path, status);
    throw Failure(path + ": it cannot be written" + reason);
}

// Bytes of names that are no UTF-8 become U+FFFD.
void print_json(Json const& json) { print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"); }

std::string colored(Color color, std::string const& text) {
    if (!has_color()) return text;
    char const* const codes[] = {"32", "31", "33", "1"};
    return std::string("\033[") + codes[static_cast<int>(color)] + "m" + text + "\033[0m";
}

std::string table(std::vector<std::vector<std::string>> const& rows, std::string const& indent) {
    std::vector<std::size_t> widths;
    for (auto const& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (auto const& row : rows) {
        std::string line = indent;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += row[i];
            if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string indented(std::string const& text, std::string const& indent) {
    std::istringstream lines(text);
    std::string result;
    for (std::string line; std::getline(lines, line);) result += line.empty() ? "\n" : indent + line + "\n";
    return result;
}

std::string escaped(std::string const& text) {
    std::string result;
    for (char const c : text) {
        if (c == '<') result += "&lt;";
        else if (c == '&') result += "&amp;";
        else result += c;
    }
    return result;
}

std::string number_text(double number) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g", number);
    return text.data();
}

std::string joined(std::vector<std::string> const& names) {
    std::string text;
    for (std::string const& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

std::string bytes_text(std::uint64_t bytes) {
    if (bytes < 1024) return std::to_string(bytes) + " bytes";
    constexpr std::array units = {"KiB", "MiB", "GiB", "TiB"};
    double number = static_cast<double>(bytes) / 1024.0;
    std::size_t unit = 0;
    for (; number >= 1024.0 && unit + 1 < units.size(); ++unit) number /= 1024.0;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f %s", number, units[unit]);
    return text.data();
}

std::string list_text(std::vector<std::int64_t> const& numbers) {
    std::string text;
    for (std::int64_t const number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
    return "[" + text + "]";
}

}  // namespace sdpa
