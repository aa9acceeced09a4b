// sdpa completion: scripts with which shells complete the command's words.
#include "output.h"
#include "syntax.h"

#include <algorithm>
#include <memory>

namespace sdpa {
namespace {

std::string quoted(std::string const& text, std::string const& quote_inside) {
    return "'" + replaced(text, "'", quote_inside) + "'";
}

// The subcommand with the options of its own subcommands among its options, each once.
Syntax flattened(Syntax syntax) {
    for (Syntax const& part : syntax.subcommands) {
        for (Option_syntax const& option : part.options) {
            auto const is_same = [&](Option_syntax const& other) { return other.names == option.names; };
            bool const is_known = std::any_of(syntax.options.begin(), syntax.options.end(), is_same);
            if (!option.is_positional && !is_known) syntax.options.push_back(option);
        }
    }
    return syntax;
}

// The words that are no options: subcommands, and the values of positional arguments that accept only a few.
std::vector<std::string> words_of(Syntax const& syntax) {
    std::vector<std::string> words;
    for (Syntax const& part : syntax.subcommands) words.push_back(part.name);
    for (Option_syntax const& option : syntax.options) {
        if (option.is_positional) words.insert(words.end(), option.choices.begin(), option.choices.end());
    }
    return words;
}

// The words that bash offers within a subcommand: values by the option before them, options, and subcommands.
std::string bash_case(Syntax const& part, std::string const& pattern) {
    std::vector<std::string> options;
    std::string values;
    for (Option_syntax const& option : part.options) {
        if (option.is_positional) continue;
        options.insert(options.end(), option.names.begin(), option.names.end());
        if (!option.choices.empty())
            values +=
                "                " + joined(option.names, " | ") + ") words='" + joined(option.choices, " ") + "' ;;\n";
        else if (option.takes_value) values += "                " + joined(option.names, " | ") + ") ;;\n";
    }
    return "        " + pattern + ")\n            case $previous in\n" + values +
           "                *) if [[ $word == -* ]]; then words='" + joined(options, " ") + "'; else words='" +
           joined(words_of(part), " ") + "'; fi ;;\n            esac\n            ;;\n";
}

std::string for_bash(Syntax const& command) {
    std::string cases = bash_case(command, "''");
    for (Syntax const& part : command.subcommands) cases += bash_case(part, part.name);
    return "# Completion of sdpa for bash, made by: sdpa completion bash\n"
           "_sdpa() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} part='' words='' before\n"
           "    for before in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
           "        if [[ $before != -* ]]; then part=$before && break; fi\n"
           "    done\n"
           "    case $part in\n" +
           cases +
           "    esac\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
           "}\n"
           "complete -o default -F _sdpa sdpa\n";
}

// A text inside a specification of _arguments, where brackets and colons have a meaning.
std::string zsh_text(std::string const& text) {
    return replaced(replaced(replaced(replaced(text, "\\", "\\\\"), "[", "\\["), "]", "\\]"), ":", "\\:");
}

std::string zsh_options(Syntax const& part) {
    std::string text;
    for (Option_syntax const& option : part.options) {
        if (option.is_positional) continue;
        std::string const values = option.choices.empty() ? "_files" : "(" + joined(option.choices, " ") + ")";
        for (std::string const& name : option.names) {
            std::string const specification = name + "[" + zsh_text(option.description) + "]" +
                                              (option.takes_value ? ":" + zsh_text(option.value) + ":" + values : "");
            text += " \\\n                " + quoted(specification, "'\\''");
        }
    }
    return text;
}

// Subcommands with their descriptions, as the last part of a specification of _arguments.
std::string zsh_choices(std::vector<Syntax> const& parts) {
    std::string text;
    for (Syntax const& part : parts)
        text += (text.empty() ? "" : " ") + part.name + "\\:\"" + zsh_text(part.description) + "\"";
    return "((" + text + "))";
}

std::string zsh_case(Syntax const& part) {
    std::string places;
    int place = 0;
    for (Option_syntax const& option : part.options) {
        if (!option.is_positional) continue;
        std::string const where = option.is_list ? "*" : std::to_string(++place);
        places += " \\\n                '" + where + ":" + option.names.front() + ":" +
                  (option.choices.empty() ? "_files" : "(" + joined(option.choices, " ") + ")") + "'";
    }
    if (!part.subcommands.empty())
        places += " \\\n                " +
                  quoted(std::to_string(place + 1) + ":subcommand:" + zsh_choices(part.subcommands), "'\\''") +
                  " \\\n                '*:file:_files'";
    return "        " + part.name + ")\n            _arguments" + zsh_options(part) + places + "\n            ;;\n";
}

std::string for_zsh(Syntax const& command) {
    std::string cases;
    for (Syntax const& part : command.subcommands) cases += zsh_case(part);
    return "#compdef sdpa\n"
           "# Completion of sdpa for zsh, made by: sdpa completion zsh\n"
           "_sdpa() {\n"
           "    local curcontext=$curcontext state line\n"
           "    _arguments -C" +
           zsh_options(command) + " \\\n                " +
           quoted("1:subcommand:" + zsh_choices(command.subcommands), "'\\''") +
           " \\\n                '*::argument:->arguments'\n"
           "    [[ $state == arguments ]] || return\n"
           "    case $line[1] in\n" +
           cases +
           "    esac\n"
           "}\n"
           "if [[ $funcstack[1] == _sdpa ]]; then _sdpa \"$@\"; else compdef _sdpa sdpa; fi\n";
}

std::string fish_options(std::string const& condition, Syntax const& part) {
    std::string text;
    for (Option_syntax const& option : part.options) {
        std::string const values = " -a '" + joined(option.choices, " ") + "'";
        if (option.is_positional && option.choices.empty()) continue;
        text += "complete -c sdpa -n " + quoted(condition, "\\'");
        if (option.is_positional) {
            text += " -f" + values + "\n";
            continue;
        }
        for (std::string const& name : option.names)
            text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        if (!option.choices.empty()) text += " -x" + values;
        else if (option.takes_value) text += " -r";
        text += " -d " + quoted(option.description, "\\'") + "\n";
    }
    return text;
}

std::string fish_subcommand(std::string const& condition, Syntax const& part) {
    return "complete -c sdpa -n " + quoted(condition, "\\'") + " -a " + part.name + " -d " +
           quoted(part.description, "\\'") + "\n";
}

std::string for_fish(Syntax const& command) {
    std::string const at_begin = "__fish_use_subcommand";
    std::string text =
        "# Completion of sdpa for fish, made by: sdpa completion fish\ncomplete -c sdpa -n " + at_begin + " -f\n";
    text += fish_options(at_begin, command);
    for (Syntax const& part : command.subcommands) text += fish_subcommand(at_begin, part);
    for (Syntax const& part : command.subcommands) {
        std::string const inside = "__fish_seen_subcommand_from " + part.name;
        text += fish_options(inside, part);
        for (Syntax const& inner : part.subcommands) text += fish_subcommand(inside, inner);
    }
    return text;
}

}  // namespace

void add_completion(CLI::App& app, Action& action) {
    auto const shell = std::make_shared<std::string>();
    CLI::App* const command = app.add_subcommand("completion", "A script with which a shell completes this command");
    command->add_option("shell", *shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    command->footer(footer("  eval \"$(sdpa completion bash)\"\n  sdpa completion fish | source", "0: it was printed"));
    command->callback([&app, shell, &action] {
        action = [&app, shell] {
            Syntax syntax = syntax_of(app);
            for (Syntax& part : syntax.subcommands) part = flattened(part);
            print(*shell == "bash" ? for_bash(syntax) : *shell == "zsh" ? for_zsh(syntax) : for_fish(syntax));
            return kYes;
        };
    });
}

}  // namespace sdpa
