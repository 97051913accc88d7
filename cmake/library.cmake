# libpimsim, static and shared, from the objects of every room. Outside, only the functions marked PIMSIM_API in
# include/pimsim/pimsim.h are visible in the shared library.
find_package(Threads REQUIRED)
get_property(rooms GLOBAL PROPERTY PIMSIM_ROOMS)
foreach(room IN LISTS rooms)
  list(APPEND objects $<TARGET_OBJECTS:${room}>)
endforeach()
foreach(dependency IN LISTS PIMSIM_DEPENDENCIES)
  string(REGEX REPLACE ":.*" "" prefix ${dependency})
  list(APPEND libraries PkgConfig::${prefix})
endforeach()

add_library(pimsim_static STATIC ${objects})
add_library(pimsim_shared SHARED ${objects})
set_target_properties(pimsim_static PROPERTIES EXPORT_NAME static OUTPUT_NAME pimsim)
set_target_properties(pimsim_shared PROPERTIES EXPORT_NAME shared OUTPUT_NAME pimsim
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
foreach(library pimsim_static pimsim_shared)
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE C
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:pimsim_flags> ${libraries} Threads::Threads m)
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
if(PIMSIM_LTO_USED)
  target_link_options(pimsim_shared PRIVATE -fno-lto) # is of the programs: the library takes the machine code
endif()
# A symbol that no room defines is an error here, not at the user's (a sanitizer's are in the program).
if(NOT PIMSIM_SANITIZE AND NOT PIMSIM_FUZZ)
  target_link_options(pimsim_shared PRIVATE LINKER:--no-undefined)
endif()
