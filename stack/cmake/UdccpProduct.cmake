# dccp_core (the sans-IO core, links nothing), libdccp.a, libdccp.so and their installation.

udccp_layer_objects(core_objects ${UDCCP_CORE_LAYERS})
add_library(dccp_core STATIC ${core_objects})
set_target_properties(dccp_core PROPERTIES LINKER_LANGUAGE CXX)
target_include_directories(dccp_core PUBLIC
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/stack/include ${PROJECT_SOURCE_DIR}/ccid/include)

udccp_layer_objects(product_objects ${UDCCP_CORE_LAYERS} trace tls io)

function(udccp_product target kind)
  add_library(${target} ${kind} ${product_objects})
  add_library(dccp::${target} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX OUTPUT_NAME dccp
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/stack/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/ccid/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(TARGET PkgConfig::LIBUV)
    target_link_libraries(${target} PRIVATE PkgConfig::LIBUV)
  endif()
  if(TARGET dccp_tls_obj)
    target_link_libraries(${target} PRIVATE OpenSSL::Crypto)
  endif()
  install(TARGETS ${target} EXPORT dccpTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

udccp_product(dccp_static STATIC)
if(UDCCP_BUILD_SHARED)
  udccp_product(dccp SHARED)
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/stack/include/dccp ${PROJECT_SOURCE_DIR}/ccid/include/dccp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

# Both package descriptions name them.
set(UDCCP_PC_REQUIRES)
if(TARGET PkgConfig::LIBUV)
  list(APPEND UDCCP_PC_REQUIRES libuv)
endif()
if(TARGET dccp_tls_obj)
  list(APPEND UDCCP_PC_REQUIRES libcrypto)
endif()
list(JOIN UDCCP_PC_REQUIRES " " UDCCP_PC_REQUIRES)

include(CMakePackageConfigHelpers)
set(UDCCP_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/dccp)
configure_package_config_file(${PROJECT_SOURCE_DIR}/stack/cmake/dccpConfig.cmake.in
  ${PROJECT_BINARY_DIR}/dccpConfig.cmake INSTALL_DESTINATION ${UDCCP_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/dccpConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/dccpConfig.cmake ${PROJECT_BINARY_DIR}/dccpConfigVersion.cmake
        DESTINATION ${UDCCP_CMAKE_DIR})
install(EXPORT dccpTargets NAMESPACE dccp:: DESTINATION ${UDCCP_CMAKE_DIR})

file(RELATIVE_PATH UDCCP_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" UDCCP_PC_PREFIX "${UDCCP_PC_PREFIX}")
configure_file(${PROJECT_SOURCE_DIR}/stack/cmake/dccp.pc.in ${PROJECT_BINARY_DIR}/dccp.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/dccp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
