// Which forms of kernels compute a problem of neighborhood attention.
#pragma once

#include "kernels/neighborhood/neighborhood_kernel.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_frontend::kernels {

char const* to_string(NeighborhoodForm form);  // such as tiles

// The forms in which a graph gets engines, best first.
inline constexpr std::array kNeighborhoodForms = {NeighborhoodForm::Warpgroups, NeighborhoodForm::Tiles,
                                                  NeighborhoodForm::Tokens};

// The reason why the problem, which passes check(), cannot be computed in the form; empty where it can.
std::string reason_against(NeighborhoodKernelProblem const& problem, NeighborhoodForm form, DeviceFacts const& device);

// Whether it is part of attention, or of its gradients, as one function.
bool is_fused(NeighborhoodWork work);
// Whether it goes over the rows of tensors once, in no tiles.
bool is_of_rows(NeighborhoodWork work);
// Whether the bits are the same in every run.
bool is_deterministic(NeighborhoodWork work);

// Whether the tensor has a row for each token, with the columns of all.
bool is_rows(NeighborhoodTensor tensor);
// Whether all rows have their columns in turn, and begin at a multiple of 16 bytes where the first one does.
bool has_aligned_rows(NeighborhoodKernelProblem const& problem);

inline constexpr std::int64_t kVectorBytes = 16;

// The alignment in bytes of each pointer: of the operands that exist, in order.
std::vector<std::size_t> alignments_of(NeighborhoodKernelProblem const& problem, NeighborhoodForm form);

}  // namespace cudnn_frontend::kernels
