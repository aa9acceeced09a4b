// What a fuzz driver is. Bytes become a case, a text that stands by itself and can be kept as a file; the case is then
// checked from its text. libfuzzer_main.cpp and seeded_main.cpp feed the same two functions.
#pragma once

#include "fuzz/bytes.h"

#include <cstdint>
#include <string>

namespace fuzz {

extern char const* const kDriverName;

// The same text for the same bytes.
std::string make_case(Bytes& bytes);
// What is wrong with the library; empty if nothing is.
std::string check_case(std::string const& text);

// What was tried, for the summary at the end.
struct Figures {
    std::uint64_t inputs = 0;
    std::uint64_t valid = 0;        // inputs that the library accepted
    std::uint64_t executions = 0;   // of graphs
    std::uint64_t comparisons = 0;  // of outputs, texts and states that must agree
    std::string text() const;
};
Figures& figures();

// Checks cases, each while a file holds its text, so that it is known which one ends the process. Where something is
// wrong, the fault is printed and the file is kept: <driver>-<number> in the folder that SDPA_FUZZ_FOLDER names.
class Watch {
   public:
    Watch();
    ~Watch();  // prints the figures
    bool passes(std::string const& text);

   private:
    std::string path_;  // what the files' names start with
};

}  // namespace fuzz
