#include "fuzz/driver.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>

namespace fuzz {
namespace {

void write_file(std::string const& path, std::string const& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush()) std::cerr << "cannot write " << path << "\n";
}

// The library must not throw, whatever the input.
std::string fault_of(std::string const& text) {
    try {
        return check_case(text);
    } catch (std::exception const& error) {
        return std::string("an exception: ") + error.what();
    } catch (...) {
        return "an exception";
    }
}

}  // namespace

std::string Figures::text() const {
    std::uint64_t const percent = inputs == 0 ? 0 : 100 * valid / inputs;
    return std::string(kDriverName) + ": " + std::to_string(inputs) + " inputs, " + std::to_string(percent) +
           " % of them valid, " + std::to_string(executions) + " executions, " + std::to_string(comparisons) +
           " comparisons";
}

Figures& figures() {
    static Figures all;
    return all;
}

Watch::Watch() {
    char const* const folder = std::getenv("SDPA_FUZZ_FOLDER");
    path_ = std::string(folder == nullptr ? "." : folder) + "/" + kDriverName + "-";
}

Watch::~Watch() {
    std::filesystem::remove(path_ + "current");
    std::cout << figures().text() << std::endl;
}

bool Watch::passes(std::string const& text) {
    write_file(path_ + "current", text);
    ++figures().inputs;
    std::string const fault = fault_of(text);
    if (fault.empty()) return true;
    std::string const kept = path_ + std::to_string(std::hash<std::string>()(text));
    std::filesystem::rename(path_ + "current", kept);
    std::cerr << "found: " << fault << "\nreplay: fuzz_" << kDriverName << " " << kept << std::endl;
    return false;
}

}  // namespace fuzz
