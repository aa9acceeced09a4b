# Flags of this repository's own targets; consumers never see them.
add_library(sdpa_internal_flags INTERFACE)
target_compile_features(sdpa_internal_flags INTERFACE cxx_std_20)
target_compile_options(sdpa_internal_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wno-missing-field-initializers -fvisibility=hidden -fvisibility-inlines-hidden)
# With optimization a debugger sees little more than lines, and all else costs a fifth of the time to compile.
target_compile_options(sdpa_internal_flags INTERFACE $<$<CONFIG:RelWithDebInfo>:-g1>)
# GCC 12 sees overlapping copies inside its own std::string at -O3 (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(sdpa_internal_flags INTERFACE -Wno-restrict)
endif()
option(SDPA_GRAPH_WERROR "Treat warnings as errors; the presets do" OFF)
if(SDPA_GRAPH_WERROR)
  target_compile_options(sdpa_internal_flags INTERFACE -Werror)
endif()
if(SDPA_GRAPH_SANITIZE)
  add_compile_options(-fsanitize=${SDPA_GRAPH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SDPA_GRAPH_SANITIZE})
endif()
option(SDPA_GRAPH_LIBFUZZER "Let clang's libFuzzer drive the programs of test/fuzz" OFF)
if(SDPA_GRAPH_LIBFUZZER)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# The standard headers that most sources of the library include, compiled once for all layers: parsing them again and again
# is a fifth of the time to compile the library. A source that forgets to include one of them compiles nevertheless, but
# not in the odr preset, which does without.
option(SDPA_GRAPH_PRECOMPILE "Precompile the standard headers for the library's sources" ${PROJECT_IS_TOP_LEVEL})
if(SDPA_GRAPH_PRECOMPILE)
  add_library(sdpa_precompiled OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
  set_target_properties(sdpa_precompiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(sdpa_precompiled PRIVATE sdpa_internal_flags)
  target_precompile_headers(sdpa_precompiled PRIVATE <algorithm> <array> <cmath> <functional> <map> <memory> <mutex> <numeric>
    <optional> <set> <span> <string> <string_view> <unordered_map> <variant> <vector>)
endif()

# With CMAKE_UNITY_BUILD, as in the dev and release presets, a dozen sources of a target are compiled together, since most of the time is
# for headers that they share. These sources are not: tables, and others with the names of their neighbors. The odr preset
# compiles each source alone, so that each includes what it needs.
function(sdpa_compile_alone)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  file(GLOB sources ${ARGN})
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# The texts of files as C++ literals in `include`, so that there is no file to find at run time: a line {"name", text}, for each,
# or where NAMES is not given the text alone. A name is the file's own, or with BELOW its path below that folder, by which it
# is then given. The content goes to `result` too.
function(sdpa_texts_as_literals result include)
  cmake_parse_arguments(ARG "NAMES" "BELOW" "" ${ARGN})
  set(literals "")
  foreach(file IN LISTS ARG_UNPARSED_ARGUMENTS)
    set(name ${file})
    if(ARG_BELOW)
      set(file ${ARG_BELOW}/${name})
    else()
      get_filename_component(name ${file} NAME)
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    set(literal "R\"text(${text})text\"")
    if(ARG_NAMES)
      set(literal "{\"${name}\", ${literal}}")
    endif()
    string(APPEND literals "${literal},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${include} CONTENT "${literals}" @ONLY)
  set(${result} "${literals}" PARENT_SCOPE)
endfunction()

# The tests of this folder may open CUDA, which maps GPU memory where the address sanitizer keeps a gap in its shadow
# memory: with the gap protected, cuInit() finds no memory.
function(sdpa_tests_open_cuda)
  if(SDPA_GRAPH_SANITIZE MATCHES address)
    get_property(tests DIRECTORY PROPERTY TESTS)
    set_property(TEST ${tests} APPEND PROPERTY ENVIRONMENT ASAN_OPTIONS=protect_shadow_gap=0
      LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/leaks_of_others.txt)
  endif()
endfunction()

# A layer of the library: every source of the current folder, and of its folders named as PARTS. It sees the public headers
# and the layers that it names. A layer's name is its folder's below src, without backends/: its headers are included as
# "name/header.h", its target is layer_ and the name with _ for /.
function(sdpa_layer)
  cmake_parse_arguments(ARG "" "" "SEES;PRIVATE;PARTS" ${ARGN})
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  sdpa_layer_of(name ${folder})
  sdpa_layer_target(target ${name})
  list(TRANSFORM ARG_PARTS REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/\\1/*.cpp" OUTPUT_VARIABLE part_globs)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${part_globs})
  add_library(${target} OBJECT ${sources})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include)
  if(SDPA_GRAPH_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM sdpa_precompiled)
    # In a precompiled header GCC 12 reports faults of its own std::string that it otherwise hides (GCC bug 105329).
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
    endif()
  endif()
  # Each layer is included through a folder with a link to only that layer, so that an include which the layers
  # forbid does not compile.
  set(view ${PROJECT_BINARY_DIR}/layers/${target})
  get_filename_component(parent ${view}/${name} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${view}/${name} SYMBOLIC)
  target_include_directories(${target} PUBLIC ${view})
  target_link_libraries(${target} PRIVATE sdpa_internal_flags ${ARG_PRIVATE})
  foreach(seen IN LISTS ARG_SEES)
    sdpa_layer_target(seen_target ${seen})
    target_link_libraries(${target} PUBLIC ${seen_target})
  endforeach()
endfunction()

function(sdpa_layer_of result folder)
  string(REGEX REPLACE "^backends/" "" name ${folder})
  set(${result} ${name} PARENT_SCOPE)
endfunction()

function(sdpa_layer_target result name)
  string(REPLACE "/" "_" target layer_${name})
  set(${result} ${target} PARENT_SCOPE)
endfunction()
