# What `cmake --install` puts in place beside the programs, which install themselves: the headers, the
# libraries, the licence, and two descriptions for other builds: tilewright.pc for pkg-config, and a CMake
# package with the targets tilewright::tilewright (shared, if that is installed) and tilewright::static.
# The target `uninstall` takes away what the last installation put there.
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
if(TW_HAVE_JPEG)
  list(APPEND private_libs jpeg)
endif()
if(TW_HAVE_METIS)
  list(APPEND private_libs metis)
endif()
if(TW_HAVE_ZLIB OR TW_HAVE_PNG) # PNG is written through it
  list(APPEND private_libs z)
endif()
if(TW_HAVE_ZSTD)
  list(APPEND private_libs zstd)
endif()
if(TW_HAVE_LZMA)
  list(APPEND private_libs lzma)
endif()
if(TW_GPU_API STREQUAL "CUDA")
  list(APPEND private_libs cudart_static rt pthread dl)
elseif(TW_GPU_API STREQUAL "HIP")
  list(APPEND private_libs amdhip64)
endif()
set(libraries "")
if(TW_SHARED)
  list(APPEND libraries tilewright_shared)
  set_target_properties(tilewright_shared PROPERTIES EXPORT_NAME tilewright)
endif()
if(TW_STATIC)
  list(APPEND libraries tilewright_static)
  set_target_properties(tilewright_static PROPERTIES EXPORT_NAME static)
endif()
foreach(lib IN LISTS private_libs)
  target_link_libraries(tilewright_static INTERFACE $<INSTALL_INTERFACE:${lib}>)
endforeach()

install(TARGETS ${libraries} EXPORT tilewright
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/tilewright.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TW_HAVE_MPI) # a library of its own; whoever uses it brings an MPI
  set(mpi_libraries "")
  if(TW_SHARED)
    list(APPEND mpi_libraries tilewright_mpi_shared)
  endif()
  if(TW_STATIC)
    list(APPEND mpi_libraries tilewright_mpi_static)
  endif()
  install(TARGETS ${mpi_libraries} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES include/tilewright-mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
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
foreach(dir LIBDIR INCLUDEDIR) # below the prefix, unless a packager says where
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${dir}}")
    set(TW_PC_${dir} "${CMAKE_INSTALL_${dir}}")
  else()
    set(TW_PC_${dir} "\${prefix}/${CMAKE_INSTALL_${dir}}")
  endif()
endforeach()
list(TRANSFORM private_libs PREPEND -l OUTPUT_VARIABLE TW_PC_LIBS_PRIVATE)
list(JOIN TW_PC_LIBS_PRIVATE " " TW_PC_LIBS_PRIVATE)
set(TW_PC_LIBS "")
if(NOT TW_SHARED) # whoever links the static library links what it needs
  set(TW_PC_LIBS " ${TW_PC_LIBS_PRIVATE}")
endif()
configure_file(cmake/tilewright.pc.in tilewright.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tilewright.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TW_HAVE_MPI)
  configure_file(cmake/tilewright-mpi.pc.in tilewright-mpi.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tilewright-mpi.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
                    -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake VERBATIM)
endif()
