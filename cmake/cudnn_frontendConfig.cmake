# find_package(cudnn_frontend) finds this library, with the targets of that name. The version is that of the API.
include(${CMAKE_CURRENT_LIST_DIR}/../sdpa_graph/sdpa_graphConfig.cmake)
