// sdpa man: the man page, made of the same texts as --help.
#include "output.h"
#include "syntax.h"

#include <cctype>
#include <sstream>

namespace sdpa {
namespace {

// Text in which no character has a meaning for roff.
std::string escaped(std::string const& text) { return replaced(replaced(text, "\\", "\\e"), "-", "\\-"); }

std::string bold(std::string const& text) { return "\\fB" + escaped(text) + "\\fP"; }

// A paragraph of its own; a line that begins with a period or an apostrophe would be a request.
std::string paragraph(std::string const& text) { return "\\&" + escaped(text) + "\n"; }

std::string page_of(Option_syntax const& option) {
    std::vector<std::string> names;
    for (std::string const& name : option.names) names.push_back(bold(name));
    std::string text = ".TP\n" + joined(names, ", ");
    if (option.takes_value && !option.is_positional) text += " \\fI" + escaped(option.value) + "\\fP";
    if (option.is_list) text += " ...";
    text += "\n" + paragraph(option.description);
    if (!option.fallback.empty()) text += ".br\n" + paragraph("Default: " + option.fallback);
    return text;
}

// The lines of a footer: examples are indented and keep their form.
std::string page_of_footer(std::string const& footer) {
    std::istringstream lines(footer);
    std::string text;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("  ")) text += ".RS 4\n.nf\n" + paragraph(line.substr(2)) + ".fi\n.RE\n";
        else text += ".PP\n" + paragraph(line);
    }
    return text;
}

std::string usage_of(std::string const& name, Syntax const& syntax) {
    std::string text = bold(name) + " [\\fIoptions\\fP]";
    for (Option_syntax const& option : syntax.options) {
        if (option.is_positional)
            text += " \\fI" + escaped(option.names.front()) + "\\fP" + (option.is_list ? " ..." : "");
    }
    return text + (syntax.subcommands.empty() ? "" : " \\fIsubcommand\\fP") + "\n";
}

std::string page_of(std::string const& name, Syntax const& syntax) {
    std::string text = ".SS " + bold(name) + "\n" + paragraph(syntax.description) + ".PP\n" + usage_of(name, syntax);
    for (Option_syntax const& option : syntax.options) text += page_of(option);
    text += page_of_footer(syntax.footer);
    for (Syntax const& part : syntax.subcommands) text += page_of(name + " " + part.name, part);
    return text;
}

std::string page_of(Syntax const& command) {
    std::string summary = command.description.substr(0, command.description.find(':'));
    summary.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(summary.front())));
    std::string text = ".TH SDPA 1 \"\" \"" + version_text() + "\" \"User Commands\"\n.SH NAME\n" +
                       escaped(command.name) + " \\- " + escaped(summary) + "\n.SH SYNOPSIS\n" +
                       usage_of(command.name, command) + ".SH DESCRIPTION\n" + paragraph(command.description) +
                       ".SH OPTIONS\n";
    for (Option_syntax const& option : command.options) text += page_of(option);
    text += ".SH SUBCOMMANDS\n";
    for (Syntax const& part : command.subcommands) text += page_of(command.name + " " + part.name, part);
    return text + ".SH EXIT STATUS\n" + page_of_footer(command.footer);
}

}  // namespace

void add_man(CLI::App& app, Action& action) {
    CLI::App* const command = app.add_subcommand("man", "This command's man page");
    command->footer(footer("  sdpa man | man -l -", "0: it was printed"));
    command->callback([&app, &action] {
        action = [&app] {
            print(page_of(syntax_of(app)));
            return kYes;
        };
    });
}

}  // namespace sdpa
