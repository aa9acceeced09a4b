// The driver for clang's libFuzzer, which chooses bytes by the code that they reach.
#include "fuzz/driver.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static fuzz::Watch watch;
    fuzz::Bytes bytes({data, size});
    if (!watch.passes(fuzz::make_case(bytes))) std::abort();
    return 0;
}
