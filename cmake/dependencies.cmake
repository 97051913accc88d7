# Third-party libraries, found through pkg-config. A missing one is named together with the Debian package that brings it.
find_program(PIMSIM_PKG_CONFIG NAMES pkg-config pkgconf)
if(NOT PIMSIM_PKG_CONFIG)
  message(FATAL_ERROR "pimsim needs pkg-config, which is missing: install Debian's pkgconf, or run tools/check")
endif()
find_package(PkgConfig REQUIRED)

function(pimsim_require target module package)
  pkg_check_modules(${target} IMPORTED_TARGET ${module})
  if(NOT ${target}_FOUND)
    message(FATAL_ERROR "pimsim needs ${module}, which is missing: install Debian's ${package}, or run tools/check")
  endif()
endfunction()

# What libpimsim itself is linked with. The installed pkg-config file and CMake package ask for the same list
# (PREFIX:module); keep PREFIX equal to the name given to pimsim_require().
set(PIMSIM_DEPENDENCIES LIBCONFIG:libconfig ZSTD:libzstd JANSSON:jansson XXHASH:libxxhash PROTOBUF_C:libprotobuf-c SQLITE:sqlite3)
pimsim_require(LIBCONFIG libconfig libconfig-dev)
pimsim_require(ZSTD libzstd libzstd-dev)
pimsim_require(JANSSON jansson libjansson-dev)
pimsim_require(XXHASH libxxhash libxxhash-dev)

# Results of sweeps.
pimsim_require(SQLITE sqlite3 libsqlite3-dev)

# ONNX files. The decoder is generated from mappers/network/onnx/onnx.proto.
pimsim_require(PROTOBUF_C libprotobuf-c libprotobuf-c-dev)
find_program(PIMSIM_PROTOC_C NAMES protoc-c)
if(NOT PIMSIM_PROTOC_C)
  message(FATAL_ERROR "pimsim needs protoc-c, which is missing: install Debian's protobuf-c-compiler, or run tools/check")
endif()

# jemalloc serves the programs only: a library does not choose its caller's allocator. It hides bugs from sanitizers.
if(PIMSIM_JEMALLOC AND PIMSIM_SANITIZE)
  message(FATAL_ERROR "PIMSIM_SANITIZE=${PIMSIM_SANITIZE} needs PIMSIM_JEMALLOC=OFF")
endif()
if(PIMSIM_JEMALLOC)
  pimsim_require(JEMALLOC jemalloc libjemalloc-dev)
endif()
if(BUILD_TESTING)
  pimsim_require(CHECK check check)
endif()
