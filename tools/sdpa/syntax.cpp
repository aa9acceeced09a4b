#include "syntax.h"

#include "input.h"

#include <cudnn_frontend/graph.h>

#include <algorithm>
#include <sstream>

namespace sdpa {
namespace {

bool has_name(Option_syntax const& option, std::string const& name) {
    return std::find(option.names.begin(), option.names.end(), name) != option.names.end();
}

// The names that an option which chooses a target or a GPU accepts, apart from files.
std::vector<std::string> targets_of(Option_syntax const& option) {
    std::vector<std::string> names = fe::DeviceProperties::names();
    if (!has_name(option, "--target")) return has_name(option, "--for") ? names : std::vector<std::string>{};
    names.insert(names.begin(), {"cpu", "reference", "cuda"});
    std::erase_if(names, [&](std::string const& name) { return option.description.find(name) == std::string::npos; });
    return names;
}

// The type of a value that has to be one of a few ends with them: "TEXT:{graph,operations,plan}".
std::vector<std::string> choices_in(std::string const& type) {
    std::size_t const begin = type.find('{'), end = type.find('}');
    if (begin == std::string::npos || end == std::string::npos) return {};
    std::vector<std::string> choices;
    std::istringstream words(type.substr(begin + 1, end - begin - 1));
    for (std::string word; std::getline(words, word, ',');) choices.push_back(word);
    return choices;
}

Option_syntax syntax_of(CLI::Option const& option) {
    Option_syntax syntax;
    syntax.is_positional = option.get_positional() && !option.nonpositional();
    if (syntax.is_positional) syntax.names.push_back(option.get_name(true));
    for (std::string const& name : option.get_snames()) syntax.names.push_back("-" + name);
    for (std::string const& name : option.get_lnames()) syntax.names.push_back("--" + name);
    syntax.description = option.get_description();
    syntax.takes_value = option.get_items_expected_max() > 0;
    std::string const type = option.get_type_name();
    if (syntax.takes_value) syntax.value = type.substr(0, type.find(':'));
    syntax.choices = choices_in(type);
    if (syntax.choices.empty()) syntax.choices = targets_of(syntax);
    syntax.fallback = option.get_default_str();
    syntax.is_list = option.get_items_expected_max() > 1;
    return syntax;
}

}  // namespace

Syntax syntax_of(CLI::App const& app) {
    Syntax syntax{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
    for (CLI::Option const* option : app.get_options()) syntax.options.push_back(syntax_of(*option));
    for (CLI::App const* part : app.get_subcommands({})) syntax.subcommands.push_back(syntax_of(*part));
    return syntax;
}

std::string replaced(std::string text, std::string const& what, std::string const& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
    return text;
}

std::string joined(std::vector<std::string> const& words, std::string const& separator) {
    std::string text;
    for (std::string const& word : words) text += (text.empty() ? "" : separator) + word;
    return text;
}

}  // namespace sdpa
