// Steps from top to bottom, each a box that lists its inputs and outputs.
#include "plan/pictures/plan_picture.h"

#include "core/text.h"

#include <algorithm>

namespace cudnn_frontend::plan {
namespace {

// Pixels; a glyph's of a monospaced font.
constexpr std::size_t kMargin = 12, kLine = 18, kArrow = 24, kGlyph = 8;

constexpr char const* kStyle =
    "  <style>\n"
    "    text { fill: #1f2328 } .heading { font-weight: bold } rect, path { fill: none; stroke: #59636e }\n"
    "    @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } rect, path { stroke: #9da7b3 } }\n"
    "  </style>\n";

std::string attribute(char const* name, std::size_t number) {
    return std::string(" ") + name + "='" + std::to_string(number) + "'";
}

// The heading first.
std::vector<std::string> lines_of(Picture const& picture, std::size_t step) {
    std::vector<std::string> lines = {label_of(picture, step)};
    for (Picture::PictureOperand const& operand : picture.steps[step].operands) {
        lines.push_back((operand.is_written ? "writes " : "reads  ") + picture.memories[operand.memory].name + ", " +
                        operand.text);
    }
    return lines;
}

class PlanSvg {
   public:
    explicit PlanSvg(Picture const& picture) : title_(picture.title), width_(picture.title.size()) {
        for (std::size_t i = 0; i < picture.steps.size(); ++i) steps_.push_back(lines_of(picture, i));
        for (auto const& lines : steps_) {
            for (std::string const& line : lines) width_ = std::max(width_, line.size() + 3);
        }
    }

    std::string run() && {
        text(kMargin, title_, "heading");
        bottom_ += kLine / 2;
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            if (i > 0) arrow();
            box(steps_[i]);
        }
        return "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " + std::to_string(width() + 2 * kMargin) + " " +
               std::to_string(bottom_ + kMargin) + "' font-family='monospace' font-size='12'>\n" + kStyle + body_ +
               "</svg>\n";
    }

   private:
    std::size_t width() const { return width_ * kGlyph; }

    void text(std::size_t x, std::string const& line, char const* kind) {
        bottom_ += kLine;
        body_ += "  <text" + attribute("x", x) + attribute("y", bottom_) + " class='" + kind +
                 "' xml:space='preserve'>" + core::escaped_for_xml(line) + "</text>\n";
    }

    void box(std::vector<std::string> const& lines) {
        body_ += "  <rect" + attribute("x", kMargin) + attribute("y", bottom_) + attribute("width", width()) +
                 attribute("height", lines.size() * kLine + kLine / 2) + " rx='4'/>\n";
        for (std::string const& line : lines) {
            text(2 * kMargin, line, &line == &lines.front() ? "heading" : "operand");
        }
        bottom_ += kLine / 2;
    }

    void arrow() {
        std::string const x = std::to_string(kMargin + width() / 2), y = std::to_string(bottom_);
        body_ += "  <path d='M" + x + " " + y + " v" + std::to_string(kArrow) + " m-4 -7 l4 7 l4 -7'/>\n";
        bottom_ += kArrow;
    }

    std::string title_;
    std::size_t width_;  // of the longest line, in glyphs
    std::vector<std::vector<std::string>> steps_;
    std::size_t bottom_ = 0;
    std::string body_;
};

}  // namespace

std::string to_svg(Picture const& picture) { return PlanSvg(picture).run(); }

}  // namespace cudnn_frontend::plan
