// The score modifiers of support/modifiers on the GPU.
#pragma once

namespace sdpa_test {

// Runs each, forward and backward, by the engine that planning chooses and by the library's own engine alone, prints a
// line for each run and returns whether all results are right. The own engine may refuse none on a GPU that has it.
bool check_named_modifiers(bool has_own_engine);
// Runs those with terms of the distance by the own engine, with each number of columns and next to a bias.
bool check_distance_modifiers();

}  // namespace sdpa_test
