#include "named_modifiers.h"

#include <cmath>
#include <string_view>

namespace sdpa_test {
namespace {

using cudnn_frontend::graph::Tensor_attributes;

constexpr std::int64_t kDocuments = 3, kImageWidth = 8, kChunk = 16;

Term head(Term const& score) { return score.index(1); }
Term query(Term const& score) { return score.index(2); }
Term key(Term const& score) { return score.index(3); }
Term distance(Term const& score) { return query(score) - key(score); }
Term causal(Term const& score) { return key(score) <= query(score); }
Term magnitude(Term const& a) { return apply(Mode::ABS, a); }

double number_of(Index4 const& at, std::int64_t axis) {
    return static_cast<double>(at[static_cast<std::size_t>(axis)]);
}
// A number between -1 and 1 for each place.
double noise(Index4 const& at) {
    return std::sin(1.7 * number_of(at, 0) + 2.3 * number_of(at, 1) + 0.9 * number_of(at, 2) + 1.1 * number_of(at, 3));
}
double slope_of_head(Index4 const& at) { return std::exp2(-number_of(at, 1) - 1.0); }
double factor_of_head(Index4 const& at) { return 0.5 + 0.4 * number_of(at, 1); }
double factor_of_query(Index4 const& at) { return 1.0 + 0.5 * std::cos(number_of(at, 2)); }

Term documents_of(Term const& score, ModifierPlace& at, bool of_queries) {
    std::int64_t const count = of_queries ? at.queries() : at.keys();
    auto const document = [=](Index4 const& place) {
        std::int64_t const token = of_queries ? place[2] : place[3];
        return static_cast<double>(token * (kDocuments + place[0]) / count);
    };
    return at.integers(score, of_queries ? "bq" : "bk", document);
}
Term keep_documents(Term const& score, ModifierPlace& at) {
    Term const of_queries = documents_of(score, at, true);
    return keep_where(score, of_queries == documents_of(score, at, false));
}

// Bounds the score by the cap. The gradient reads the argument of tanh again.
Term cap(Term const& score, ModifierPlace& at) {
    at.kept.push_back(score / 2.0);
    return apply(Mode::TANH_FWD, at.kept.back()) * 2.0;
}
Term gradient_of_cap(Term const& gradient, ModifierPlace& at) {
    return apply(Mode::TANH_BWD, gradient, at.kept.front());
}

// Factors are kept for the gradient.
Term scale(Term const& score, ModifierPlace& at, Term const& factor) {
    at.kept.push_back(factor);
    return score * factor;
}
Term gradient_of_scale(Term const& gradient, ModifierPlace& at) {
    Term scaled = gradient;
    for (Term const& factor : at.kept) scaled = scaled * factor;
    return scaled;
}

// --- Terms that are added

Term relative_bias(Term const& score, ModifierPlace& at) { return score + at.floats(score, "hqk", noise); }
// A bias of each head for each power of two of distances.
Term t5_buckets(Term const& score, ModifierPlace& at) {
    auto const of_bucket = [&](double bucket) {
        return at.floats(score, "h", [=](Index4 const& place) { return noise(place) + 0.3 * bucket; });
    };
    Term const apart = magnitude(distance(score));
    Term bias = of_bucket(0);
    for (double const bucket : {1.0, 2.0, 3.0, 4.0, 5.0}) {
        bias = chosen(apart < std::exp2(bucket), bias, of_bucket(bucket));
    }
    return score + bias;
}
Term alibi(Term const& score, ModifierPlace& at) {
    return score - at.floats(score, "h", slope_of_head) * magnitude(distance(score));
}
Term kerple(Term const& score, ModifierPlace& at) {
    Term const slopes = at.floats(score, "h", slope_of_head);
    return score - slopes * apply(Mode::LOG, slopes * magnitude(distance(score)) + 1.0);
}
Term distance_factor(Term const& score, ModifierPlace&) { return score - distance(score) * score.number(0.02); }
Term gaussian_decay(Term const& score, ModifierPlace&) {
    Term const apart = distance(score) * score.number(0.1);
    return score - apart * apart;
}
Term cosine_of_distance(Term const& score, ModifierPlace&) {
    return score + apply(Mode::COS, distance(score) * score.number(0.2));
}
Term table_noise(Term const& score, ModifierPlace& at) { return score + at.floats(score, "qk", noise); }
Term key_penalty(Term const& score, ModifierPlace& at) {
    std::int64_t const length = at.keys() * 3 / 4;
    auto const penalty = [=](Index4 const& place) { return place[3] < length - 5 * place[0] ? 0.0 : -10000.0; };
    return score + at.floats(score, "bk", penalty);
}
// Scores between shifted windows get -100.
Term swin_regions(Term const& score, ModifierPlace& at) {
    auto const region = [](std::size_t axis) {
        return [=](Index4 const& place) { return static_cast<double>(place[axis] % 32 < 20); };
    };
    Term const of_query = at.integers(score, "q", region(2)), of_key = at.integers(score, "k", region(3));
    Term const same = of_query == of_key;
    return score + chosen(same, score.number(0.0), score.number(-100.0));
}

// --- Factors and functions

Term temperature_of_head(Term const& score, ModifierPlace& at) {
    return scale(score, at, at.floats(score, "h", factor_of_head));
}
Term logarithm_of_length(Term const& score, ModifierPlace& at) {
    return scale(score, at, apply(Mode::LOG, query(score) * score.number(1.0) + 2.0) * 0.4);
}
Term product_of_temperatures(Term const& score, ModifierPlace& at) {
    Term const of_head = temperature_of_head(score, at);
    return scale(of_head, at, at.floats(score, "q", factor_of_query));
}
Term sigmoid(Term const& score, ModifierPlace& at) {
    at.kept.push_back(score);
    return apply(Mode::SIGMOID_FWD, score) * 4.0;
}
Term gradient_of_sigmoid(Term const& gradient, ModifierPlace& at) {
    return apply(Mode::SIGMOID_BWD, gradient, at.kept.front()) * 4.0;
}
Term clip(Term const& score, ModifierPlace& at) {
    at.kept.push_back(score);
    return apply(Mode::MAX, apply(Mode::MIN, score, score.number(1.0)), score.number(-1.0));
}
Term gradient_of_clip(Term const& gradient, ModifierPlace& at) {
    return chosen(magnitude(at.kept.front()) <= 1.0, gradient, gradient.number(0.0));
}

// --- Masks

Term prefix(Term const& score, ModifierPlace& at) {
    Term const lengths = at.integers(score, "b", [](Index4 const& place) { return 11.0 + 6.0 * number_of(place, 0); });
    return keep_where(score, either(causal(score), key(score) < lengths));
}
Term bottom_causal(Term const& score, ModifierPlace& at) {
    double const shift = static_cast<double>(at.keys() - at.queries());
    return keep_where(score, key(score) <= query(score) + shift);
}
Term checkerboard(Term const& score, ModifierPlace&) {
    return keep_where(score, (query(score) + key(score)) % 2.0 == 0.0);
}
Term dilated_window(Term const& score, ModifierPlace&) {
    Term const apart = magnitude(distance(score));
    return keep_where(score, both(apart < 24.0, apart % 3.0 == 0.0));
}
Term windows_of_heads(Term const& score, ModifierPlace& at) {
    auto const reach = [](Index4 const& place) { return 8.0 * number_of(place, 1) + 5.0; };
    return keep_where(score, both(causal(score), distance(score) < at.integers(score, "h", reach)));
}
Term window_and_global(Term const& score, ModifierPlace&) {
    Term const is_global = either(query(score) < 3.0, key(score) < 3.0);
    return keep_where(score, either(is_global, magnitude(distance(score)) < 10.0));
}
Term window_and_first(Term const& score, ModifierPlace&) {
    return keep_where(score, both(causal(score), either(key(score) < 4.0, distance(score) < 12.0)));
}
Term past_or_future(Term const& score, ModifierPlace&) {
    Term const sees_past = head(score) % 2.0 == 0.0;
    return keep_where(
        score, either(both(sees_past, causal(score)), both(head(score) % 2.0 == 1.0, key(score) >= query(score))));
}
// Keys of the query's own chunk, up to the query.
Term chunks(Term const& score, ModifierPlace&) {
    Term const row = query(score), column = key(score);
    double const size = static_cast<double>(kChunk);
    return keep_where(score, both(causal(score), row - row % size == column - column % size));
}
// Tokens of an image, line by line.
Term image_neighbors(Term const& score, ModifierPlace&) {
    double const width = static_cast<double>(kImageWidth);
    Term const of_query = query(score) % width, of_key = key(score) % width;
    Term const lines = (query(score) - of_query) - (key(score) - of_key);
    return keep_where(score, both(magnitude(of_query - of_key) <= 2.0, magnitude(lines) <= 2.0 * width));
}
// A token's parent in the tree is the one with half its number: it sees its ancestors.
bool is_ancestor(std::int64_t token, std::int64_t of) {
    while (of > token) of = (of - 1) / 2;
    return of == token;
}
Term tree_by_table(Term const& score, ModifierPlace& at) {
    auto const sees = [](Index4 const& place) { return is_ancestor(place[3], place[2]) ? 1.0 : 0.0; };
    return keep_where(score, at.integers(score, "qk", sees) == 1.0);
}
// In the order of a walk through a tree, a token's descendants follow it: here as many as its number has zeros behind.
Term tree_by_intervals(Term const& score, ModifierPlace& at) {
    auto const end = [](Index4 const& place) {
        std::int64_t const token = place[3] == 0 ? 256 : place[3];
        return static_cast<double>(place[3] + (token & -token));
    };
    return keep_where(score, both(causal(score), query(score) < at.integers(score, "k", end)));
}

// --- One after the other

Term capped_documents(Term const& score, ModifierPlace& at) { return keep_documents(cap(score, at), at); }
Term alibi_in_a_window(Term const& score, ModifierPlace& at) {
    return keep_where(alibi(score, at), both(causal(score), distance(score) < 20.0));
}

// --- Terms of the distance

// A cosine, by which the score is multiplied, and its hyperbolic tangent.
Term nested_terms(Term const& score, ModifierPlace& at) {
    Term const cosine = apply(Mode::COS, distance(score) * score.number(0.2));
    return scale(score, at, cosine) + apply(Mode::TANH_FWD, cosine);
}
// A logarithm that is infinite or NaN at the distances of rows behind the tensors.
Term factor_within_tensors(Term const& score, ModifierPlace& at) {
    Term const apart = distance(score) * score.number(1.0);
    Term const to_last_query = score.number(static_cast<double>(at.queries())) - apart;
    Term const to_last_key = apart + static_cast<double>(at.keys());
    return scale(score, at, apply(Mode::LOG, to_last_query * to_last_key) * 0.1);
}
Term is_in_prefix(Term const& score, ModifierPlace const& at) {
    return key(score) < static_cast<double>(at.keys() / 2);
}
Term cosine_behind_prefix(Term const& score, ModifierPlace& at) {
    Term const cosine = apply(Mode::COS, distance(score) * score.number(0.2));
    return chosen(is_in_prefix(score, at), score, scale(score, at, cosine));
}
Term gradient_behind_prefix(Term const& gradient, ModifierPlace& at) {
    return chosen(is_in_prefix(gradient, at), gradient, gradient_of_scale(gradient, at));
}

constexpr NamedModifier kModifiers[] = {
    {"relative position bias", relative_bias},
    {"T5 buckets", t5_buckets},
    {"ALiBi", alibi},
    {"KERPLE", kerple},
    {"distance times a factor", distance_factor},
    {"Gaussian decay", gaussian_decay},
    {"cosine of the distance", cosine_of_distance},
    {"noise from a table", table_noise},
    {"penalties of keys", key_penalty},
    {"regions of shifted windows", swin_regions},
    {"softcap", cap, gradient_of_cap},
    {"temperature of each head", temperature_of_head, gradient_of_scale},
    {"logarithm of the length", logarithm_of_length, gradient_of_scale},
    {"product of two temperatures", product_of_temperatures, gradient_of_scale},
    {"sigmoid", sigmoid, gradient_of_sigmoid},
    {"clip", clip, gradient_of_clip},
    {"documents", keep_documents},
    {"prefix", prefix},
    {"causal, bottom right", bottom_causal},
    {"checkerboard", checkerboard},
    {"dilated window", dilated_window},
    {"windows of heads", windows_of_heads},
    {"window and global tokens", window_and_global},
    {"window and first tokens", window_and_first},
    {"past or future by head", past_or_future},
    {"causal chunks", chunks},
    {"neighbors in an image", image_neighbors},
    {"tree by a table", tree_by_table},
    {"tree by intervals", tree_by_intervals},
    {"documents, capped", capped_documents, gradient_of_cap},
    {"ALiBi in a window", alibi_in_a_window},
};

constexpr NamedModifier kDistanceModifiers[] = {
    {"T5 buckets", t5_buckets},
    {"nested terms", nested_terms, gradient_of_scale},
    {"factor within tensors", factor_within_tensors, gradient_of_scale},
};
constexpr NamedModifier kBehindPrefix{"cosine behind a prefix", cosine_behind_prefix, gradient_behind_prefix};

}  // namespace

std::span<NamedModifier const> named_modifiers() { return kModifiers; }
std::span<NamedModifier const> distance_modifiers() { return kDistanceModifiers; }
NamedModifier const& modifier_behind_prefix() { return kBehindPrefix; }

Term ModifierPlace::floats(Term const& score, char const* varies, Value const& value) {
    return tensor(score, varies, DataType_t::FLOAT, value);
}

Term ModifierPlace::integers(Term const& score, char const* varies, Value const& value) {
    return tensor(score, varies, DataType_t::INT32, value);
}

Term ModifierPlace::tensor(Term const& score, char const* varies, DataType_t type, Value const& value) {
    constexpr std::string_view kAxes = "bhqk";
    Index4 dims{1, 1, 1, 1};
    for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
        if (std::string_view(varies).find(kAxes[axis]) != std::string_view::npos) dims[axis] = scores_[axis];
    }
    HostTensor const& made = tensors.emplace(next_uid_, make_tensor(type, dims)).first->second;
    made.fill(value);
    auto const attributes = Tensor_attributes()
                                .set_uid(next_uid_++)
                                .set_data_type(type)
                                .set_dim({dims.begin(), dims.end()})
                                .set_stride({made.stride.begin(), made.stride.end()});
    return {score.graph, score.graph->tensor(attributes), type};
}

}  // namespace sdpa_test
