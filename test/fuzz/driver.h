// The interface of a fuzz driver. Bytes become a case, a self-contained text that can be kept as a file; the case is
// then checked from its text. libfuzzer_main.cpp and seeded_main.cpp call the same two functions.
#pragma once

#include "fuzz/bytes.h"

#include <cstdint>
#include <string>

namespace fuzz {

extern char const* const kDriverName;

// Deterministic: the same bytes give the same text.
std::string make_case(Bytes& bytes);
// The fault that was found; empty if there is none.
std::string check_case(std::string const& text);

// Counts for the summary at the end.
struct Figures {
    std::uint64_t inputs = 0;
    std::uint64_t valid = 0;        // inputs that the library accepted
    std::uint64_t executions = 0;   // of graphs
    std::uint64_t comparisons = 0;  // of outputs, texts and states that must be equal
    std::string text() const;
};
Figures& figures();

// Checks cases. Writes each to a file first, so that it is known if it ends the process. If there is a fault, prints it
// and keeps the file: <driver>-<number> in the folder that SDPA_FUZZ_FOLDER names.
class Watch {
   public:
    Watch();
    ~Watch();  // prints the figures
    bool passes(std::string const& text);

   private:
    std::string path_;  // prefix of the files' names
};

}  // namespace fuzz
