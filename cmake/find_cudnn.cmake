# Finds the headers of cuDNN (9.10 or newer) and CUDA. Only headers: both libraries are opened at run time.
# Sets SDPA_GRAPH_HAS_CUDNN, and makes the target sdpa_cudnn_headers if they are found.
file(GLOB pip_cudnn_folders
  /usr/local/lib/python3*/dist-packages/nvidia/cudnn/include /usr/lib/python3*/dist-packages/nvidia/cudnn/include
  /usr/local/lib/python3*/site-packages/nvidia/cudnn/include /opt/*/lib/python3*/site-packages/nvidia/cudnn/include)
find_path(SDPA_GRAPH_CUDNN_INCLUDE_DIR cudnn.h
  HINTS $ENV{CUDNN_PATH}/include $ENV{CUDNN_HOME}/include $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include
  PATHS /usr/local/cuda/include ${pip_cudnn_folders}
  DOC "Folder of cudnn.h")
find_path(SDPA_GRAPH_CUDA_INCLUDE_DIR cuda_runtime_api.h
  HINTS $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include
  PATHS /usr/local/cuda/include
  DOC "Folder of cuda_runtime_api.h")

set(SDPA_GRAPH_HAS_CUDNN OFF)
if(SDPA_GRAPH_CUDNN_INCLUDE_DIR AND SDPA_GRAPH_CUDA_INCLUDE_DIR)
  file(GLOB version_headers ${SDPA_GRAPH_CUDNN_INCLUDE_DIR}/cudnn_version*.h)
  foreach(part MAJOR MINOR)
    set(cudnn_${part} 0)
    foreach(header IN LISTS version_headers)
      file(STRINGS ${header} line REGEX "^#define CUDNN_${part} +[0-9]+")
      if(line MATCHES "([0-9]+)$")
        set(cudnn_${part} ${CMAKE_MATCH_1})
      endif()
    endforeach()
  endforeach()
  if("${cudnn_MAJOR}.${cudnn_MINOR}" VERSION_GREATER_EQUAL 9.10 AND cudnn_MAJOR EQUAL 9)
    set(SDPA_GRAPH_HAS_CUDNN ON)
    message(STATUS "cuDNN target: headers ${cudnn_MAJOR}.${cudnn_MINOR} in ${SDPA_GRAPH_CUDNN_INCLUDE_DIR}")
    add_library(sdpa_cudnn_headers INTERFACE)
    target_include_directories(sdpa_cudnn_headers SYSTEM INTERFACE
      ${SDPA_GRAPH_CUDNN_INCLUDE_DIR} ${SDPA_GRAPH_CUDA_INCLUDE_DIR})
  endif()
endif()
if(NOT SDPA_GRAPH_HAS_CUDNN)
  message(STATUS "cuDNN target: left out, since no headers of cuDNN 9.10 or newer and CUDA were found "
    "(set SDPA_GRAPH_CUDNN_INCLUDE_DIR and SDPA_GRAPH_CUDA_INCLUDE_DIR); the CPU targets work")
endif()
