# What `cmake --install` puts in place: the header, both libraries, the command, the manual page,
# the licence, and two descriptions for other builds: tilewright.pc for pkg-config, and a CMake
# package with the targets tilewright::tilewright (shared) and tilewright::static.
# A wheel (pyproject.toml) has the shared library alone, beside the Python files.
if(SKBUILD)
  install(TARGETS tilewright_shared LIBRARY DESTINATION tilewright COMPONENT python)
  return()
endif()

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)

# The static library leaves the OpenMP runtime to its user, by name: a path would tie the package
# to the compiler that built it.
set(private_libs ${OpenMP_C_LIB_NAMES} m)
if(TW_HAVE_PNG)
  list(APPEND private_libs png)
endif()
if(TW_HAVE_TIFF)
  list(APPEND private_libs tiff)
endif()
if(TW_GPU_API STREQUAL "CUDA")
  list(APPEND private_libs cudart_static rt pthread dl)
elseif(TW_GPU_API STREQUAL "HIP")
  list(APPEND private_libs amdhip64)
endif()
set_target_properties(tilewright_shared PROPERTIES EXPORT_NAME tilewright)
set_target_properties(tilewright_static PROPERTIES EXPORT_NAME static)
foreach(lib IN LISTS private_libs)
  target_link_libraries(tilewright_static INTERFACE $<INSTALL_INTERFACE:${lib}>)
endforeach()

install(TARGETS tilewright_shared tilewright_static EXPORT tilewright
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/tilewright.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT tilewright NAMESPACE tilewright:: FILE tilewrightTargets.cmake
        DESTINATION ${package_dir})
configure_package_config_file(cmake/tilewrightConfig.cmake.in tilewrightConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(tilewrightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tilewrightConfig.cmake
              ${PROJECT_BINARY_DIR}/tilewrightConfigVersion.cmake
        DESTINATION ${package_dir})

# The prefix of the .pc file is relative to the file, so that `cmake --install --prefix` and a
# moved tree both work.
file(RELATIVE_PATH TW_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
list(TRANSFORM private_libs PREPEND -l OUTPUT_VARIABLE TW_PC_LIBS_PRIVATE)
list(JOIN TW_PC_LIBS_PRIVATE " " TW_PC_LIBS_PRIVATE)
configure_file(cmake/tilewright.pc.in tilewright.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tilewright.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
