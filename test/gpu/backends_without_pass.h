// The backends of a program that tries cuDNN without one of its legalization passes.
#pragma once

#include <string>

namespace sdpa_test {

// Before the first graph is planned. It is for the whole process: graphs that differ in nothing else share their plans.
void leave_out_pass_of(std::string const& quirk);

}  // namespace sdpa_test
