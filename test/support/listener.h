// Captures the log during an object's lifetime.
#pragma once

#include <cudnn_frontend/logging.h>

#include <sstream>
#include <string>

namespace sdpa_test {

// Enables the log and captures its text.
class Listener {
   public:
    Listener() : before_(cudnn_frontend::getStream().rdbuf(text_.rdbuf())) {
        cudnn_frontend::isLoggingEnabled() = true;
    }
    ~Listener() {
        cudnn_frontend::isLoggingEnabled() = false;
        cudnn_frontend::getStream().rdbuf(before_);
    }

    std::string text() const { return text_.str(); }

   private:
    std::ostringstream text_;
    std::streambuf* before_;
};

}  // namespace sdpa_test
