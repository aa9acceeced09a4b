#include "gpu/cases/gpu_cases.h"

#include "gpu/cases/case_changes.h"

#include <cmath>
#include <utility>

namespace sdpa_test {
namespace {

std::vector<CaseGroup> mask_groups() {
    return {
        group("causal, top left", [](auto& c) { c.right = 0; }),
        group("causal, bottom right", [](auto& c) { c.right = 0, bottom_right(c); }),
        group("right bound", [](auto& c) { c.right = 5; }),
        group("left bound alone", [](auto& c) { c.left = 17; }),
        group("left bound alone, many keys", [](auto& c) { c.left = 17, c.s_kv = 1100; }),
        group("sliding window", [](auto& c) { c.left = 33, c.right = 0; }),
        group("window of both sides", [](auto& c) { c.left = 9, c.right = 12; }),
        group("sliding window, bottom right", [](auto& c) { c.left = 33, c.right = 0, bottom_right(c); }),
        group("padding", lengths),
        group("padding and causal", [](auto& c) { lengths(c), c.right = 0; }),
        group("padding and causal, bottom right", [](auto& c) { lengths(c), c.right = 0, bottom_right(c); }),
        group("padding and window, bottom right",
              [](auto& c) { lengths(c), c.right = 0, c.left = 20, bottom_right(c); }),
        group("an empty sequence", [](auto& c) { lengths(c), c.len_q->front() = 0, c.len_kv->front() = 0; }),
        group("sequences without keys", [](auto& c) { lengths(c), c.len_kv->front() = 0; }),
    };
}

// Bands with other options that change scores or probabilities.
std::vector<CaseGroup> band_groups() {
    auto const corner = [](Change const& change) {
        return [=](AttentionCase& c) { c.right = 0, bottom_right(c), change(c); };
    };
    auto const window = [](Change const& change) {
        return [=](AttentionCase& c) { c.left = 33, c.right = 0, change(c); };
    };
    auto const alibi = [](AttentionCase& c) { c.alibi = true; };
    return {
        group("bottom right and bias", corner(biased(true, true, true))),
        group("bottom right and alibi", corner(alibi)),
        group("bottom right and dropout", corner(dropout)),
        group("bottom right and dropout mask", corner(masked_dropout)),
        group("window and bias", window(biased(true, true, true))),
        group("window and alibi", window(alibi)),
        group("window and dropout", window(dropout)),
        group("window and dropout mask", window(masked_dropout)),
        group("window, bottom right, bias and padding",
              window([](auto& c) { bottom_right(c), biased(true, true, true)(c), lengths(c); })),
        group("window, bottom right, alibi and dropout",
              window([](auto& c) { bottom_right(c), c.alibi = true, dropout(c); })),
    };
}

std::vector<CaseGroup> score_groups() {
    return {
        group("no scale", [](auto& c) { c.scale = Scale::None, c.magnitude = 0.3; }),
        group("scale, embedded", scaled(Scale::Embedded)),
        group("scale, by value", scaled(Scale::ByValue)),
        group("scale, on the device", scaled(Scale::Device)),
        group("bias", biased(true, true, true)),
        group("bias over batches", biased(false, true, true)),
        group("bias over batches, heads", biased(false, false, true)),
        group("bias of one row", [](auto& c) { biased(true, true, false)(c), c.d_bias = false; }),
        group("bias of one column",
              [](auto& c) {
                  c.bias = Index4{c.b, c.h_q, c.s_q, 1};
              }),
        group("bias of one element each",
              [](auto& c) {
                  c.bias = Index4{c.b, c.h_q, 1, 1};
              }),
        group("bias of one number for each head", [](auto& c) { c.bias = of_heads(c); }),
        group("bias of one number",
              [](auto& c) {
                  c.bias = Index4{1, 1, 1, 1};
              }),
        group("bias of floats",
              [](auto& c) { biased(true, true, true)(c), c.bias_type = DataType_t::FLOAT, c.d_bias = false; }),
        group("bias of the other half type",
              [](auto& c) { biased(true, true, true)(c), c.bias_type = other_half(c.type), c.d_bias = false; }),
        group("bias with minus infinity",
              [](auto& c) { biased(true, true, true)(c), c.bias_infinities = Infinities::Some; }),
        group("bias with rows of minus infinity",
              [](auto& c) { biased(true, true, true)(c), c.bias_infinities = Infinities::Rows; }),
        group("bias that masks tiles",
              [](auto& c) { biased(true, true, true)(c), c.bias_infinities = Infinities::Tiles; }),
        group("bias that masks tiles, causal",
              [](auto& c) { biased(true, true, true)(c), c.bias_infinities = Infinities::Tiles, c.right = 0; }),
        group("bias and causal", [](auto& c) { biased(true, true, true)(c), c.right = 0; }),
        group("bias and padding", [](auto& c) { biased(true, true, true)(c), lengths(c); }),
        group("bias, low rows", [](auto& c) { biased(true, true, true)(c), c.bias_shift = -120.0; }),
        group("bias, low rows, half a tile of keys",
              [](auto& c) { c.s_kv = c.s_kv > 200 ? 320 : 192, biased(true, true, true)(c), c.bias_shift = -120.0; }),
        group("low scores", low_scores),
        group("low scores, causal", [](auto& c) { low_scores(c), c.right = 0; }),
        group("low scores, padding", [](auto& c) { low_scores(c), lengths(c); }),
        group("low scores, sink", [](auto& c) { low_scores(c), sink(c); }),
        group("low scores, dropout", [](auto& c) { low_scores(c), dropout(c); }),
        group("low scores, dropout mask", [](auto& c) { low_scores(c), masked_dropout(c); }),
        group("low scores, dropout mask, half a tile of keys",
              [](auto& c) { c.s_kv = c.s_kv > 200 ? 320 : 192, low_scores(c), masked_dropout(c); }),
        group("low scores, dropout mask, two queries",
              [](auto& c) { decode(200)(c), c.s_q = 2, low_scores(c), masked_dropout(c); }),
        group("alibi and causal", [](auto& c) { c.alibi = true, c.right = 0; }),
        group("alibi alone", [](auto& c) { c.alibi = true; }),
        group("alibi and padding", [](auto& c) { c.alibi = true, c.right = 0, lengths(c); }),
    };
}

// Bias gradients with other dims than the bias.
std::vector<CaseGroup> bias_gradient_groups() {
    auto const summed = [](Change const& bias, bool b, bool h) {
        return [=](AttentionCase& c) { bias(c), c.d_bias_dim = Index4{b ? c.b : 1, h ? c.h_q : 1, c.s_q, c.s_kv}; };
    };
    return {
        group("dBias summed over batches, bias of each", summed(biased(true, true, true), false, true)),
        group("dBias summed over batches and heads, bias of each", summed(biased(true, true, true), false, false)),
        group("dBias summed over heads, bias over batches", summed(biased(false, true, true), true, false)),
        group("dBias of each, bias over batches, heads", summed(biased(false, false, true), true, true)),
        group("dBias of each, bias of one row", summed(biased(true, true, false), true, true)),
        group("dBias of each, bias of one number for each head",
              summed([](auto& c) { c.bias = of_heads(c), c.d_bias = true; }, true, true)),
    };
}

std::vector<CaseGroup> dropout_groups() {
    return {
        group("dropout", dropout),
        group("dropout and causal", [](auto& c) { dropout(c), c.right = 0; }),
        group("dropout and padding", [](auto& c) { dropout(c), lengths(c); }),
        group("dropout by value", [](auto& c) { dropout(c), c.scalars_by_value = true; }),
        group("dropout mask", masked_dropout),
        group("dropout mask of the other half type",
              [](auto& c) { masked_dropout(c), c.mask_type = other_half(c.type); }),
        group("dropout mask over rows",
              [](auto& c) {
                  masked_dropout(c), c.mask = Index4{1, 1, 1, c.s_kv};
              }),
        group("dropout mask of one number for each head", [](auto& c) { masked_dropout(c), c.mask = of_heads(c); }),
        group("dropout mask, exchanged with its scale", [](auto& c) { masked_dropout(c), c.exchanged_mask = true; }),
    };
}

// Biases and dropout masks that are not packed.
std::vector<CaseGroup> scores_layout_groups() {
    auto const of_keys = [](AttentionCase& c) { biased(false, true, false)(c), c.d_bias = false; };
    auto const both = [](AttentionCase& c) { biased(true, true, true)(c), masked_dropout(c); };
    auto const in_pages = [](AttentionCase& c) { paged(16, 16)(c), biased(true, true, true)(c), c.d_bias = false; };
    return {
        group("bias, rows with gaps", with_scores(Layout::Gaps, biased(true, true, true))),
        group("bias of one row, with gaps", with_scores(Layout::Gaps, of_keys)),
        group("bias, heads within rows", with_scores(Layout::Bshd, biased(true, true, true))),
        group("bias, batch entries within rows", with_scores(Layout::Sbhd, biased(true, true, true))),
        group("bias, batch entries by a stride of 0", with_scores(Layout::Shared, biased(true, true, true))),
        group("bias, rows with gaps, ragged",
              with_scores(Layout::Gaps, [](auto& c) { packed(c), biased(true, true, true)(c); })),
        group("bias, rows with gaps, pages of 16", with_scores(Layout::Gaps, in_pages)),
        group("one query, bias, rows with gaps",
              with_scores(Layout::Gaps, [](auto& c) { decode(200)(c), biased(true, true, true)(c); })),
        group("dropout mask, rows with gaps", with_scores(Layout::Gaps, masked_dropout)),
        group("dropout mask, heads within rows", with_scores(Layout::Bshd, masked_dropout)),
        group("dropout mask, batch entries within rows", with_scores(Layout::Sbhd, masked_dropout)),
        group("dropout mask, batch entries by a stride of 0", with_scores(Layout::Shared, masked_dropout)),
        group("one query, dropout mask, rows with gaps",
              with_scores(Layout::Gaps, [](auto& c) { decode(200)(c), masked_dropout(c); })),
        group("bias and dropout mask, rows with gaps", with_scores(Layout::Gaps, both)),
    };
}

void more_queries(AttentionCase& c) { std::swap(c.s_q, c.s_kv); }

std::vector<CaseGroup> more_queries_groups() {
    return {
        group("more queries than keys", more_queries),
        group("more queries, causal", [](auto& c) { more_queries(c), c.right = 0; }),
        group("more queries, causal, bottom right", [](auto& c) { more_queries(c), c.right = 0, bottom_right(c); }),
        group("more queries, window, bottom right",
              [](auto& c) { more_queries(c), c.left = 33, c.right = 0, bottom_right(c); }),
        group("more queries, padding", [](auto& c) { more_queries(c), lengths(c); }),
        group("more queries, padding and causal, bottom right",
              [](auto& c) { more_queries(c), lengths(c), c.right = 0, bottom_right(c); }),
    };
}

std::vector<CaseGroup> shape_groups() {
    return {
        group("rows of head by head", laid_out(Layout::Bhsd)),
        group("sequence first", laid_out(Layout::Sbhd)),
        group("packed Q, K and V", [](auto& c) { laid_out(Layout::Packed)(c), c.s_kv = c.s_q; }),
        group("one batch entry for all", [](auto& c) { c.input_layout = Layout::Shared; }),
        group("rows with gaps", laid_out(Layout::WideGaps)),
        group("rows with gaps, padding", [](auto& c) { laid_out(Layout::WideGaps)(c), lengths(c); }),
        group("heads of 256, rows with gaps", [](auto& c) { laid_out(Layout::WideGaps)(c), head_dims(256, 256)(c); }),
        group("one query, rows with gaps",
              [](auto& c) { laid_out(Layout::WideGaps)(c), c.stats_layout = Layout::Bhsd, decode(600)(c); }),
        group("heads of 32", head_dims(32, 32)),
        group("heads of 40 and 24", head_dims(40, 24)),
        group("heads of 96", head_dims(96, 96)),
        group("heads of 192 and 128", head_dims(192, 128)),
        group("heads of 256", head_dims(256, 256)),
        group("key and value heads differ", [](auto& c) { c.h_q = 4, c.h_k = 2, c.h_v = 1; }),
        group("one query, few keys", decode(64)),
        group("one query, many keys", decode(1000)),
        group("one query, a tile of keys, low rows",
              [](auto& c) { decode(128)(c), biased(true, true, true)(c), c.bias_shift = -120.0; }),
        group("one query, causal", [](auto& c) { decode(600)(c), c.right = 0, bottom_right(c); }),
        group("one query, dropout mask", [&](auto& c) { decode(200)(c), masked_dropout(c); }),
        group("one query, odd keys, dropout mask", [&](auto& c) { decode(31)(c), masked_dropout(c); }),
        group("one query, dropout mask of one number", one_number(false, false)),
        group("one query, dropout mask of one number for each batch entry", one_number(true, false)),
        group("one query, dropout mask of one number for each head", one_number(false, true)),
        group("one query and key, bias and dropout mask by head",
              [](auto& c) { c.s_q = c.s_kv = 1, masked_dropout(c), c.bias = c.mask = of_heads(c); }),
        group("one query, dropout mask of one head",
              [&](auto& c) { decode(32)(c), masked_dropout(c), (*c.mask)[1] = 1; }),
        group("one query, odd keys, mask of one row",
              [&](auto& c) {
                  decode(31)(c), masked_dropout(c), c.mask = Index4{1, 1, 1, c.s_kv};
              }),
        group("one query, alibi, dropout mask", [&](auto& c) { decode(32)(c), masked_dropout(c), c.alibi = true; }),
        group("half a tile of keys left", [](auto& c) { c.s_kv = 192; }),
        group("large scores", [](auto& c) { c.magnitude = 6.0; }),
        group("one of each", [](auto& c) { c.b = c.h_q = c.h_k = c.h_v = 1, c.s_q = c.s_kv = 2 + c.s_q % 4; }),
    };
}

// Backward with the number of rows.
std::vector<CaseGroup> bounded_groups() {
    auto const bounded = [](Change const& change) {
        return [=](AttentionCase& c) { packed(c), c.bounds_rows = true, change(c); };
    };
    auto const shared = [](AttentionCase& c) { c.h_q = 4, c.h_k = c.h_v = 2; };
    return {
        group("ragged, bounded rows", bounded([](auto&) {})),
        group("ragged, bounded rows, shared heads", bounded(shared)),
        group("ragged, bounded rows, other heads of V", bounded([](auto& c) { c.h_q = 4, c.h_k = 2, c.h_v = 1; })),
        group("ragged, bounded rows, results with gaps",
              bounded([=](auto& c) { shared(c), c.output_layout = Layout::RaggedGaps; })),
        group("ragged, bounded rows, dense stats", bounded([](auto& c) { c.stats_layout = Layout::Bhsd; })),
        group("ragged, bounded rows, Q, K and V in one buffer",
              bounded([](auto& c) { laid_out(Layout::RaggedPacked)(c), c.h_k = c.h_v = c.h_q; })),
        group("ragged, bounded rows, an empty sequence", bounded([=](auto& c) {
                  shared(c), c.len_q->front() = c.len_kv->front() = 0, laid_out(Layout::Ragged)(c);
              })),
        group("ragged, bounded rows, deterministic", bounded([=](auto& c) { shared(c), c.deterministic = true; })),
        group("ragged, bounded rows, heads of 72", bounded([=](auto& c) { shared(c), head_dims(72, 72)(c); })),
        group("ragged, bounded rows, heads of 192 and 128",
              bounded([=](auto& c) { shared(c), head_dims(192, 128)(c); })),
    };
}

void in_slots(AttentionCase& c) { packed(c), c.input_layout = Layout::RaggedSlots; }

std::vector<CaseGroup> ragged_groups() {
    return {
        group("ragged", packed),
        group("ragged, 64-bit offsets", [](auto& c) { packed(c), c.offset_type = DataType_t::INT64; }),
        group("ragged with gaps", [](auto& c) { packed(c), laid_out(Layout::RaggedGaps)(c); }),
        group("ragged inputs in slots", in_slots),
        group("ragged inputs in slots, causal", [](auto& c) { in_slots(c), c.right = 0; }),
        group("ragged inputs in slots, dense stats", [](auto& c) { in_slots(c), c.stats_layout = Layout::Bhsd; }),
        group("ragged, dense stats", [](auto& c) { packed(c), c.stats_layout = Layout::Bhsd; }),
        group("padding, ragged stats", [](auto& c) { lengths(c), c.stats_layout = Layout::Ragged; }),
        group("ragged, results with gaps", [](auto& c) { packed(c), c.output_layout = Layout::RaggedGaps; }),
        group("ragged and causal", [](auto& c) { packed(c), c.right = 0; }),
        group("ragged and causal, bottom right", [](auto& c) { packed(c), c.right = 0, bottom_right(c); }),
        group("ragged and window, bottom right", [](auto& c) { packed(c), c.right = 0, c.left = 20, bottom_right(c); }),
        group("ragged and bias", [](auto& c) { packed(c), biased(true, true, true)(c), c.d_bias = false; }),
        group("ragged and dBias", [](auto& c) { packed(c), biased(true, true, true)(c); }),
        group("ragged and alibi", [](auto& c) { packed(c), c.alibi = true, c.right = 0; }),
        group("ragged and dropout", [](auto& c) { packed(c), dropout(c); }),
        group("ragged, an empty sequence",
              [&](auto& c) { lengths(c), c.len_q->front() = c.len_kv->front() = 0, laid_out(Layout::Ragged)(c); }),
        group("ragged, heads of 192 and 128", [](auto& c) { packed(c), head_dims(192, 128)(c); }),
        group("ragged, K and V in one buffer", [](auto& c) { packed(c), laid_out(Layout::RaggedPacked)(c); }),
        group("ragged, Q, K and V in one buffer",
              [&](auto& c) {
                  c.s_kv = c.s_q, packed(c), c.len_kv = c.len_q;
                  laid_out(Layout::RaggedPacked)(c);
              }),
        group("ragged, heads of Q, K and V beside each other",
              [&](auto& c) {
                  c.s_kv = c.s_q, c.h_k = c.h_v = c.h_q, packed(c), c.len_kv = c.len_q;
                  laid_out(Layout::RaggedHeads)(c);
              }),
        group("ragged, heads of K and V beside each other",
              [](auto& c) { packed(c), laid_out(Layout::RaggedHeads)(c); }),
        group("ragged, other heads of V", [](auto& c) { packed(c), c.h_q = 4, c.h_k = 2, c.h_v = 1; }),
        group("ragged, more queries", [&](auto& c) { more_queries(c), packed(c); }),
        group(
            "ragged, one query", [&](auto& c) { c.s_q = 1, packed(c), c.len_q->front() = 1; }, "cudnn.s23"),
        group("ragged, one query, inference",
              [&](auto& c) { c.s_q = 1, packed(c), c.len_q->front() = 1, c.generate_stats = false; }),
        group("ragged, deterministic", [](auto& c) { packed(c), c.deterministic = true, c.right = 0; }),
        group("ragged, inference", [](auto& c) { packed(c), c.generate_stats = false; }),
        group("ragged, unified", [](auto& c) { packed(c), c.implementation = AttentionImplementation_t::UNIFIED; }),
    };
}

// Dense tensors in graphs with ragged ones.
std::vector<CaseGroup> partly_ragged_groups() {
    auto const dense_results = [](AttentionCase& c) { packed(c), c.output_layout = Layout::Bshd; };
    auto const dense_keys = [](AttentionCase& c) { packed(c), c.keys_layout = Layout::Bshd; };
    return {
        group("ragged inputs, dense results", dense_results),
        group("ragged inputs, dense results, causal", [=](auto& c) { dense_results(c), c.right = 0; }),
        group("ragged inputs, dense results, sequences outermost",
              [=](auto& c) { dense_results(c), c.output_layout = Layout::Sbhd; }),
        group("ragged inputs, dense results, an empty sequence",
              [=](auto& c) {
                  lengths(c), c.len_q->front() = c.len_kv->front() = 0;
                  laid_out(Layout::Ragged)(c), c.output_layout = Layout::Bshd;
              }),
        group("ragged inputs, dense results, ragged stats",
              [=](auto& c) { dense_results(c), c.stats_layout = Layout::Ragged; }),
        group("ragged inputs, dense results, bounded rows", [=](auto& c) { dense_results(c), c.bounds_rows = true; }),
        group("ragged inputs, dense results, deterministic",
              [=](auto& c) { dense_results(c), c.deterministic = true, c.right = 0; }),
        group("ragged inputs, dense results, 64-bit offsets",
              [=](auto& c) { dense_results(c), c.offset_type = DataType_t::INT64; }),
        group("ragged inputs, dense results, unified",
              [=](auto& c) { dense_results(c), c.implementation = AttentionImplementation_t::UNIFIED; }),
        group(
            "ragged inputs, dense results, head by head",
            [=](auto& c) { dense_results(c), c.output_layout = Layout::Bhsd; }, "cudnn.s22"),
        group("dense inputs, ragged results", [](auto& c) { packed(c), c.input_layout = Layout::Bshd; }),
        group("dense inputs, head by head, ragged results", [](auto& c) { packed(c), c.input_layout = Layout::Bhsd; }),
        group("ragged, dense keys", dense_keys),
        group("ragged, dense keys, head by head", [=](auto& c) { dense_keys(c), c.keys_layout = Layout::Bhsd; }),
        group("ragged, dense keys, causal, bottom right",
              [=](auto& c) { dense_keys(c), c.right = 0, bottom_right(c); }),
        group("ragged, dense keys, shared heads", [=](auto& c) { c.h_q = 4, c.h_k = c.h_v = 2, dense_keys(c); }),
        group("ragged, dense keys, one query",
              [=](auto& c) { c.s_q = 1, dense_keys(c), c.len_q->front() = 1, c.generate_stats = false; }),
        group("dense, ragged keys",
              [](auto& c) { lengths(c), laid_out(Layout::Bshd)(c), c.keys_layout = Layout::Ragged; }),
    };
}

std::vector<CaseGroup> modifier_groups() {
    using oracle::Modify;
    auto const capped = modified(Modify::Softcap, 2.5f);
    return {
        group("softcap", capped),
        group("softcap and causal", [&](auto& c) { capped(c), c.right = 0; }),
        group("softcap and window", [&](auto& c) { capped(c), c.left = 33, c.right = 0; }),
        group("softcap and padding", [&](auto& c) { capped(c), lengths(c), c.right = 0, bottom_right(c); }),
        group("softcap and bias", [&](auto& c) { capped(c), biased(true, true, true)(c), c.d_bias = false; }),
        group("softcap and dropout", [&](auto& c) { capped(c), dropout(c); }),
        group("softcap, one query", [&](auto& c) { capped(c), decode(200)(c); }),
        group("softcap, deterministic", [&](auto& c) { capped(c), c.deterministic = true; }),
        group("alibi of given slopes", modified(Modify::Slopes)),
        group("relative bias", modified(Modify::Relative, 0.05f)),
        group("distance by heads", modified(Modify::HeadDistance, 0.02f)),
        group("documents", modified(Modify::Documents)),
        group("documents, capped before", modified(Modify::CappedDocuments, 2.5f)),
        group("prefix", modified(Modify::Prefix)),
        group("dilated window", modified(Modify::Dilated)),
        group("causal by a modifier", modified(Modify::Causal)),
        group("causal by a modifier, predicates of INT32",
              [](auto& c) { c.modifier = Modify::Causal, c.integer_predicates = true; }),
        group("window by a modifier", [](auto& c) { modified(Modify::Window)(c), c.right = 20; }),
        group("causal by a modifier, right bound", [](auto& c) { c.modifier = Modify::Causal, c.right = 20; }),
        group("causal by a modifier, bottom right",
              [](auto& c) { c.modifier = Modify::Causal, c.right = 0, bottom_right(c); }),
        group("causal at the bottom right by a modifier", modified(Modify::BottomCausal)),
        group("window at the bottom right by a modifier", modified(Modify::BottomWindow)),
    };
}

Change several_pages(std::int64_t rows) {
    return [=](AttentionCase& c) { c.s_kv = 2500, paged(rows, rows)(c); };
}

std::vector<CaseGroup> paged_groups() {
    auto const pages = paged(16, 16);
    auto const one_query = [&](AttentionCase& c) { decode(1000)(c), pages(c), c.len_q->front() = 1; };
    return {
        group("pages of 16", pages),
        group("pages of 64", paged(64, 64)),
        group("pages of 128", paged(128, 128)),
        group("pages of 1", paged(1, 1)),
        group("pages of 8", paged(8, 8)),
        group("pages of 1024", paged(1024, 1024)),
        group("several pages of 256", several_pages(256)),
        group("several pages of 512", several_pages(512)),
        group("several pages of 1024", several_pages(1024)),
        group("pages of 16 and 64", paged(16, 64), "cudnn.s35"),
        group("pages, packed tables", [&](auto& c) { pages(c), c.paging.packed_tables = true; }),
        group("pages, tables in wider ones", [&](auto& c) { pages(c), c.paging.wide_tables = true; }),
        group("pages, length from the tables",
              [&](auto& c) { c.s_kv = (c.s_kv + 15) / 16 * 16, pages(c), c.paging.states_length = false; }),
        group("K alone in pages", paged(16, 0)),
        group("V alone in pages", paged(0, 16)),
        group("pages, head by head", [&](auto& c) { pages(c), laid_out(Layout::Bhsd)(c); }),
        group("pages and causal", [&](auto& c) { pages(c), c.right = 0; }),
        group("pages and causal, bottom right", [&](auto& c) { pages(c), c.right = 0, bottom_right(c); }),
        group("pages and window, bottom right", [&](auto& c) { pages(c), c.right = 0, c.left = 20, bottom_right(c); }),
        group("pages and bias", [&](auto& c) { pages(c), biased(true, true, true)(c), c.d_bias = false; }),
        group("pages and alibi", [&](auto& c) { pages(c), c.alibi = true, c.right = 0; }),
        group("pages and dropout", [&](auto& c) { pages(c), dropout(c); }),
        group("pages, an empty sequence", [&](auto& c) { pages(c), c.len_q->front() = c.len_kv->front() = 0; }),
        group("pages, ragged queries", [&](auto& c) { pages(c), laid_out(Layout::Ragged)(c); }),
        group("pages, ragged queries, causal",
              [&](auto& c) { pages(c), laid_out(Layout::Ragged)(c), c.right = 0, bottom_right(c); }),
        group("pages, ragged queries, dense results",
              [&](auto& c) { pages(c), laid_out(Layout::Ragged)(c), c.output_layout = Layout::Bshd; }),
        group("pages, heads of 192 and 128", [&](auto& c) { pages(c), head_dims(192, 128)(c); }),
        group("pages, heads of 256", [&](auto& c) { pages(c), head_dims(256, 256)(c); }),
        group("pages, as many keys as a head is wide", [&](auto& c) { c.s_kv = c.d_qk, pages(c); }),
        group("pages, one query", one_query),
        group("pages, one query, pages of 1", [&](auto& c) { one_query(c), c.paging.k_rows = c.paging.v_rows = 1; }),
        group("pages, one query, bias", [&](auto& c) { one_query(c), biased(true, true, true)(c), c.d_bias = false; }),
        group("pages, one query, packed tables", [&](auto& c) { one_query(c), c.paging.packed_tables = true; }),
        group("pages, inference", [&](auto& c) { pages(c), c.generate_stats = false; }),
        group("pages, unified", [&](auto& c) { pages(c), c.implementation = AttentionImplementation_t::UNIFIED; }),
    };
}

Change with_sink(Change const& change) {
    return [=](AttentionCase& c) { sink(c), change(c); };
}

std::vector<CaseGroup> sink_groups() {
    return {
        group("sink", sink),
        group("sink of Q's type", with_sink([](auto& c) { c.sink = c.type; }), "cudnn.s37"),
        group("sink above all scores", with_sink([](auto& c) { c.sink_shift = 30.0; })),
        group("sink, inference", with_sink([](auto& c) { c.generate_stats = false; })),
        group("sink without its gradient", [](auto& c) { sink(c), c.d_sink = false; }),
        group("sink and causal", with_sink([](auto& c) { c.right = 0; })),
        group("sink and causal, bottom right", with_sink([](auto& c) { c.right = 0, bottom_right(c); })),
        group("sink and window", with_sink([](auto& c) { c.left = 33, c.right = 0; })),
        group("sink and bias", with_sink(biased(true, true, true))),
        group("sink and alibi", with_sink([](auto& c) { c.alibi = true, c.right = 0; })),
        group("sink and dropout", with_sink([](auto& c) { dropout(c), c.d_sink = false; })),
        group("sink and dropout mask", with_sink(masked_dropout)),
        group("sink and padding", with_sink(lengths)),
        group("sink and stale padding", with_sink([](auto& c) { lengths(c), c.stale_padding = true; })),
        group("sink, padding and causal", with_sink([](auto& c) { lengths(c), c.right = 0; })),
        group("sink, sequences without keys", with_sink([](auto& c) { lengths(c), c.len_kv->front() = 0; })),
        group("sink and ragged", with_sink([](auto& c) { packed(c), c.d_sink = false; })),
        group("sink, ragged and causal", with_sink([](auto& c) { packed(c), c.right = 0, c.d_sink = false; })),
        group("sink, one query", with_sink(decode(384))),
        group("sink, one query, many keys", with_sink(decode(4096))),
        group("sink, one query and padding", with_sink([](auto& c) { decode(384)(c), lengths(c); })),
        group("sink, heads of 192 and 128", with_sink(head_dims(192, 128))),
        group("dSink, deterministic", with_sink([](auto& c) { c.deterministic = true; })),
        group("dSink, deterministic and padding", with_sink([](auto& c) { c.deterministic = true, lengths(c); })),
        group("dSink and dropout", with_sink(dropout)),
        group("dSink and ragged", with_sink(packed)),
        group("dSink, ragged inputs, dense results",
              with_sink([](auto& c) { packed(c), c.output_layout = Layout::Bshd; })),
        group("sink, deterministic", with_sink([](auto& c) { c.deterministic = true, c.right = 0, c.d_sink = false; })),
    };
}

std::vector<CaseGroup> softmax_groups() {
    auto const both = [](AttentionCase& c) { c.generate_stats = false, c.logit_max = c.score_sum_exp = true; };
    return {
        group("max and sum_exp", both),
        group("max alone", [](auto& c) { c.generate_stats = false, c.logit_max = true; }),
        group("sum_exp alone", [](auto& c) { c.generate_stats = false, c.score_sum_exp = true; }),
        group("max, sum_exp and causal", [=](auto& c) { both(c), c.right = 0; }),
        group("max, sum_exp and bias", [=](auto& c) { both(c), biased(true, true, true)(c); }),
        group("max, sum_exp and dropout", [=](auto& c) { both(c), dropout(c); }),
        group("max, sum_exp and padding", [=](auto& c) { both(c), lengths(c); }),
        group("max, sum_exp, masked rows", [=](auto& c) { both(c), lengths(c), c.len_kv->front() = 0; }),
        group("max, sum_exp and ragged", [=](auto& c) { both(c), packed(c); }),
        group("max, sum_exp, dense, and ragged", [=](auto& c) { both(c), packed(c), c.stats_layout = Layout::Bhsd; }),
        group("max and ragged", [=](auto& c) { c.generate_stats = false, c.logit_max = true, packed(c); }),
        group("sum_exp and ragged", [=](auto& c) { c.generate_stats = false, c.score_sum_exp = true, packed(c); }),
        group(
            "max, sum_exp, ragged, one query", [=](auto& c) { c.s_q = 1, both(c), packed(c), c.len_q->front() = 1; },
            "cudnn.s23"),
        group("max, sum_exp, one query", [=](auto& c) { both(c), decode(4096)(c); }),
        group(
            "stats and max", [](auto& c) { c.logit_max = true; }, "cudnn.s30"),
        group(
            "stats and sum_exp", [](auto& c) { c.score_sum_exp = true; }, "cudnn.s30"),
        group("sink, max and sum_exp", with_sink(both), "cudnn.s31"),
    };
}

std::vector<CaseGroup> wide_head_groups() {
    auto const wide = [](Change const& change) { return [=](AttentionCase& c) { head_dims(256, 256)(c), change(c); }; };
    return {
        group("heads of 72", head_dims(72, 72)),
        group("heads of 248", head_dims(248, 248)),
        group("heads of 256, causal", wide([](auto& c) { c.right = 0; })),
        group("heads of 256, padding", wide(lengths)),
        group("heads of 256, bias and dBias", wide(biased(true, true, true))),
        group("heads of 256, dropout", wide(dropout)),
        group("heads of 256, ragged", wide(packed)),
        group("heads of 256 and 128, ragged", wide([](auto& c) { c.d_v = 128, packed(c); }), {}, "cudnn.s80"),
        group("heads of 256 and 136, ragged", wide([](auto& c) { c.d_v = 136, packed(c); })),
        group("heads of 192 and 72, ragged", [](auto& c) { packed(c), head_dims(192, 72)(c); }),
        group("heads of 256, softcap", wide(modified(oracle::Modify::Softcap, 2.5f))),
        group("heads of 256, deterministic", wide([](auto& c) { c.deterministic = true; })),
    };
}

// Cases of forward alone.
std::vector<CaseGroup> float_groups() {
    auto const floats = [](std::string const& name, Change const& change, std::string limit = {}) {
        auto const with_floats = [&](AttentionCase& c) {
            c.type = c.result_type = c.bias_type = c.mask_type = DataType_t::FLOAT;
            change(c);
        };
        return group("floats" + name, with_floats, std::move(limit), "cudnn.s03");
    };
    return {
        floats("", [](auto&) {}),
        floats(", causal", [](auto& c) { c.right = 0; }),
        floats(", window, bottom right", [](auto& c) { c.left = 33, c.right = 0, bottom_right(c); }),
        floats(", padding", lengths),
        floats(", bias", [](auto& c) { biased(true, true, true)(c), c.d_bias = false; }),
        floats(", alibi and causal", [](auto& c) { c.alibi = true, c.right = 0; }),
        floats(", dropout", dropout, "cudnn.s76"),
        floats(", dropout mask", masked_dropout, "cudnn.s76"),
        floats(", softcap", modified(oracle::Modify::Softcap, 2.5f)),
        floats(", sink", [](auto& c) { c.sink = DataType_t::FLOAT; }),
        floats(", max and sum_exp", [](auto& c) { c.generate_stats = false, c.logit_max = c.score_sum_exp = true; }),
        floats(", ragged", packed),
        floats(", pages of 16", paged(16, 16)),
        floats(", one query", decode(200), "cudnn.s78"),
        floats(", one query, no shared heads", [](auto& c) { decode(200)(c), c.h_k = c.h_v = c.h_q; }),
        floats(", key and value heads differ", [](auto& c) { c.h_q = 4, c.h_k = 2, c.h_v = 1; }),
        floats(", heads of 192 and 128", head_dims(192, 128)),
        floats(", heads of 256 and 128", head_dims(256, 128)),
        floats(", heads of 256", head_dims(256, 256), "cudnn.s77"),
    };
}

// Cases of forward alone.
std::vector<CaseGroup> dynamic_groups() {
    auto const dynamic = [](std::string const& name, Change const& change) {
        auto const with_dynamic_shapes = [&](AttentionCase& c) { c.dynamic_shapes = true, change(c); };
        return group("dynamic shapes" + name, with_dynamic_shapes, {}, "cudnn.s84");
    };
    return {
        dynamic("", [](auto&) {}),
        dynamic(", causal", [](auto& c) { c.right = 0; }),
        dynamic(", window, bottom right", [](auto& c) { c.left = 33, c.right = 0, bottom_right(c); }),
        dynamic(", padding", lengths),
        dynamic(", bias", [](auto& c) { biased(true, true, true)(c), c.d_bias = false; }),
        dynamic(", alibi", [](auto& c) { c.alibi = true; }),
        dynamic(", dropout", dropout),
        dynamic(", softcap", modified(oracle::Modify::Softcap, 2.5f)),
        dynamic(", sink", [](auto& c) { c.sink = DataType_t::FLOAT; }),
        dynamic(", ragged", packed),
        dynamic(", pages of 16", paged(16, 16)),
        dynamic(", one query", decode(200)),
    };
}

std::vector<CaseGroup> variant_groups() {
    return {
        group("inference", [](auto& c) { c.generate_stats = false; }),
        group("deterministic", [](auto& c) { c.deterministic = true, c.right = 0; }),
        group("unified", [](auto& c) { c.implementation = AttentionImplementation_t::UNIFIED; }),
        group("unified with lengths",
              [](auto& c) { c.implementation = AttentionImplementation_t::UNIFIED, lengths(c); }),
        group(
            "block mask", [](auto& c) { c.block_mask = true; }, "cudnn.s55"),
        group("heads of 20 in 24",
              [](auto& c) {
                  head_dims(24, 24)(c), c.zero_columns = 4;
                  c.scale_value = static_cast<float>(1.0 / std::sqrt(20.0));
              }),
        group("keyed by tensor", [](auto& c) { c.explicit_uids = false; }),
    };
}

}  // namespace

std::vector<CaseGroup> gpu_case_groups() {
    std::vector<CaseGroup> all = {group("plain", [](auto&) {})};
    for (auto const& groups :
         {mask_groups(),          band_groups(),     score_groups(),     bias_gradient_groups(), dropout_groups(),
          scores_layout_groups(), shape_groups(),    one_query_groups(), more_queries_groups(),  ragged_groups(),
          partly_ragged_groups(), bounded_groups(),  paged_groups(),     modifier_groups(),      sink_groups(),
          softmax_groups(),       variant_groups(),  dynamic_groups(),   wide_head_groups(),     float_groups(),
          fp8_option_groups(),    fp8_shape_groups()}) {
        all.insert(all.end(), groups.begin(), groups.end());
    }
    return all;
}

}  // namespace sdpa_test
