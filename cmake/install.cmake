# cmake --install: programs, libpimsim (static and shared), public header, pkg-config file, CMake package, man page,
# configurations and bash completion.
include(CMakePackageConfigHelpers)

install(TARGETS pimsim RUNTIME)

# The manual page holds the help of every command, so the program is asked for it.
set(manual_frame ${PROJECT_SOURCE_DIR}/docs/man/pimsim.1.in)
set(manual_script ${PROJECT_SOURCE_DIR}/tools/manual-page)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/pimsim.1
  COMMAND ${manual_script} $<TARGET_FILE:pimsim> ${manual_frame} ${PROJECT_BINARY_DIR}/pimsim.1
  DEPENDS pimsim ${manual_frame} ${manual_script} VERBATIM)
add_custom_target(pimsim_manual ALL DEPENDS ${PROJECT_BINARY_DIR}/pimsim.1)
install(FILES ${PROJECT_BINARY_DIR}/pimsim.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

install(TARGETS pimsim_static pimsim_shared EXPORT pimsimTargets)
install(FILES ${PROJECT_SOURCE_DIR}/include/pimsim/pimsim.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pimsim)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs DESTINATION ${CMAKE_INSTALL_DATADIR}/pimsim)
install(FILES ${PROJECT_SOURCE_DIR}/tools/completion/pimsim.bash RENAME pimsim
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_SOURCE_DIR}/tools/completion/_pimsim DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

# CMake package: find_package(pimsim), targets pimsim::shared and pimsim::static.
foreach(dependency IN LISTS PIMSIM_DEPENDENCIES)
  string(REPLACE ":" ";" pair ${dependency})
  list(GET pair 0 prefix)
  list(GET pair 1 module)
  string(APPEND PIMSIM_FIND_DEPENDENCIES "pkg_check_modules(${prefix} REQUIRED IMPORTED_TARGET ${module})\n")
  list(APPEND modules ${module})
endforeach()
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/pimsim)
install(EXPORT pimsimTargets NAMESPACE pimsim:: DESTINATION ${package_folder})
configure_package_config_file(cmake/pimsimConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/pimsimConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/pimsimConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/pimsimConfig.cmake ${PROJECT_BINARY_DIR}/cmake/pimsimConfigVersion.cmake
  DESTINATION ${package_folder})

# pkg-config file. Its prefix is written relative to its own place, so that an installed tree can be moved.
list(JOIN modules " " PIMSIM_PKG_CONFIG_REQUIRES)
file(RELATIVE_PATH PIMSIM_PKG_CONFIG_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/pimsim.pc.in ${PROJECT_BINARY_DIR}/cmake/pimsim.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/pimsim.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
