// A call of one of the functions as a value: its arguments, under one name for all of them.
#pragma once

#include <sdpa_graph/neighborhood.h>

#include "attention/neighborhood_operands.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sdpa_graph::neighborhood {

namespace fe = cudnn_frontend;
using fe::DataType_t;
using fe::error_t;
using fe::neighborhood::Function;
using fe::neighborhood::Port;
using fe::neighborhood::TokenSizes;

// A tuple that changes no result.
struct Hint {
    char const* name;
    std::vector<std::int64_t> sizes;
};

struct Call {
    Function function;
    fe::neighborhood::Options options;
    fe::neighborhood::OfPorts<Tensor_view const*> tensors;  // null where none was passed
    float attn_scale = 1.0f;                                // of the fused functions
    std::vector<Hint> hints;
    Place const* place;

    std::size_t rank() const { return options.kernel_size.size(); }
    bool is_fused() const { return fe::neighborhood::has_heads_last(function); }
    std::string function_name() const;  // such as na2d_qk_forward
    Tensor_view const* at(Port port) const { return tensors[port]; }
    bool has(Port port) const { return at(port) != nullptr; }
    Tensor_view const& leading() const { return *at(fe::neighborhood::leading_port(function)); }
    void set(Port port, Tensor_view const& view) { tensors[port] = &view; }
    void set(Port port, Optional_tensor const& view) {
        if (view) set(port, *view);
    }
};

// The name in the function's signature.
char const* name_of(Call const& call, Port port);

// Empty where the leading tensor has other dims than the function needs.
std::optional<TokenSizes> sizes_of(Call const& call);

std::size_t dims_count(Call const& call, Port port);

}  // namespace sdpa_graph::neighborhood
