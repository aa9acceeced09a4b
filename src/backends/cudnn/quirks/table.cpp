#include "core/immortal.h"
#include "cudnn/quirks/quirk_rows.h"
#include "cudnn/quirks/versions.h"

#include <algorithm>
#include <vector>

namespace cudnn_frontend::quirks {

static std::vector<Quirk> make_table() {
    std::vector<Quirk> table;
    for (auto const rows : {general_limits(), type_limits(), head_dim_limits(), layout_limits(), mask_limits(),
                            column_limits(), bias_gradient_limits(), softmax_limits(), modifier_limits(),
                            one_query_limits(), ragged_limits(), unified_limits(), float_limits(), fp8_limits(),
                            block_scale_limits(), move_limits(), engine_bars(), rewrites()}) {
        table.insert(table.end(), rows.begin(), rows.end());
    }
    std::ranges::stable_sort(table, {}, [](Quirk const& quirk) { return std::string_view(quirk.id); });
    return table;
}

std::span<Quirk const> quirks() {
    static core::Immortal<std::vector<Quirk>> const table(make_table());
    return *table;
}

char const* to_text(Evidence evidence) {
    switch (evidence) {
        case Evidence::NoEngine: return "no engine";
        case Evidence::WrongNumbers: return "wrong numbers";
        case Evidence::Crash: return "crash";
        case Evidence::Hang: return "hang";
        case Evidence::AskedOffline: return "asked offline";
        case Evidence::Slower: return "slower";
        case Evidence::Untried: return "untried";
        case Evidence::ToldByNvidia: break;
    }
    return "stated by NVIDIA";
}

bool is_fatal_to_ask(Quirk const& quirk) {
    bool const ends_process = quirk.evidence == Evidence::Crash || quirk.evidence == Evidence::Hang;
    return ends_process && quirk.verified.where == kOffline;
}

bool may_have_engines(Quirk const& quirk) {
    return quirk.evidence != Evidence::NoEngine && quirk.evidence != Evidence::AskedOffline && !is_fatal_to_ask(quirk);
}

std::string to_text(Versions const& versions) {
    if (versions.from == 0) return versions.until == 0 ? "every" : "before " + version_text(versions.until);
    std::string const from = version_text(versions.from);
    return versions.until == 0 ? "from " + from : from + " to below " + version_text(versions.until);
}

std::string Architectures::to_text() const {
    if (families_ == kEvery.families_) return "every";
    constexpr char const* kNames[] = {"before 8.0", "8.x", "9.0", "10.x and 11.x", "12.x"};
    std::string text;
    for (std::size_t family = 0; family < std::size(kNames); ++family) {
        if ((families_ >> family & 1) != 0) text += (text.empty() ? "" : ", ") + std::string(kNames[family]);
    }
    return text;
}

}  // namespace cudnn_frontend::quirks
