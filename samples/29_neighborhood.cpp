// Neighborhood attention over a picture: noise goes, edges stay. Each pixel's query and keys are the patch of pixels
// around it, so that it averages those of its window that look like it (non-local means).
//   ./run sample 29_neighborhood [--target cpu|reference]
#include "support.h"

#include <cudnn_frontend/neighborhood_picture.h>

#include <algorithm>

namespace fe = cudnn_frontend;
using samples::Index;

namespace {

constexpr Index kRows = 18, kColumns = 48, kPixels = kRows * kColumns, kWindow = 9;
constexpr Index kPatch = 9, kWidth = kPatch + 1, kCenter = kPatch / 2;
constexpr float kSharpness = 2.0f;  // how fast weights fall with the distance of patches

enum Uid : Index { Queries, Keys, Values, Result };

float& pixel(std::vector<float>& picture, Index row, Index column) {
    return picture[static_cast<std::size_t>(row * kColumns + column)];
}

// A disc and a bar, bright on dark.
std::vector<float> paint() {
    std::vector<float> picture(static_cast<std::size_t>(kPixels), 0.1f);
    for (Index row = 0; row < kRows; ++row) {
        for (Index column = 0; column < kColumns; ++column) {
            Index const y = 2 * row - kRows, x = column - 14;  // characters are twice as high as wide
            if (x * x + y * y < 100) pixel(picture, row, column) = 0.9f;
            if (column >= 30 + row / 2 && column < 38 + row / 2) pixel(picture, row, column) = 0.6f;
        }
    }
    return picture;
}

void draw(char const* title, std::vector<float> picture) {
    char const* const shades[] = {" ", "░", "▒", "▓", "█"};
    std::printf("%s\n", title);
    for (Index row = 0; row < kRows; ++row) {
        std::printf("  ");
        for (Index column = 0; column < kColumns; ++column) {
            float const shade = std::min(std::max(pixel(picture, row, column), 0.0f), 0.999f) * 5.0f;
            std::printf("%s", shades[static_cast<int>(shade)]);
        }
        std::printf("\n");
    }
}

double mean_square(std::vector<float> const& a, std::vector<float> const& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (double(a[i]) - double(b[i])) * (double(a[i]) - double(b[i]));
    return sum / double(a.size());
}

// The 3 by 3 pixels around each pixel, then one more number; those at the border repeat.
std::vector<float> patches(std::vector<float> picture, float (*last)(std::vector<float> const& patch), float factor) {
    std::vector<float> rows;
    for (Index row = 0; row < kRows; ++row) {
        for (Index column = 0; column < kColumns; ++column) {
            std::vector<float> patch;
            for (Index p = 0; p < kPatch; ++p) {
                Index const y = std::min(std::max(row + p / 3 - 1, Index{0}), kRows - 1);
                Index const x = std::min(std::max(column + p % 3 - 1, Index{0}), kColumns - 1);
                patch.push_back(factor * pixel(picture, y, x));
            }
            patch.push_back(last(patch));
            rows.insert(rows.end(), patch.begin(), patch.end());
        }
    }
    return rows;
}

float square(std::vector<float> const& patch) {
    float sum = 0.0f;
    for (float const value : patch) sum += value * value;
    return sum;
}

void describe(fe::graph::Graph& graph) {
    samples::set_types(graph, fe::DataType_t::FLOAT);
    auto const tokens = [&](char const* name, Uid uid) {
        return graph.tensor(fe::graph::Tensor_attributes()
                                .set_name(name)
                                .set_uid(uid)
                                .set_dim({1, kRows, kColumns, 1, kWidth})
                                .set_stride({kPixels * kWidth, kColumns * kWidth, kWidth, kWidth, 1}));
    };
    auto const windows = fe::graph::Neighborhood_attributes()
                             .set_name("denoise")
                             .set_kernel_size({kWindow, kWindow})
                             .set_attn_scale(kSharpness);
    auto const O = graph.neighborhood_attention(tokens("queries", Uid::Queries), tokens("keys", Uid::Keys),
                                                tokens("values", Uid::Values), windows)[0];
    O->set_output(true).set_uid(Uid::Result);
}

// The same in double, over all pairs of pixels.
std::vector<double> definition(std::vector<float> const& q, std::vector<float> const& k, std::vector<float> const& v) {
    auto const sees = [](Index at, Index other, Index length) {
        Index const first = std::min(std::max(at - kWindow / 2, Index{0}), length - kWindow);
        return other >= first && other < first + kWindow;
    };
    samples::Edit const windows = [&](double score, Index, Index, Index i, Index j) {
        bool const is_seen = sees(i / kColumns, j / kColumns, kRows) && sees(i % kColumns, j % kColumns, kColumns);
        return is_seen ? score : -samples::kInfinity;
    };
    auto const pixels = samples::bhsd(1, 1, kPixels, kWidth);
    return samples::attention(view(pixels, q), view(pixels, k), view(pixels, v), kSharpness, windows).o;
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("29_neighborhood: %d by %d pixels, windows of %d by %d, float, on target %s\n", int(kRows),
                int(kColumns), int(kWindow), int(kWindow), fe::to_string(target.kind()));
    std::vector<float> const clean = paint(), noise = samples::random<float>(clean.size(), 1);
    std::vector<float> noisy = clean;
    for (std::size_t i = 0; i < noisy.size(); ++i) noisy[i] += 0.25f * noise[i];

    // Minus the squared distance of two patches is 2 q k - k^2 - q^2, of which the last is the same for all keys.
    auto q = patches(
        noisy, [](std::vector<float> const&) { return -1.0f; }, 2.0f);
    auto k = patches(noisy, square, 1.0f), v = patches(noisy, square, 1.0f);
    std::vector<float> o(q.size());
    fe::graph::Graph graph;
    describe(graph);
    samples::require(graph.build(target));
    samples::run(
        target, graph,
        samples::Uid_pack{
            {Uid::Queries, q.data()}, {Uid::Keys, k.data()}, {Uid::Values, v.data()}, {Uid::Result, o.data()}});
    std::vector<float> result;
    for (std::size_t i = 0; i < clean.size(); ++i) result.push_back(o[i * kWidth + kCenter]);

    draw("the picture with noise", noisy);
    draw("after neighborhood attention", result);
    std::string window;
    samples::require(fe::graph::draw_window(graph, {2, 40}, window));
    std::printf("what the pixel in row 2 and column 40 sees\n%s", window.c_str());

    samples::Checks checks;
    checks.compare("O", {o.begin(), o.end()}, definition(q, k, v),
                   samples::tolerance<float>(kWindow * kWindow + kWidth));
    checks.expect("most of the noise is gone", mean_square(result, clean) < 0.25 * mean_square(noisy, clean));
    checks.expect("the window is pushed inwards at the border",
                  window.find("\n 0 ····") != std::string::npos && window.find("█") < window.find("\n 1 "));
    return checks.exit_code();
}
