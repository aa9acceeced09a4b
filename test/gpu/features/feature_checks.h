// Shared by the parts of gpu_features: expectations that are printed and counted, and the case that they start from.
#pragma once

#include "gpu/device_mirror.h"

#include <string>

namespace sdpa_test {

using Error = cudnn_frontend::error_object;

void expect(bool holds, std::string const& what);
void expect_good(Error const& error, std::string const& what);
// Whether there is a plan. Limits of the support table may refuse it without fault, but not on compute capability 9.0,
// where all graphs that are checked here have plans.
bool expect_plan(Error const& error, std::string const& what);
void expect_bad(Error const& error, char const* part, std::string const& what);
void expect_near(HostTensor const& actual, HostTensor const& wanted, std::string const& name);
int failures();

// Causality skips tiles, ALiBi brings a table, lengths come from the device.
AttentionCase feature_case();

// feature_numbers.cpp
void check_determinism(GpuStream const& gpu);
void check_deterministic_program(GpuStream const& gpu);
void check_dropout_replay(GpuStream const& gpu);
void check_dropout_offsets(GpuStream const& gpu);
void check_indices(GpuStream const& gpu);

// feature_other_shapes.cpp
void check_shape_overrides(GpuStream const& gpu);
void check_resized_plans(GpuStream const& gpu);

// feature_verification.cpp
void check_verification(GpuStream const& gpu);

}  // namespace sdpa_test
