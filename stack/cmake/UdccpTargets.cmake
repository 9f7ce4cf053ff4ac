# Flags and the helpers that define the targets of one folder.

add_library(udccp_flags INTERFACE)
target_include_directories(udccp_flags INTERFACE
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/stack/include ${PROJECT_SOURCE_DIR}/ccid/include)
target_compile_options(udccp_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
  $<$<BOOL:${UDCCP_WERROR}>:-Werror>)

if(UDCCP_SANITIZE STREQUAL "address")
  # vptr needs RTTI, which the core is built without.
  set(udccp_sanitize_flags -fsanitize=address,undefined -fno-sanitize=vptr
      -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(UDCCP_SANITIZE STREQUAL "thread")
  set(udccp_sanitize_flags -fsanitize=thread -fno-omit-frame-pointer)
elseif(UDCCP_SANITIZE)
  message(FATAL_ERROR "UDCCP_SANITIZE is address, thread or empty, not ${UDCCP_SANITIZE}")
endif()
if(UDCCP_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "UDCCP_FUZZ needs clang")
  endif()
  list(APPEND udccp_sanitize_flags -fsanitize=fuzzer-no-link)
endif()
if(UDCCP_COVERAGE)
  list(APPEND udccp_sanitize_flags --coverage)
endif()
if(udccp_sanitize_flags)
  add_compile_options(${udccp_sanitize_flags})
  add_link_options(${udccp_sanitize_flags})
endif()

# The layers of the core, lowest first. dccp_core is made of these and links nothing.
set(UDCCP_CORE_LAYERS base wire ccid conn endpoint)

# udccp_layer(<layer> [CORE] [EXCEPT <folder>]): object library dccp_<layer>_obj of the current
# folder's sources, those of one folder left out.
# A folder without sources defines nothing; users test with if(TARGET).
function(udccp_layer layer)
  cmake_parse_arguments(ARG "CORE" "EXCEPT" "" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(ARG_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "/${ARG_EXCEPT}/")
  endif()
  if(NOT sources)
    return()
  endif()
  add_library(dccp_${layer}_obj OBJECT ${sources})
  target_link_libraries(dccp_${layer}_obj PRIVATE udccp_flags)
  if(ARG_CORE)
    target_compile_options(dccp_${layer}_obj PRIVATE -fno-exceptions -fno-rtti)
  endif()
endfunction()

# udccp_layer_objects(<out> <layer>...): the object files of those of the layers that exist.
function(udccp_layer_objects out)
  set(objects)
  foreach(layer IN LISTS ARGN)
    if(TARGET dccp_${layer}_obj)
      list(APPEND objects $<TARGET_OBJECTS:dccp_${layer}_obj>)
    endif()
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()

# udccp_gtest(<target> LABEL <label> SOURCES <file>... LAYERS <layer>... LINK <library>...)
function(udccp_gtest target)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;LAYERS;LINK" ${ARGN})
  if(NOT ARG_SOURCES)
    return()
  endif()
  udccp_layer_objects(objects ${ARG_LAYERS})
  add_executable(${target} ${ARG_SOURCES} ${objects})
  target_link_libraries(${target} PRIVATE udccp_flags ${ARG_LINK} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE
    UDCCP_TEST_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data")
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS ${ARG_LABEL})
endfunction()
