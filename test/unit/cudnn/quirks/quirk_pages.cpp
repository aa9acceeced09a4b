// The page about cuDNN's quirks, from their table:
//   quirk_pages                  prints docs/cudnn-quirks.md
//   quirk_pages --check <file>   compares with the file
#include "cudnn/quirks/quirk.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

namespace quirks = cudnn_frontend::quirks;
using quirks::Evidence;
using quirks::Quirk;
using quirks::Verdict;

constexpr char const* kHead = R"(# cuDNN's quirks

What cuDNN does not support or computes wrong, and what this library does about it: the table in `src/backends/cudnn/quirks`,
printed by `build/dev/test/unit/cudnn/quirks/quirk_pages`; a test compares this page with it. [cudnn.md](cudnn.md) says how the
table is used, [cudnn-notes.md](cudnn-notes.md) how it came about. `./run quirks` asks a cuDNN library which of them still
hold.

Several rows with one id are the same quirk in different places. The column *cuDNN* has the releases with the quirk, without the
last one, and *on* the compute capabilities. The evidence is one of these, with the last release that showed it:

| evidence | meaning |
|---|---|
| no engine | no engine supports the graph, or none compiles |
| wrong numbers | engines accept the graph, and results are wrong, left unwritten or not the same in each run |
| crash | a run faults; or, if it was seen offline, planning ends the process |
| asked offline | the backend's operations have no attribute for the option, so that engines would ignore it |
| stated by NVIDIA | documents or release notes say so; nothing was tried |
| slower | right, but needs more time or memory |
| untried | engines accept the graph, and no run showed it wrong; the form that the pass makes ran and was right |
)";

std::string evidence_of(Quirk const& quirk) {
    std::string text = quirks::to_text(quirk.evidence);
    if (quirk.verified.cudnn_version != 0) {
        text += ", " + quirks::version_text(quirk.verified.cudnn_version);
        bool const is_said = quirk.evidence == Evidence::AskedOffline;
        if (quirk.verified.where != quirks::kOffline) text += " on " + std::string(quirk.verified.where);
        else if (!is_said) text += " offline";
    }
    if (std::string(quirk.seen).empty()) return text;
    return text + ": " + quirk.seen;
}

std::string row_of(std::vector<std::string> const& cells) {
    std::string text = "|";
    for (std::string const& cell : cells) text += " " + cell + " |";
    return text + "\n";
}

std::string table_of(Verdict verdict, std::vector<std::string> heads) {
    std::string text = "\n" + row_of(heads) + "|";
    for (std::size_t i = 0; i < heads.size(); ++i) text += "---|";
    text += "\n";
    for (Quirk const& quirk : quirks::quirks()) {
        if (quirk.verdict != verdict) continue;
        std::vector<std::string> cells{"`" + std::string(quirk.id) + "`"};
        if (verdict == Verdict::Rewrite) cells.emplace_back(quirk.pass);
        cells.insert(cells.end(), {to_text(quirk.cudnn), quirk.on.to_text(), quirk.summary, quirk.fix});
        cells.push_back(evidence_of(quirk));
        text += row_of(cells);
    }
    return text;
}

std::string page() {
    std::string text = kHead;
    text += "\n## Limits\n\nGraphs that violate one are refused before they reach cuDNN.\n";
    text += table_of(Verdict::Refuse, {"id", "cuDNN", "on", "what is expected", "what to try", "how it is known"});
    text +=
        "\n## Barred engines\n\nEngines that would compute a graph wrong are not used for it, whether the library or "
        "the user chooses them.\n";
    text +=
        table_of(Verdict::BarEngine, {"id", "cuDNN", "on", "what they do", "what the library does", "how it is known"});
    text += "\n## Rewrites\n\nA named pass gives cuDNN another form of the same mathematics.\n";
    text += table_of(Verdict::Rewrite,
                     {"id", "pass", "cuDNN", "on", "what cuDNN does", "what the library does", "how it is known"});
    return text;
}

// The first line in which the two differ.
std::string difference(std::string const& file, std::string const& table) {
    auto const [of_file, of_table] = std::ranges::mismatch(file, table);
    auto const line_at = [](std::string const& text, std::size_t at) {
        std::size_t const start = text.rfind('\n', at == 0 ? 0 : at - 1);
        return text.substr(start == text.npos ? 0 : start + 1, text.find('\n', at) - start);
    };
    auto const at = static_cast<std::size_t>(of_file - file.begin());
    return "the file says\n" + line_at(file, at) + "the table\n" + line_at(table, at);
}

int check(char const* path) {
    std::ifstream file(path);
    std::string const committed{std::istreambuf_iterator<char>(file), {}}, now = page();
    if (committed == now) return 0;
    std::printf("%s is not what quirk_pages prints: %s\n", path, difference(committed, now).c_str());
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "--check") == 0) return check(argv[2]);
    std::fputs(page().c_str(), stdout);
    return 0;
}
