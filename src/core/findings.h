// The one way to report: rules with ids, and the findings against them, which become one error.
#pragma once

#include <cudnn_frontend/report.h>

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudnn_frontend::core {

// A condition that documents, messages and tests name by its id.
struct Rule {
    char const* id;       // such as sdpa_fwd.c07
    char const* summary;  // the condition in a sentence
    error_code_t code;    // of the error if it does not hold

    // A violation, at a node or at a function, and at a tensor; both names may be empty.
    Finding violation(std::string node, std::string tensor, std::string found, std::string needed,
                      std::string fix) const;
};

// A row of a table of rules: the check reports violations to the scope, which holds the data to check. The check of a
// condition, such as one of a rewrite, only answers whether it holds, and the summary is what is expected.
template <class Scope, class Answer = void>
struct RuleFor {
    char const* id;
    char const* summary;
    error_code_t code;
    Answer (*check)(Scope const& scope);

    constexpr operator Rule() const { return {id, summary, code}; }
};

// A finding without a rule, at a place such as a value of an op graph or a member of a document.
Finding finding_at(std::string place, error_code_t code, std::string found, std::string needed, std::string fix = {});

// A single finding as an error, where a check ends at the first.
error_t error_at(std::string place, error_code_t code, std::string found, std::string needed, std::string fix = {});

// The placeholder for the port in the texts of a finding. A finding that several ports share names all of them there.
inline constexpr std::string_view kPort = "\x01";

// Collects all findings of one check. Tensors of one subject, such as a node, that have the same fault become one
// finding.
class Findings {
   public:
    Findings() = default;
    // Collects at most this many findings: loops over documents end there.
    explicit Findings(std::size_t most) : most_(most) {}

    // The texts may hold kPort, so that those for several ports can be compared.
    void add(Finding finding, void const* subject = nullptr, std::string const& port = {});

    bool empty() const { return found_ == nullptr; }
    bool is_full() const { return found_ != nullptr && found_->groups.size() >= most_; }
    // Whether something was found at the subject.
    bool has(void const* subject) const;
    // The findings in the order in which they were first found.
    std::vector<Finding> take() const;
    // All of them as one error; success if there is none.
    error_t to_error(std::string_view heading = {}) const { return empty() ? error_t() : error_of_found(heading); }

   private:
    struct Group {
        Finding finding;
        std::vector<std::string> ports;
        std::set<std::string> tensors;
    };
    struct Found {
        std::vector<Group> groups;
        std::map<std::pair<void const*, std::string>, std::size_t> group_of;  // by subject, and by place, rule, texts
    };

    error_t error_of_found(std::string_view heading) const;

    std::unique_ptr<Found> found_;  // null until something is found: each run of a graph is checked
    std::size_t most_ = static_cast<std::size_t>(-1);
};

// The part of a scope that reports violations of the rule whose check runs. Scopes derive from it, and add the data to
// check.
class Reporter {
   public:
    // The node may be a function's name. Scopes that name the node of each report leave it out.
    Reporter(Rule const& rule, Findings& findings, std::string_view node = {})
        : rule_(rule), findings_(findings), node_(node) {}

    // The tensor may be empty.
    void report(std::string tensor, std::string found, std::string needed, std::string fix) const {
        report_at(std::string(node_), std::move(tensor), std::move(found), std::move(needed), std::move(fix));
    }

   protected:
    // The subject and the port are those of Findings::add().
    void report_at(std::string node, std::string tensor, std::string found, std::string needed, std::string fix,
                   void const* subject = nullptr, std::string const& port = {}) const;

   private:
    Rule rule_;
    Findings& findings_;
    std::string_view node_;
};

// Code and place of the first finding with the texts of all, up to a hundred, each on a line below the heading. Without
// a heading several findings are counted. The text about the rest follows their number.
error_t error_of(std::vector<Finding> const& findings, std::string_view heading = {}, std::string_view rest = {});

// [sdpa_fwd.c07] node 'attention', tensors 'K', 'V': of many tensors the first and how many more there are. Without a
// rule the node stands for the place, such as one in a document.
std::string place_text(error_location const& where, std::vector<std::string> const& other_tensors);

// The place, and "found ...; expected .... Try: ....", without the parts that are empty.
std::string text_of(Finding const& finding);

// "Q, K and V": the parts, with the word before the last one. For many parts, the first 16 and the number of the
// others.
std::string listed(std::vector<std::string> const& parts, std::string_view last_word);

}  // namespace cudnn_frontend::core
