# Uses an installed package as a stranger would: find_package, then pkg-config, each with the shared
# and the static library. Variables: BUILD SOURCE WORK LIBDIR CXX SHARED.

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output TIMEOUT 120)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${result}): ${command}\n${output}")
  endif()
endfunction()

set(consumer ${SOURCE}/tests/install/consumer)
set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
# What the programs look for beside themselves.
if(EXISTS ${BUILD}/share/udccp/plotly-basic.min.js AND
   NOT EXISTS ${prefix}/share/udccp/plotly-basic.min.js)
  message(FATAL_ERROR "plotly-basic.min.js is not installed")
endif()

# The example that the documentation shows, as a user would copy it.
set(programs ${consumer}/main.cc)
if(EXISTS ${SOURCE}/apps/examples/embed.cc)
  list(APPEND programs ${SOURCE}/apps/examples/embed.cc)
endif()

# run() flattens lists, so this one travels with another separator.
list(JOIN programs "|" joined_programs)
run(${CMAKE_COMMAND} -S ${consumer} -B ${WORK}/find_package -G Ninja
    -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${CXX} -D SHARED=${SHARED}
    -D PROGRAMS=${joined_programs})
run(${CMAKE_COMMAND} --build ${WORK}/find_package)

set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
set(ENV{LD_LIBRARY_PATH} ${prefix}/${LIBDIR})
set(kinds static)
if(SHARED)
  list(APPEND kinds shared)
endif()
foreach(kind IN LISTS kinds)
  set(static_option)
  if(kind STREQUAL static)
    set(static_option --static)
  endif()
  execute_process(COMMAND pkg-config ${static_option} --cflags --libs dccp
                  OUTPUT_VARIABLE flags RESULT_VARIABLE result OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "pkg-config does not find dccp")
  endif()
  if(kind STREQUAL static)
    # Ours from the archive; what it needs, as the system has it.
    string(REPLACE "-ldccp" "-Wl,-Bstatic -ldccp -Wl,-Bdynamic" flags "${flags}")
  endif()
  separate_arguments(flags UNIX_COMMAND "${flags}")
  foreach(program IN LISTS programs)
    get_filename_component(name ${program} NAME_WE)
    set(libraries)
    if(name STREQUAL embed)
      # It owns its loop, so it names libuv for itself.
      execute_process(COMMAND pkg-config ${static_option} --libs libuv OUTPUT_VARIABLE libraries
                      OUTPUT_STRIP_TRAILING_WHITESPACE)
      separate_arguments(libraries UNIX_COMMAND "${libraries}")
    endif()
    run(${CXX} -std=c++20 ${program} -o ${WORK}/${name}_${kind}_pkg_config
        ${flags} ${libraries})
    run(${WORK}/${name}_${kind}_pkg_config)
    run(${WORK}/find_package/${name}_${kind})
  endforeach()
endforeach()
