# What a report carries inside. Our style sheet and script become part of the program. plotly.js is
# a file beside it: share/udccp/plotly-basic.min.js, in the build folder and installed.
#
# UDCCP_PLOTLY names that file for those who have it. Else npm gets it from its registry, once, by
# version and hash, into the user's cache. Without it all is built, and reports have no charts.
set(UDCCP_PLOTLY "" CACHE FILEPATH
    "plotly-basic.min.js, for the charts of dccp-lab's reports; empty: npm gets it")
option(UDCCP_FETCH "Let npm get plotly.js where it is not in the cache" ON)

set(plotly_package "plotly.js-basic-dist-min")
set(plotly_version "4.1.1")
# Of the package as published; npm calls it its integrity.
string(CONCAT plotly_sha512
  "d68345f0f790c7686fff2eeda84556283dc91b09ff30610c43c98bf47530b1aa"
  "86f451b2fce539147507bf3a9bab13789a7c19188f5a6d3884efbe42e2492331")

# Puts the unpacked package into the folder `to`; `why` becomes "", or what prevents it.
function(udccp_fetch_plotly to why)
  set(${why} "" PARENT_SCOPE)
  find_program(UDCCP_NPM npm DOC "npm, which gets plotly.js")
  mark_as_advanced(UDCCP_NPM)
  if(NOT UDCCP_FETCH)
    set(${why} "UDCCP_FETCH is off" PARENT_SCOPE)
    return()
  elseif(NOT UDCCP_NPM)
    set(${why} "there is no npm" PARENT_SCOPE)
    return()
  endif()
  string(RANDOM LENGTH 8 unique)
  set(scratch ${to}.${unique})
  file(MAKE_DIRECTORY ${scratch})
  execute_process(
    COMMAND ${UDCCP_NPM} pack --loglevel=error --fetch-retries=1 --fetch-retry-mintimeout=2000
            --fetch-timeout=30000 ${plotly_package}@${plotly_version}
    WORKING_DIRECTORY ${scratch} TIMEOUT 120 RESULT_VARIABLE result
    OUTPUT_QUIET ERROR_VARIABLE complaint)
  set(archive ${scratch}/${plotly_package}-${plotly_version}.tgz)
  set(found)
  if(result EQUAL 0 AND EXISTS ${archive})
    file(SHA512 ${archive} found)
  endif()
  if(NOT found)
    string(REGEX MATCH "[^\n]*" complaint "${complaint}")
    set(${why} "npm pack ${plotly_package}@${plotly_version}: ${result}, ${complaint}" PARENT_SCOPE)
  elseif(NOT found STREQUAL plotly_sha512)
    set(${why} "what npm got has another hash than the one expected" PARENT_SCOPE)
  else()
    file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${scratch})
    # Whole or not at all; another build may have been quicker.
    if(NOT EXISTS ${to})
      file(RENAME ${scratch}/package ${to} RESULT ignored)
    endif()
  endif()
  file(REMOVE_RECURSE ${scratch})
endfunction()

# Sets `file` to the library, or to "" with `why`.
function(udccp_find_plotly file why)
  set(${why} "" PARENT_SCOPE)
  set(${file} "" PARENT_SCOPE)
  if(UDCCP_PLOTLY)
    if(NOT EXISTS ${UDCCP_PLOTLY})
      message(FATAL_ERROR "UDCCP_PLOTLY: there is no ${UDCCP_PLOTLY}")
    endif()
    set(${file} ${UDCCP_PLOTLY} PARENT_SCOPE)
    return()
  endif()
  set(cache ${PROJECT_BINARY_DIR})
  if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(cache $ENV{XDG_CACHE_HOME})
  elseif(DEFINED ENV{HOME})
    set(cache $ENV{HOME}/.cache)
  endif()
  set(folder ${cache}/udccp/${plotly_package}-${plotly_version})
  if(NOT EXISTS ${folder}/plotly-basic.min.js)
    udccp_fetch_plotly(${folder} fault)
    set(${why} "${fault}" PARENT_SCOPE)
  endif()
  if(EXISTS ${folder}/plotly-basic.min.js)
    set(${file} ${folder}/plotly-basic.min.js PARENT_SCOPE)
  endif()
endfunction()

udccp_find_plotly(plotly_file plotly_fault)
set(share_folder ${PROJECT_BINARY_DIR}/share/udccp)
if(plotly_file)
  configure_file(${plotly_file} ${share_folder}/plotly-basic.min.js COPYONLY)
  install(FILES ${share_folder}/plotly-basic.min.js DESTINATION ${CMAKE_INSTALL_DATADIR}/udccp)
  get_filename_component(plotly_folder ${plotly_file} DIRECTORY)
  if(EXISTS ${plotly_folder}/LICENSE)
    configure_file(${plotly_folder}/LICENSE ${share_folder}/plotly.LICENSE COPYONLY)
    install(FILES ${share_folder}/plotly.LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/udccp)
  endif()
else()
  file(REMOVE ${share_folder}/plotly-basic.min.js)
  message(WARNING "No plotly.js: reports of dccp-lab will have tables but no charts "
    "(${plotly_fault}). -DUDCCP_PLOTLY=FILE names a plotly-basic.min.js, ${plotly_version}.")
endif()

# The assets as strings of the program.
set(asset_folder ${CMAKE_CURRENT_LIST_DIR})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${asset_folder}/report.css ${asset_folder}/report.js)
file(READ ${asset_folder}/report.css report_css)
file(READ ${asset_folder}/report.js report_js)
configure_file(${asset_folder}/report_assets.cc.in ${CMAKE_CURRENT_BINARY_DIR}/report_assets.cc
               @ONLY)
target_sources(dccp-lab_parts PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/report_assets.cc)
target_compile_definitions(dccp-lab_parts PRIVATE
  UDCCP_SHARE_FOLDER="${CMAKE_INSTALL_FULL_DATADIR}/udccp")
target_link_libraries(dccp-lab_parts PUBLIC dccp-dump_parts)
