// The backends of a program that tries cuDNN without one of its legalization passes.
#pragma once

#include <string>

namespace sdpa_test {

// Call it before the first graph is planned. It applies to the whole process: graphs that differ in nothing else share
// their plans.
void leave_out_pass_of(std::string const& quirk);

}  // namespace sdpa_test
