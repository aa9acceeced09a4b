// The log: a line for each stage of a graph, off unless CUDNN_FRONTEND_LOG_FILE names where it goes and
// CUDNN_FRONTEND_LOG_INFO is above 0, or the program turns it on. Programs may write to it too.
#pragma once

#include "export.h"

#include <ostream>

namespace cudnn_frontend {

SDPA_GRAPH_API bool& isLoggingEnabled();
SDPA_GRAPH_API int getLogLevel();
SDPA_GRAPH_API std::ostream& getStream();  // standard output where the environment names nothing

// Writes while the log is on.
class ConditionalStreamer {
   public:
    template <class T>
    ConditionalStreamer const& operator<<(T const& value) const {
        if (isLoggingEnabled()) getStream() << value;
        return *this;
    }
    ConditionalStreamer const& operator<<(std::ostream& (*manipulator)(std::ostream&)) const {
        if (isLoggingEnabled()) getStream() << manipulator;
        return *this;
    }
};

inline ConditionalStreamer& getLogger() {
    static ConditionalStreamer streamer;
    return streamer;
}

}  // namespace cudnn_frontend

// The text is a chain of <<, which parentheses would break.
// NOLINTBEGIN(bugprone-macro-parentheses)
#if !defined(CUDNN_FE_LOG)
#define CUDNN_FE_LOG(text) ::cudnn_frontend::getLogger() << text
#define CUDNN_FE_LOG_LABEL(text) CUDNN_FE_LOG("[cudnn_frontend] " << text)
#define CUDNN_FE_LOG_LABEL_ENDL(text) CUDNN_FE_LOG("[cudnn_frontend] " << text << std::endl)
#define CUDNN_FE_LOG_BANNER(text) CUDNN_FE_LOG_LABEL_ENDL("=== " << text << " ===")
#endif
// NOLINTEND(bugprone-macro-parentheses)
