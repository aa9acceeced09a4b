// The programs that a graph is offered for rewrites that its user lists, and the remarks on those that do not apply.
#include "rewrite/offers.h"

#include "unit/rewrite/attention_graphs.h"

using namespace test;
using cudnn_frontend::Rewrite_t;

namespace {

class NothingIsKnown : public rewrite::Costs {
   public:
    std::optional<double> of(ValidatedGraph const&) const override { return {}; }
    std::optional<double> of(rewrite::Joint const&) const override { return {}; }
};

rewrite::Offers offers_for(GraphSpec const& spec, std::vector<Rewrite_t> const& listed) {
    Validation const validation = validate(spec);
    REQUIRE(validation.report.to_text() == "");
    rewrite::Wishes const wishes{.listed = listed};
    return rewrite::offers_for(*validation.graph, {wishes, false, NothingIsKnown()});
}

}  // namespace

TEST_CASE("each listed rewrite of attention says that it does not apply to a graph of anything else") {
    std::vector<Rewrite_t> const listed = {Rewrite_t::FEW_QUERIES, Rewrite_t::NEIGHBORHOOD_BAND, Rewrite_t::BANDS};
    auto const refused = [](std::string const& rewrite) {
        return test::refusal(rewrite, {"rewrite.c01: a graph of one node, of attention or its backward"});
    };
    auto const line = offers_for(line_graph(NodeKind::NeighborhoodForward, {}), listed);
    CHECK(line.preferred.size() == 1);
    CHECK(line.remarks == std::vector{refused("FEW_QUERIES"), refused("BANDS")});
    auto const chain = offers_for(chain_graph(), {Rewrite_t::SLICES});
    CHECK(chain.preferred.empty());
    CHECK(chain.remarks == std::vector{refused("SLICES")});
}

TEST_CASE("a rewrite that applies is offered without a remark") {
    auto const offers = offers_for(forward_graph({}), {Rewrite_t::FEW_QUERIES});
    CHECK(!offers.preferred.empty());
    CHECK(offers.remarks.empty());
}
