# TW_GPU says whether the library computes on GPUs too; TW_GPU_API is what came of it: CUDA, or
# nothing. A build with GPU code has one set of device code for each architecture of
# CMAKE_CUDA_ARCHITECTURES and, for later ones, code that their driver translates. The CUDA runtime
# is linked statically, so that only the driver is asked of a user, and not before a GPU is used.
set(TW_GPU OFF CACHE STRING "GPU code: CUDA, AUTO (CUDA if there is a compiler for it) or OFF")
set_property(CACHE TW_GPU PROPERTY STRINGS AUTO CUDA OFF)
set(TW_GPU_API "")
if(TW_GPU STREQUAL "AUTO" AND NOT CMAKE_CROSSCOMPILING AND NOT TW_SANITIZE AND NOT TW_FUZZ)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(TW_GPU_API CUDA)
  endif()
elseif(TW_GPU STREQUAL "CUDA")
  set(TW_GPU_API CUDA)
elseif(NOT TW_GPU MATCHES "^(AUTO|OFF)$")
  message(FATAL_ERROR "TW_GPU=${TW_GPU}: give AUTO, CUDA or OFF")
endif()

if(TW_GPU_API STREQUAL "CUDA")
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90)
  endif()
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_FLAGS_RELEASE "-O3")
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  find_package(Threads REQUIRED)
endif()

# tw_gpu_source(NAME FILE [DEFINITION...]) compiles a file of device code with these definitions; the
# same file may be compiled again with others.
function(tw_gpu_source name source)
  add_library(tw_gpu_${name} OBJECT ${source})
  target_include_directories(tw_gpu_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(tw_gpu_${name} PRIVATE ${ARGN})
  # Nothing of the C++ library, so that a C program can link the static library. (The statics are
  # the compiler's own, and any thread would set them to the same value.)
  target_compile_options(tw_gpu_${name} PRIVATE
    -Xcompiler=-fno-exceptions,-fno-rtti,-fno-threadsafe-statics)
  set_property(GLOBAL APPEND PROPERTY TW_KERNEL_OBJECTS $<TARGET_OBJECTS:tw_gpu_${name}>)
endfunction()
