// The driver with pseudo-random bytes. The same number gives the same input on every machine.
//   fuzz_<driver> [--first <number>] [--inputs <count> | --seconds <time>]
//   fuzz_<driver> <file or folder>...      checks cases that were kept; in a folder those of this driver
#include "fuzz/driver.h"
#include "support/random.h"

#include <malloc.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

namespace {

constexpr std::size_t kBytesOfInput = 1024;

std::string seeded_case(std::uint64_t number) {
    sdpa_test::Random random(number);
    std::vector<std::uint8_t> data(kBytesOfInput);
    for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random.next());
    fuzz::Bytes bytes(data);
    return fuzz::make_case(bytes);
}

std::vector<std::filesystem::path> files_of(std::vector<std::string> const& names) {
    std::vector<std::filesystem::path> files;
    for (std::string const& name : names) {
        if (!std::filesystem::is_directory(name)) {
            files.emplace_back(name);
            continue;
        }
        for (auto const& entry : std::filesystem::directory_iterator(name)) {
            if (entry.path().filename().string().starts_with(fuzz::kDriverName)) files.push_back(entry.path());
        }
    }
    return files;
}

bool replay(fuzz::Watch& watch, std::filesystem::path const& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
        std::cerr << "cannot read " << path << "\n";
        return false;
    }
    std::cout << path.filename().string() << std::endl;
    return watch.passes(text.str());
}

struct Limits {
    std::uint64_t first = 0, inputs = 1000, seconds = 0;
};

// Returns how many inputs failed.
int run_seeded(fuzz::Watch& watch, Limits const& limits) {
    auto const now = [] { return std::chrono::steady_clock::now(); };
    auto const end = now() + std::chrono::seconds(limits.seconds);
    auto const is_over = [&](std::uint64_t done) { return limits.seconds > 0 ? now() >= end : done >= limits.inputs; };
    int faults = 0;
    for (std::uint64_t done = 0; !is_over(done); ++done) {
        std::uint64_t const number = limits.first + done;
        if (watch.passes(seeded_case(number))) continue;
        std::cerr << "reproduce: fuzz_" << fuzz::kDriverName << " --first " << number << " --inputs 1\n";
        ++faults;
    }
    return faults;
}

}  // namespace

int main(int argc, char** argv) {
    // Otherwise the size of freed blocks raises the threshold, and calloc() clears large ones as a whole.
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    Limits limits;
    std::vector<std::string> names;
    for (int i = 1; i < argc; ++i) {
        auto const is = [&](char const* option) { return i + 1 < argc && std::strcmp(argv[i], option) == 0; };
        if (is("--inputs")) limits.inputs = std::stoull(argv[++i]);
        else if (is("--first")) limits.first = std::stoull(argv[++i]);
        else if (is("--seconds")) limits.seconds = std::stoull(argv[++i]);
        else names.emplace_back(argv[i]);
    }
    fuzz::Watch watch;
    int faults = 0;
    for (auto const& file : files_of(names)) faults += !replay(watch, file);
    if (names.empty()) faults = run_seeded(watch, limits);
    return faults == 0 ? 0 : 1;
}
