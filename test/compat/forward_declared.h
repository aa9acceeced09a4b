// A server's header: it forward-declares the graph API's classes and includes none of its headers, so that files which
// include it do not depend on them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cudnn_frontend {
namespace graph {
class Graph;
class Tensor_attributes;
class SDPA_attributes;
}  // namespace graph
class KernelCache;
class DeviceProperties;
enum class DataType_t;
}  // namespace cudnn_frontend

namespace server {

using Tensor = std::shared_ptr<cudnn_frontend::graph::Tensor_attributes>;

class Session {
   public:
    explicit Session(cudnn_frontend::DataType_t type);
    ~Session();

    Tensor add_input(std::string const& name, std::vector<std::int64_t> const& dim);
    Tensor attend(Tensor const& q, Tensor const& k, Tensor const& v);
    cudnn_frontend::graph::Graph& graph() { return *graph_; }

   private:
    std::unique_ptr<cudnn_frontend::graph::Graph> graph_;
    std::unique_ptr<cudnn_frontend::graph::SDPA_attributes> options_;
};

}  // namespace server
