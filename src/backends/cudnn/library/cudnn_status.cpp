#include "cudnn/library/api.h"

#include <string_view>

namespace cudnn_frontend::cudnn {
namespace {

std::string_view after(std::string_view text, std::string_view mark) {
    auto const at = text.find(mark);
    return at == std::string_view::npos ? std::string_view() : text.substr(at + mark.size());
}

// The backend gives a chain of causes, one per line, innermost first; an engine's chain starts with a line about the
// engine. Only the innermost cause is worth reading: "Warning: <status>; Reason: <cause> at: <condition>".
class CauseReader {
   public:
    void read(std::string_view line) {
        if (std::string_view const engine = after(line, "{\"engineId\":"); !engine.empty()) {
            prefix_ = "engine " + std::string(engine.substr(0, engine.find_first_not_of("0123456789"))) + ": ";
            is_told_ = false;
        } else if (std::string_view const reason = after(line, "Reason: "); !reason.empty()) {
            tell(reason.substr(0, reason.find(" at: ")));
        } else if (line.find_first_not_of(" \r\t") != std::string_view::npos) {
            tell(line);
        }
    }

    std::string take() { return std::move(text_); }

   private:
    void tell(std::string_view cause) {
        if (is_told_) return;
        is_told_ = true;
        text_ += (text_.empty() ? "" : "; ") + prefix_ + std::string(cause);
    }

    std::string prefix_, text_;
    bool is_told_ = false;
};

}  // namespace

std::string last_error_text(Api const& api) {
    std::string buffer(std::size_t{1} << 16, '\0');
    api.get_last_error_string(buffer.data(), buffer.size());
    std::string_view rest(buffer.data());
    CauseReader causes;
    while (!rest.empty()) {
        auto const end = rest.find('\n');
        causes.read(rest.substr(0, end));
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    return causes.take();
}

error_t backend_error(Api const& api, cudnnStatus_t status, std::string const& what, error_code_t code) {
    std::string text = what + " failed: " + api.get_error_string(status);
    if (std::string const reason = last_error_text(api); !reason.empty()) text += ": " + reason;
    return {code, std::move(text)};
}

}  // namespace cudnn_frontend::cudnn
