// The scope of a node of neighborhood attention: its tensors with heads first, values of their shapes, and the products
// over windows.
#pragma once

#include "expand/scope.h"
#include "nodes/neighborhood/neighborhood_schema.h"

namespace cudnn_frontend::expand {

using ir::ValueId;

// Comments on it write b for a batch entry, h for a head, i for a query, j for a key and d for an element of a head; w
// is a slot of a query's window, in which the key k(i,w) is visible to it. Every value has b and h too.
class NeighborhoodScope : public NodeScope {
   public:
    explicit NeighborhoodScope(NodeScope const& at);

    neighborhood::Options const& options() const { return *nodes::neighborhood_fields(node()); }
    double scale() const;  // of scores, in the fused functions

    // New values, named as all of the node's: {B, H, space, columns}.
    ValueId add_tokens(std::string const& name) { return add_virtual(name, rows(sizes_.width), DataType_t::FLOAT); }
    ValueId add_slots(std::string const& name) { return add_virtual(name, slot_dims(), DataType_t::FLOAT); }
    ValueId add_numbers(std::string const& name) { return add_virtual(name, rows(1), DataType_t::FLOAT); }

    // The user's tokens {B, H, space, D}, wherever their heads are.
    ValueId tokens(int port, std::string const& name);
    // The value where a result of such tokens is made, which store() then brings to the user's tensor.
    ValueId result(int port, std::string const& name);
    void store(ValueId result, int port);
    // Stats as {B, H, space, 1}.
    ValueId stats();
    void store_stats(ValueId numbers);

    // slots[i,w] = sum_d queries[i,d] keys[k(i,w),d], and `without_key` where there is no key.
    ValueId multiply(ValueId queries, ValueId keys, double without_key, ValueId slots);
    // y[i,d] = sum_w slots[i,w] keys[k(i,w),d]
    ValueId weigh_keys(ValueId slots, ValueId keys, ValueId y);
    // y[j,d] = sum over k(i,w) = j of slots[i,w] queries[i,d]
    ValueId weigh_queries(ValueId slots, ValueId queries, ValueId y);
    // bias[i,w], the same for all b.
    ValueId bias();
    // The bias' gradient from that of the scores, where it is asked for.
    void sum_bias_gradient(ValueId slots);

   private:
    core::Dims rows(std::int64_t columns) const;
    core::Dims slot_dims() const { return rows(*neighborhood::window_size(options())); }
    bool has_heads_last() const { return nodes::has_heads_last(node()); }

    nodes::NeighborhoodSizes sizes_;
};

}  // namespace cudnn_frontend::expand
