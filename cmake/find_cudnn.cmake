# Finds the headers of cuDNN (9.10 or newer) and CUDA. Only headers: both libraries are opened at run time.
# Sets SDPA_GRAPH_HAS_CUDNN, and makes the target sdpa_cudnn_headers if they are found. Where they are not, what is said at
# the end of configuring and of building is in the file SDPA_GRAPH_NO_CUDNN_NOTICE.

# The folders of packages of the Python that builds: the one that the caller chose, as pip does, else the first of PATH.
function(sdpa_python_packages result)
  set(python "")
  foreach(variable Python_EXECUTABLE Python3_EXECUTABLE PYTHON_EXECUTABLE)
    if(NOT python AND ${variable})
      set(python ${${variable}})
    endif()
  endforeach()
  if(NOT python)
    find_program(SDPA_GRAPH_PYTHON_PROGRAM python3 DOC "A Python among whose packages headers are searched")
    mark_as_advanced(SDPA_GRAPH_PYTHON_PROGRAM)
    set(python ${SDPA_GRAPH_PYTHON_PROGRAM})
  endif()
  set(folders "")
  if(python)
    # An isolated build hides the packages of its environment from sys.path, not their folder.
    set(program "import sys, sysconfig; print(*dict.fromkeys(map(sysconfig.get_path, ('purelib', 'platlib'))), *sys.path, sep=';')")
    execute_process(COMMAND ${python} -c "${program}" OUTPUT_VARIABLE folders OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(${result} ${folders} PARENT_SCOPE)
endfunction()

# "9.19" for the folder of such a cudnn.h; 0.0 where it does not say.
function(sdpa_cudnn_version result folder)
  file(GLOB headers ${folder}/cudnn_version*.h)
  foreach(part MAJOR MINOR)
    set(${part} 0)
    foreach(header IN LISTS headers)
      file(STRINGS ${header} line REGEX "^#define CUDNN_${part} +[0-9]+")
      if(line MATCHES "([0-9]+)$")
        set(${part} ${CMAKE_MATCH_1})
      endif()
    endforeach()
  endforeach()
  set(${result} ${MAJOR}.${MINOR} PARENT_SCOPE)
endfunction()

function(sdpa_is_new_cudnn result folder)
  sdpa_cudnn_version(version ${folder})
  if(version VERSION_LESS 9.10 OR version VERSION_GREATER_EQUAL 10)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

sdpa_python_packages(python_packages)
set(places /usr/local/cuda/include)
foreach(folder IN LISTS python_packages)
  foreach(package cudnn cu13 cuda_runtime cuda_nvcc)
    list(APPEND places ${folder}/nvidia/${package}/include)
  endforeach()
endforeach()
file(GLOB other_packages
  /usr/local/lib/python3*/dist-packages/nvidia/*/include /usr/lib/python3*/dist-packages/nvidia/*/include
  /usr/local/lib/python3*/site-packages/nvidia/*/include /opt/*/lib/python3*/site-packages/nvidia/*/include)
list(APPEND places ${other_packages})

set(cuda_hints $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include)
find_path(SDPA_GRAPH_CUDNN_INCLUDE_DIR cudnn.h
  HINTS $ENV{CUDNN_PATH}/include $ENV{CUDNN_HOME}/include ${cuda_hints} PATHS ${places}
  VALIDATOR sdpa_is_new_cudnn DOC "Folder of cudnn.h")
find_path(SDPA_GRAPH_CUDA_INCLUDE_DIR cuda_runtime_api.h HINTS ${cuda_hints} PATHS ${places}
  DOC "Folder of cuda_runtime_api.h")
# A part of CUDA's headers has a folder of its own in pip's packages.
find_path(SDPA_GRAPH_CUDA_CRT_INCLUDE_DIR crt/host_defines.h HINTS ${SDPA_GRAPH_CUDA_INCLUDE_DIR} ${cuda_hints}
  PATHS ${places} DOC "Folder of crt/host_defines.h")
mark_as_advanced(SDPA_GRAPH_CUDA_CRT_INCLUDE_DIR)

set(missing_headers "")
if(SDPA_GRAPH_CUDNN_INCLUDE_DIR)
  sdpa_cudnn_version(cudnn_version ${SDPA_GRAPH_CUDNN_INCLUDE_DIR})
  set(is_new_enough TRUE)
  sdpa_is_new_cudnn(is_new_enough ${SDPA_GRAPH_CUDNN_INCLUDE_DIR})
endif()
if(NOT SDPA_GRAPH_CUDNN_INCLUDE_DIR)
  list(APPEND missing_headers "cudnn.h of cuDNN 9.10 or newer")
elseif(NOT is_new_enough)
  list(APPEND missing_headers "cudnn.h of cuDNN 9.10 or newer (${SDPA_GRAPH_CUDNN_INCLUDE_DIR} has that of ${cudnn_version})")
endif()
if(NOT SDPA_GRAPH_CUDA_INCLUDE_DIR)
  list(APPEND missing_headers "cuda_runtime_api.h of CUDA")
elseif(NOT SDPA_GRAPH_CUDA_CRT_INCLUDE_DIR)
  list(APPEND missing_headers "crt/host_defines.h of CUDA")
endif()

# CUDA's headers alone suffice for the library's own kernels.
set(SDPA_GRAPH_HAS_CUDA OFF)
if(SDPA_GRAPH_CUDA_INCLUDE_DIR AND SDPA_GRAPH_CUDA_CRT_INCLUDE_DIR)
  set(SDPA_GRAPH_HAS_CUDA ON)
  add_library(sdpa_cuda_headers INTERFACE)
  target_include_directories(sdpa_cuda_headers SYSTEM INTERFACE
    ${SDPA_GRAPH_CUDA_INCLUDE_DIR} ${SDPA_GRAPH_CUDA_CRT_INCLUDE_DIR})
endif()

if(NOT missing_headers)
  set(SDPA_GRAPH_HAS_CUDNN ON)
  message(STATUS "cuDNN target: headers ${cudnn_version} in ${SDPA_GRAPH_CUDNN_INCLUDE_DIR}")
  add_library(sdpa_cudnn_headers INTERFACE)
  target_include_directories(sdpa_cudnn_headers SYSTEM INTERFACE
    ${SDPA_GRAPH_CUDNN_INCLUDE_DIR} ${SDPA_GRAPH_CUDA_INCLUDE_DIR} ${SDPA_GRAPH_CUDA_CRT_INCLUDE_DIR})
else()
  set(SDPA_GRAPH_HAS_CUDNN OFF)
  list(JOIN missing_headers ", " missing_headers)
  set(without_cudnn "it runs on the CPU alone, and no GPU is used.")
  if(SDPA_GRAPH_HAS_CUDA)
    set(without_cudnn "on GPUs it runs neighborhood attention, and attention\n on GPUs of the Hopper generation, for Target::cuda(Cuda_stream); all else runs on the CPU.")
  endif()
  set(SDPA_GRAPH_NO_CUDNN_NOTICE ${PROJECT_BINARY_DIR}/no_cudnn_notice.txt)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/no_cudnn_notice.txt.in ${SDPA_GRAPH_NO_CUDNN_NOTICE} @ONLY)
  file(READ ${SDPA_GRAPH_NO_CUDNN_NOTICE} notice)
  cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL message NOTICE "${notice}")
endif()

# Says at the end of building the target if it has no cuDNN. pip hides the output of a successful build, so the notice goes
# to the terminal directly, if there is one.
function(sdpa_say_if_without_cudnn target)
  if(SDPA_GRAPH_HAS_CUDNN)
    return()
  endif()
  set(to_terminal "")
  if(DEFINED SKBUILD)
    set(to_terminal COMMAND sh -c "(cat '${SDPA_GRAPH_NO_CUDNN_NOTICE}' >/dev/tty) 2>/dev/null || true")
  endif()
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E cat ${SDPA_GRAPH_NO_CUDNN_NOTICE} ${to_terminal} VERBATIM)
endfunction()
