#include <cudnn_frontend/advice.h>

#include "core/place_text.h"

#include <ostream>
#include <utility>

namespace cudnn_frontend {

Advice::Advice() = default;
Advice::Advice(std::vector<Remark> remarks) : remarks_(std::move(remarks)) {}

std::vector<Remark> Advice::remarks() && { return std::move(remarks_); }

std::string Advice::to_text() const {
    std::string text;
    for (Remark const& remark : remarks_) {
        text += core::place_text(remark.where, remark.others) + ": found " + remark.found + ": " + remark.effect +
                ". Try: " + remark.fix + ".\n";
    }
    return text;
}

std::ostream& operator<<(std::ostream& stream, Advice const& advice) { return stream << advice.to_text(); }

}  // namespace cudnn_frontend
