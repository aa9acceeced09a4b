// Standard output: written at once at the end, with color only on a terminal.
#pragma once

#include "command.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

// Writes all of it. A reader that closed the pipe is no error; a full disk is.
void print(std::string_view text);
// A text with names, whose control codes become ?: a terminal would obey them. Those of colored() stay.
std::string without_codes(std::string text);
void print_text(std::string const& text);  // the same, printed
void print_json(Json const& json);
// Throws Failure where it cannot be written, and leaves no part of it.
void write_file(std::string const& path, std::initializer_list<std::string_view> parts);

enum class Color { Green, Red, Yellow, Bold };
// The text in that color, or as it is where standard output is no terminal or NO_COLOR is set.
std::string colored(Color color, std::string const& text);

// Rows with columns that are as wide as their widest cell, except the last.
std::string table(std::vector<std::vector<std::string>> const& rows, std::string const& indent = "");
// The lines of the text, each with spaces before it.
std::string indented(std::string const& text, std::string const& indent);

std::string escaped(std::string const& text);                     // for SVG and HTML
std::string number_text(double number);                           // four digits
std::string joined(std::vector<std::string> const& names);        // such as Q, K, V
std::string bytes_text(std::uint64_t bytes);                      // such as 1.5 GiB
std::string list_text(std::vector<std::int64_t> const& numbers);  // such as [2, 8, 512, 128]

}  // namespace sdpa
