#include "attention/neighborhood_windows.h"

#include "support/catch.h"

#include <algorithm>
#include <vector>

using namespace cudnn_frontend;
using neighborhood::Axis;

namespace {

std::vector<Axis> axes_up_to(long long most) {
    std::vector<Axis> axes;
    for (long long length = 1; length <= most; ++length) {
        for (long long dilation = 1; dilation <= length; ++dilation) {
            for (long long kernel = 1; kernel * dilation <= length; ++kernel) {
                axes.push_back({length, kernel, dilation, false});
                axes.push_back({length, kernel, dilation, true});
            }
        }
    }
    return axes;
}

// Follows the definition, one key after the other: the group's members in order, of which a window is a run.
bool sees(Axis const& axis, long long query, long long key) {
    if ((query - key) % axis.dilation != 0) return false;
    std::vector<long long> members;
    for (long long at = query % axis.dilation; at < axis.length; at += axis.dilation) members.push_back(at);
    auto const place_of = [&](long long position) {
        return std::find(members.begin(), members.end(), position) - members.begin();
    };
    auto const q = place_of(query), k = place_of(key);
    if (axis.is_causal) return k <= q && q - k < axis.kernel;
    auto const most = static_cast<long long>(members.size()) - axis.kernel;
    auto const first = std::min<long long>(std::max<long long>(q - axis.kernel / 2, 0), most);
    return k >= first && k < first + axis.kernel;
}

bool has(neighborhood::Positions const& positions, Axis const& axis, long long position) {
    long long const steps = position - positions.first;
    return steps >= 0 && steps % axis.dilation == 0 && steps / axis.dilation < positions.count;
}

}  // namespace

TEST_CASE("a neighborhood's windows and their inverse are the definition's") {
    for (Axis const& axis : axes_up_to(24)) {
        INFO("length " << axis.length << ", kernel " << axis.kernel << ", dilation " << axis.dilation
                       << (axis.is_causal ? ", causal" : ""));
        bool keys_agree = true, queries_agree = true;
        for (long long query = 0; query < axis.length; ++query) {
            for (long long key = 0; key < axis.length; ++key) {
                bool const is_seen = sees(axis, query, key);
                keys_agree = keys_agree && has(keys_of(axis, query), axis, key) == is_seen;
                queries_agree = queries_agree && has(queries_of(axis, key), axis, query) == is_seen;
            }
        }
        CHECK(keys_agree);
        CHECK(queries_agree);
    }
}

TEST_CASE("a neighborhood's bias is found by the distance of key and query") {
    for (Axis const& axis : axes_up_to(24)) {
        for (long long query = 0; query < axis.length; ++query) {
            long long const first = keys_of(axis, query).first;
            long long const distance = first / axis.dilation - query / axis.dilation;
            REQUIRE(first_bias_of(axis, query) == distance + axis.kernel - 1);
            REQUIRE(first_bias_of(axis, query) >= 0);
            REQUIRE(first_bias_of(axis, query) + keys_of(axis, query).count <= 2 * axis.kernel - 1);
        }
    }
}
