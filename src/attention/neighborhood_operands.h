// The functions of neighborhood attention, and their tensors: nodes, the op graph and backends all need both.
#pragma once

#include "attention/neighborhood_windows.h"
#include "core/dims.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cudnn_frontend::neighborhood {

// The options that the functions of neighborhood attention share. Lists that a program may leave out are empty then.
struct Options {
    core::Dims kernel_size;       // for each axis of space
    core::Dims dilation;          // empty: 1 along each
    std::vector<bool> is_causal;  // empty: along none

    friend bool operator==(Options const&, Options const&) = default;
};

// Whether the lists have an entry for each axis, or none where they may, and each window fits its axis.
bool fits(Options const& options, core::Dims const& space);

// The axes of a space that the options fit.
std::vector<Axis> axes_of(Options const& options, core::Dims const& space);

// The slots of a window; empty on overflow.
inline std::optional<std::int64_t> window_size(Options const& options) { return core::volume(options.kernel_size); }

enum class Function { Forward, Backward, Qk, QkBackward, Av, AvBackward };
inline constexpr std::size_t kFunctions = 6;

enum Port : int { Q, K, V, RelPosBias, Attn, O, Stats, DO, DAttn, DQ, DK, DV, DRelPosBias, PortCount };

// An item for each port.
template <class T>
class OfPorts {
   public:
    constexpr OfPorts() = default;
    constexpr explicit OfPorts(T const& value) { values_.fill(value); }

    constexpr T& operator[](Port port) { return values_[static_cast<std::size_t>(port)]; }
    constexpr T const& operator[](Port port) const { return values_[static_cast<std::size_t>(port)]; }

    friend bool operator==(OfPorts const&, OfPorts const&) = default;

   private:
    std::array<T, PortCount> values_{};
};

// The use of the tensor at a port in a function.
enum class Use { None, Reads, MayRead, Makes, MayMake };

struct OperandUses {
    Port port;
    char const* label;
    std::array<Use, kFunctions> uses;

    constexpr Use use_in(Function function) const { return uses[static_cast<std::size_t>(function)]; }
};

constexpr bool is_read(Use use) { return use == Use::Reads || use == Use::MayRead; }
constexpr bool is_made(Use use) { return use == Use::Makes || use == Use::MayMake; }
constexpr bool is_required(Use use) { return use == Use::Reads || use == Use::Makes; }

// The functions in their order.
// clang-format off
inline constexpr OperandUses kOperands[] = {
    {Q,             "Q",             {Use::Reads,   Use::Reads,   Use::Reads,   Use::Reads,   Use::None,  Use::None}},
    {K,             "K",             {Use::Reads,   Use::Reads,   Use::Reads,   Use::Reads,   Use::None,  Use::None}},
    {V,             "V",             {Use::Reads,   Use::Reads,   Use::None,    Use::None,    Use::Reads, Use::Reads}},
    {RelPosBias,    "Rel_pos_bias",  {Use::MayRead, Use::MayRead, Use::MayRead, Use::None,    Use::None,  Use::None}},
    {Attn,          "Attn",          {Use::None,    Use::None,    Use::Makes,   Use::None,    Use::Reads, Use::Reads}},
    {O,             "O",             {Use::Makes,   Use::Reads,   Use::None,    Use::None,    Use::Makes, Use::None}},
    {Stats,         "Stats",         {Use::MayMake, Use::Reads,   Use::None,    Use::None,    Use::None,  Use::None}},
    {DO,            "dO",            {Use::None,    Use::Reads,   Use::None,    Use::None,    Use::None,  Use::Reads}},
    {DAttn,         "dAttn",         {Use::None,    Use::None,    Use::None,    Use::Reads,   Use::None,  Use::Makes}},
    {DQ,            "dQ",            {Use::None,    Use::Makes,   Use::None,    Use::Makes,   Use::None,  Use::None}},
    {DK,            "dK",            {Use::None,    Use::Makes,   Use::None,    Use::Makes,   Use::None,  Use::None}},
    {DV,            "dV",            {Use::None,    Use::Makes,   Use::None,    Use::None,    Use::None,  Use::Makes}},
    {DRelPosBias,   "dRel_pos_bias", {Use::None,    Use::MayMake, Use::None,    Use::MayMake, Use::None,  Use::None}},
};
// clang-format on

// The sizes of tokens {B, space, H, D} in the fused functions, {B, H, space, D} in the two products.
struct TokenSizes {
    std::int64_t batches, heads, width;
    core::Dims space;
};

inline constexpr std::size_t kMostAxes = 3;  // of space

constexpr bool has_heads_last(Function function) {
    return function == Function::Forward || function == Function::Backward;
}

// The port whose dims the others follow: Q, or V where there is no Q.
constexpr Port leading_port(Function function) {
    return function == Function::Av || function == Function::AvBackward ? V : Q;
}

// Reads them from the dims at the leading port, which are four to six.
TokenSizes sizes_of(Function function, core::Dims const& leading);

// The dims of the tensor at a port; empty where they have the kernel's sizes and these are none, or too large.
core::Dims dims_of(Function function, TokenSizes const& sizes, Options const& options, Port port);

}  // namespace cudnn_frontend::neighborhood
