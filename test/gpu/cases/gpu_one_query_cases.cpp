#include "gpu/cases/case_changes.h"
#include "gpu/cases/gpu_cases.h"

#include <string>

namespace sdpa_test {
namespace {

using oracle::Modify;

void window_of_200(AttentionCase& c) { c.left = 200, c.right = 0, bottom_right(c); }
void alibi(AttentionCase& c) { c.alibi = true; }
void with_bias_of_heads(AttentionCase& c) { c.bias = of_heads(c); }
void max_and_sum(AttentionCase& c) { c.generate_stats = false, c.logit_max = c.score_sum_exp = true; }

// A window that reaches over several of the parts into which kernels split the keys.
Change reaching(Modify modifier) {
    return [=](AttentionCase& c) { modified(modifier)(c), c.modifier_reach = 280; };
}

void decode_in_pages(AttentionCase& c) { decode(600)(c), paged(16, 16)(c), c.len_q->front() = 1; }

struct Option {
    char const* name;
    Change change;
};

// Options that read positions, and options that differ between heads.
std::vector<Option> positions_and_heads() {
    return {
        {"alibi", alibi},
        {"alibi of given slopes", modified(Modify::Slopes)},
        {"relative bias", modified(Modify::Relative, 0.05f)},
        {"distance by heads", modified(Modify::HeadDistance, 0.02f)},
        {"documents", modified(Modify::Documents)},
        {"prefix", modified(Modify::Prefix)},
        {"dilated window", reaching(Modify::Dilated)},
        {"window at the bottom right by a modifier", reaching(Modify::BottomWindow)},
        {"softcap", modified(Modify::Softcap, 2.5f)},
        {"window, bottom right", window_of_200},
        {"dropout", dropout},
        {"dropout mask", masked_dropout},
        {"bias", biased(true, true, true)},
        {"bias of one number for each head", with_bias_of_heads},
        {"sink", sink},
        {"max and sum_exp", max_and_sum},
        {"low scores", low_scores},
        {"sink, low scores", [](auto& c) { sink(c), low_scores(c); }},
        {"dropout mask, low scores", [](auto& c) { masked_dropout(c), low_scores(c); }},
    };
}

// Kernels split few hundred keys in one way, and more in another.
CaseGroup dense(std::int64_t keys, Option const& option) {
    auto const with_one_query = [&](AttentionCase& c) { decode(keys)(c), option.change(c); };
    return group("one query, " + std::to_string(keys) + " keys, " + option.name, with_one_query);
}

CaseGroup in_pages(Option const& option) {
    auto const with_pages = [&](AttentionCase& c) {
        decode_in_pages(c), option.change(c);
        c.d_bias = false;
        if (c.sink) c.h_k = c.h_v = c.h_q / 2;
    };
    std::string const name = option.name;
    bool const is_of_heads = name.starts_with("sink") || name == "alibi of given slopes" || name.ends_with("each head");
    return group("pages, one query, 600 keys, " + name, with_pages, is_of_heads ? "cudnn.s89" : "");
}

}  // namespace

std::vector<CaseGroup> one_query_groups() {
    std::vector<CaseGroup> groups;
    for (std::int64_t const keys : {321, 600}) {
        for (Option const& option : positions_and_heads()) groups.push_back(dense(keys, option));
    }
    for (Option const& option : positions_and_heads()) groups.push_back(in_pages(option));
    groups.push_back(group("pages, two queries, sink", [](auto& c) {
        decode(600)(c), c.s_q = 2, paged(16, 16)(c), c.len_q->front() = 1, sink(c);
    }));
    auto const alone = [](AttentionCase& c) { decode_in_pages(c), c.h_k = c.h_v = c.h_q, sink(c); };
    groups.push_back(group("pages, one query, sink, no shared heads", alone));
    return groups;
}

}  // namespace sdpa_test
