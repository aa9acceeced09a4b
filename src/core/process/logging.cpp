#include "core/process/logging.h"

#include <cudnn_frontend/logging.h>

#include "core/process/environment.h"

#include <fstream>
#include <iostream>
#include <mutex>

namespace cudnn_frontend {
namespace {

// The stream that the environment names. It is never destroyed, since destructors of static objects may log.
std::ostream& open_stream(std::string const& file) {
    if (file == "stderr") return std::cerr;
    if (file.empty() || file == "stdout") return std::cout;
    return *new std::ofstream(file);
}

}  // namespace

int getLogLevel() {
    static int const level = core::environment::log_file().empty() ? 0 : core::environment::log_level();
    return level;
}

bool& isLoggingEnabled() {
    static bool is_enabled = getLogLevel() > 0;
    return is_enabled;
}

std::ostream& getStream() {
    static std::ostream& stream = open_stream(core::environment::log_file());
    return stream;
}

namespace core {

void log_line(std::string const& text) {
    static std::mutex mutex;
    std::lock_guard const lock(mutex);
    getStream() << "[cudnn_frontend] " + text + '\n' << std::flush;
}

}  // namespace core
}  // namespace cudnn_frontend
