#include "support/catch.h"

#include <cudnn_frontend/neighborhood_picture.h>

using namespace cudnn_frontend;
using namespace cudnn_frontend::graph;
using Dims = std::vector<std::int64_t>;

namespace {

Graph graph_of(Dims dim, Neighborhood_attributes const& windows) {
    Graph graph;
    graph.set_io_data_type(DataType_t::FLOAT);
    Dims stride(dim.size(), 1);
    for (std::size_t d = dim.size() - 1; d > 0; --d) stride[d - 1] = stride[d] * dim[d];
    auto const tokens = [&] { return graph.tensor(Tensor_attributes().set_dim(dim).set_stride(stride)); };
    graph.neighborhood_attention(tokens(), tokens(), tokens(), windows)[0]->set_output(true);
    return graph;
}

std::string drawn(Graph const& graph, Dims const& query, WindowPicture format = WindowPicture::TEXT) {
    std::string picture;
    auto const error = draw_window(graph, query, picture, format);
    CHECK(error.err_msg == "");
    return picture;
}

}  // namespace

TEST_CASE("a picture shows the keys that a query sees, along the axes that there are, with ticks and the options") {
    CHECK(drawn(graph_of({1, 9, 1, 4}, Neighborhood_attributes().set_kernel_size({4})), {3}) ==
          "the query at [3] sees 4 of 9 keys\n"
          "kernel_size [4]\n"
          "0    5\n"
          "·██◆█····\n");
    CHECK(drawn(graph_of({1, 9, 1, 4}, Neighborhood_attributes().set_kernel_size({3}).set_is_causal({true})), {1}) ==
          "the query at [1] sees 2 of 9 keys\n"
          "kernel_size [3], is_causal [true]\n"
          "0    5\n"
          "█◆·······\n");
    auto const plane = Neighborhood_attributes().set_kernel_size({3, 3}).set_dilation({1, 2});
    CHECK(drawn(graph_of({1, 4, 7, 1, 4}, plane), {0, 3}) ==
          "the query at [0, 3] sees 9 of 28 keys\n"
          "kernel_size [3, 3], dilation [1, 2]\n"
          "  0    5\n"
          "0 ·█·◆·█·\n"
          "1 ·█·█·█·\n"
          "2 ·█·█·█·\n"
          "3 ·······\n");
    auto const volume = Neighborhood_attributes().set_kernel_size({2, 1, 2});
    CHECK(drawn(graph_of({1, 3, 2, 3, 1, 4}, volume), {1, 1, 1}) ==
          "the query at [1, 1, 1] sees 4 of 18 keys\n"
          "kernel_size [2, 1, 2]\n"
          "plane 0\n  0\n0 ···\n1 ██·\n\n"
          "plane 1\n  0\n0 ···\n1 █◆·\n\n"
          "plane 2\n  0\n0 ···\n1 ···\n");
}

TEST_CASE("numbers of rows and columns in a picture stay in line") {
    auto const plane = Neighborhood_attributes().set_kernel_size({1, 1});
    std::string const picture = drawn(graph_of({1, 11, 12, 1, 4}, plane), {10, 11});
    CHECK(picture.find("\n   0    5    10\n 0 ····") != std::string::npos);
    CHECK(picture.find("\n10 ···········◆\n") != std::string::npos);
    auto const line = Neighborhood_attributes().set_kernel_size({3});
    CHECK(drawn(graph_of({1, 1200, 1, 4}, line), {0}).find(" 1000      1010      ") != std::string::npos);
}

TEST_CASE("a picture as SVG has a square for each position, numbers beside them and the options above") {
    auto const plane = Neighborhood_attributes().set_kernel_size({3, 3});
    std::string const picture = drawn(graph_of({1, 4, 7, 1, 4}, plane), {1, 1}, WindowPicture::SVG);
    auto const count = [&](std::string const& part) {
        std::size_t found = 0;
        for (std::size_t at = picture.find(part); at != std::string::npos; at = picture.find(part, at + 1)) ++found;
        return found;
    };
    CHECK(picture.starts_with("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 "));
    CHECK(count("class='query'") == 1);
    CHECK(count("class='key'") == 8);
    CHECK(count("class='unseen'") == 4 * 7 - 9);
    CHECK(count(">the query at [1, 1] sees 9 of 28 keys</text>") == 1);
    CHECK(count(">kernel_size [3, 3]</text>") == 1);
    CHECK(count("class='tick' text-anchor='end'>") == 4);     // 0 to 3
    CHECK(count("class='tick' text-anchor='middle'>") == 2);  // 0 and 5
}

TEST_CASE("a picture needs a valid graph with windows, a place in its space, and one that can be shown") {
    std::string picture = "as it was";
    Graph const graph = graph_of({1, 4, 7, 1, 4}, Neighborhood_attributes().set_kernel_size({3, 3}));
    auto const message = [&](Graph const& of, Dims const& query) { return draw_window(of, query, picture).err_msg; };
    for (Dims const& query : {Dims{1}, Dims{1, 7}, Dims{-1, 0}}) {
        CHECK(message(graph, query).find("expected a place in the space [4, 7]. Try: one number for each axis") !=
              std::string::npos);
    }
    CHECK(message(Graph(), {0}).find("expected a node of neighborhood attention") != std::string::npos);
    Graph const faulty = graph_of({1, 4, 7, 1, 4}, Neighborhood_attributes().set_kernel_size({3}));
    CHECK(message(faulty, {0, 0}).find("[neighborhood.c02]") != std::string::npos);
    Graph const large = graph_of({1, 1 << 17, 1, 4}, Neighborhood_attributes().set_kernel_size({3}));
    CHECK(message(large, {0}).find("expected at most 65536 positions") != std::string::npos);
    CHECK(picture == "as it was");
}
