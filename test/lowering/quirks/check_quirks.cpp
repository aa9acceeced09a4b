// Asks the cuDNN library that is found, or that SDPA_GRAPH_CUDNN_PATH names, which quirks of the table hold with it,
// for the devices of devices/, with no GPU. Wrong numbers, and crashes and hangs in runs, are seen on a GPU alone.
//   check_quirks           asks about all
//   check_quirks <id>...   asks about these
//   check_quirks old       asks nothing; lists those that were last seen with an older release, or never
// Leaves with 1 where a quirk has ended, with 77 where there is no cuDNN.
#include "cudnn/library/library.h"
#include "cudnn/offline/null_driver.h"
#include "lowering/offline_answer.h"
#include "lowering/quirks/child_process.h"
#include "lowering/quirks/quirk_questions.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <span>

namespace {

using namespace sdpa_test;
using namespace cudnn_frontend;
using quirks::Evidence;
using quirks::Quirk;

constexpr unsigned kSecondsForAnswer = 120;

using Questions = std::span<QuirkQuestion const* const>;

// Null where no plans can be made; the library stays open until the process ends.
cudnn::Api const* open_offline() {
    if (offline::load_null_driver().is_bad() || cudnn::check_engines().is_bad()) return nullptr;
    return cudnn::library().api;
}

// This process never opens cuDNN: it could not fork then.
std::size_t version_of_library() {
    ChildAnswers const answers = ask_in_child(kSecondsForAnswer, [](AnswerPipe& to) {
        cudnn::Api const* const api = open_offline();
        if (api != nullptr) to.write(std::to_string(api->get_version()));
    });
    return answers.lines.empty() ? 0 : std::stoul(answers.lines.front());
}

enum class Standing { Holds, Ended, EndedInPart, NotVerified, NotAsked };

struct Finding {
    Standing standing;
    std::string reason;
};

constexpr char const *kPlan = "plan", *kNoPlan = "no plan";

ChildAnswers ask(Questions questions) {
    return ask_in_child(kSecondsForAnswer, [&](AnswerPipe& to) {
        cudnn::Api const& api = *open_offline();
        for (QuirkQuestion const* const question : questions) {
            auto const device = cudnn::Device::from_json(api, question->device->properties);
            to.write(refusal_of(api, question->past_quirk(), *device.value()).empty() ? kPlan : kNoPlan);
        }
    });
}

struct Count {
    std::size_t refused = 0, planned = 0, crashed = 0;
};

using Counts = std::map<std::string, Count>;  // by device

// A question that ends its process is answered by that; another process goes on with the next one.
Counts ask_all(Questions questions) {
    Counts counts;
    while (!questions.empty()) {
        ChildAnswers const answers = ask(questions);
        for (std::string const& line : answers.lines) {
            Count& count = counts[questions.front()->device->name];
            ++(line == kNoPlan ? count.refused : count.planned);
            questions = questions.subspan(1);
        }
        if (!answers.has_ended_early || questions.empty()) continue;
        ++counts[questions.front()->device->name].crashed;
        questions = questions.subspan(1);
    }
    return counts;
}

std::string of_all(std::size_t count, Questions questions) {
    return std::to_string(count) + " of " + std::to_string(questions.size()) + " graphs";
}

// Whether a process ends may be chance, and not every graph that runs into such a quirk ends it: one that does is
// enough.
Finding finding_of_fatal(Questions questions) {
    std::size_t crashed = 0;
    for (auto const& [device, count] : ask_all(questions)) crashed += count.crashed;
    return {crashed > 0 ? Standing::Holds : Standing::Ended,
            "planning ends the process for " + of_all(crashed, questions)};
}

Finding finding_of(Questions questions) {
    std::size_t without_plan = 0;
    std::string planned;
    for (auto const& [device, count] : ask_all(questions)) {
        without_plan += count.refused + count.crashed;
        if (count.planned > 0) planned += (planned.empty() ? "; plans for " : ", ") + device;
    }
    std::string const reason = "no plan for " + of_all(without_plan, questions) + planned;
    if (planned.empty()) return {Standing::Holds, reason};
    return {without_plan == 0 ? Standing::Ended : Standing::EndedInPart, reason};
}

Finding unasked(Quirk const& quirk, std::size_t cudnn_version) {
    auto const& [version, where] = quirk.verified;
    if (quirk.evidence == Evidence::ToldByNvidia) return {Standing::NotAsked, "told by NVIDIA"};
    if (version == 0) return {Standing::NotVerified, "by any run"};
    std::string const place =
        quirks::version_text(version) + ", " + (where == quirks::kOffline ? "" : "on ") + std::string(where);
    return {Standing::NotVerified, (version == cudnn_version ? "again with " : "since ") + place};
}

bool can_be_asked(Quirk const& quirk) { return quirk.evidence == Evidence::NoEngine || quirks::is_fatal_to_ask(quirk); }

Finding look_at(Quirk const& quirk, Questions questions, std::size_t cudnn_version) {
    if (!can_be_asked(quirk)) return unasked(quirk, cudnn_version);
    if (questions.empty()) return {Standing::NotAsked, "no graph of the test cases runs into it alone"};
    return quirks::is_fatal_to_ask(quirk) ? finding_of_fatal(questions) : finding_of(questions);
}

char const* text_of(Standing standing) {
    switch (standing) {
        case Standing::Holds: return "holds";
        case Standing::Ended: return "ended";
        case Standing::EndedInPart: return "ended in part";
        case Standing::NotVerified: return "not verified";
        case Standing::NotAsked: break;
    }
    return "not asked";
}

// The quirks in force there, of these ids or of all.
std::vector<Quirk const*> chosen_quirks(std::vector<std::string> const& ids, std::size_t cudnn_version) {
    std::vector<Quirk const*> chosen;
    for (Quirk const& quirk : quirks::quirks()) {
        bool const is_meant = ids.empty() || std::ranges::count(ids, std::string(quirk.id)) > 0;
        if (is_meant && quirk.cudnn.contain(cudnn_version)) chosen.push_back(&quirk);
    }
    return chosen;
}

// NVIDIA's own statements are not for a run to verify.
bool was_last_seen_before(Quirk const& quirk, std::size_t cudnn_version) {
    return quirk.cudnn.contain(cudnn_version) && quirk.evidence != Evidence::ToldByNvidia &&
           quirk.verified.cudnn_version < cudnn_version;
}

void list_old(std::size_t cudnn_version) {
    std::map<std::size_t, std::set<std::string>> ids;  // by release; 0 is none
    std::size_t count = 0;
    for (Quirk const& quirk : quirks::quirks()) {
        if (was_last_seen_before(quirk, cudnn_version) && ids[quirk.verified.cudnn_version].insert(quirk.id).second)
            ++count;
    }
    std::printf("quirks not verified with cuDNN %s: %zu", quirks::version_text(cudnn_version).c_str(), count);
    for (auto const& [version, of_version] : ids) {
        std::string const since = version == 0 ? "never" : "since " + quirks::version_text(version);
        std::printf("; %s", since.c_str());
        for (std::string const& id : of_version) std::printf(" %s", id.substr(std::strlen("cudnn.")).c_str());
    }
    std::puts("");
}

int report(std::vector<std::string> const& ids, std::size_t cudnn_version) {
    std::vector<QuirkQuestion> const questions = quirk_questions(cudnn_version);
    std::map<Standing, std::size_t> counts;
    for (Quirk const* const quirk : chosen_quirks(ids, cudnn_version)) {
        std::vector<QuirkQuestion const*> of_quirk;
        for (QuirkQuestion const& question : questions) {
            if (question.quirk == quirk) of_quirk.push_back(&question);
        }
        Finding const finding = look_at(*quirk, of_quirk, cudnn_version);
        ++counts[finding.standing];
        std::printf("%-10s %-36s %-14s %s\n", quirk->id, quirk->on.to_text().c_str(), text_of(finding.standing),
                    finding.reason.c_str());
        std::fflush(stdout);
    }
    std::size_t const ended = counts[Standing::Ended] + counts[Standing::EndedInPart];
    std::printf("cuDNN %s: %zu hold, %zu ended, %zu not verified, %zu not asked\n",
                quirks::version_text(cudnn_version).c_str(), counts[Standing::Holds], ended,
                counts[Standing::NotVerified], counts[Standing::NotAsked]);
    return ended == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t const version = version_of_library();
    if (version == 0) {
        std::puts("skipped: there is no cuDNN with which plans can be made offline; see docs/offline.md");
        return 77;
    }
    std::vector<std::string> const arguments(argv + 1, argv + argc);
    if (arguments == std::vector<std::string>{"old"}) {
        list_old(version);
        return 0;
    }
    return report(arguments, version);
}
