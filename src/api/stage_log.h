// Logs a line for a stage of a graph: its name, time and result.
#pragma once

#include "api/graph_impl.h"
#include "core/guard.h"
#include "core/process/logging.h"

#include <cudnn_frontend/logging.h>
#include <cudnn_frontend/status.h>

#include <chrono>
#include <string>

namespace cudnn_frontend::api {

class StageLog {
   public:
    // The graph is null where it has no parts.
    StageLog(char const* stage, graph::Graph::Impl const* graph) : stage_(stage), graph_(graph) {
        if (is_on_) begin_ = Clock::now();
    }

    // Details: further text for the log if the stage succeeded.
    template <class Details>
    void result(error_t const& error, Details const& details) const {
        // If memory runs out, there is no line.
        if (is_on_) static_cast<void>(core::guarded([&] { return write(error, details); }));
    }

   private:
    template <class Details>
    [[gnu::cold]] error_t write(error_t const& error, Details const& details) const {
        auto const time = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin_);
        std::string const name = graph_ == nullptr ? "" : graph_->name;
        std::string text = stage_ + (" of graph '" + name) + "', " + std::to_string(time.count()) + " us: ";
        text += error.is_bad() ? to_string(error.code) + (": " + error.err_msg) : "OK" + details();
        core::log_line(text);
        return {};
    }

    using Clock = std::chrono::steady_clock;

    bool is_on_ = isLoggingEnabled();
    char const* stage_;
    graph::Graph::Impl const* graph_;
    Clock::time_point begin_;
};

}  // namespace cudnn_frontend::api
