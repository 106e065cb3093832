# TW_GPU says whether the library computes on GPUs too; TW_GPU_API is what came of it: CUDA, HIP, or
# nothing. A build with GPU code has one set of device code for each architecture of
# CMAKE_CUDA_ARCHITECTURES and, for later ones, code that their driver translates; or one for each of
# TW_HIP_ARCHITECTURES. The CUDA runtime is linked statically, so that only the driver is asked of a
# user, and not before a GPU is used; HIP's is a shared library.
set(TW_GPU OFF CACHE STRING "GPU code: CUDA, HIP, AUTO (the first that has a compiler here) or OFF")
set_property(CACHE TW_GPU PROPERTY STRINGS AUTO CUDA HIP OFF)
set(TW_HIP_ARCHITECTURES gfx90a gfx1030 CACHE STRING "AMD architectures to make device code for")
set(TW_HIP_OPTIMISATION -O3 CACHE STRING "How hipcc optimises; -O1 compiles in a third of the time")
find_program(TW_HIPCC hipcc HINTS $ENV{ROCM_PATH}/bin /opt/rocm/bin)
mark_as_advanced(TW_HIPCC)
set(TW_GPU_API "")
string(TOUPPER "${TW_GPU}" gpu_wanted)
if(gpu_wanted STREQUAL "AUTO" AND NOT CMAKE_CROSSCOMPILING AND NOT TW_SANITIZE AND NOT TW_FUZZ)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(TW_GPU_API CUDA)
  elseif(TW_HIPCC)
    set(TW_GPU_API HIP)
  endif()
elseif(gpu_wanted MATCHES "^(CUDA|HIP)$")
  set(TW_GPU_API ${gpu_wanted})
elseif(NOT gpu_wanted MATCHES "^(AUTO|OFF|0|NO|N|FALSE)$")
  message(FATAL_ERROR "TW_GPU=${TW_GPU}; use AUTO, CUDA, HIP or OFF")
endif()

# tw_gpu: what the sources that call the runtime, and whoever links them, need.
add_library(tw_gpu INTERFACE)
if(TW_GPU_API STREQUAL "CUDA")
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90)
  endif()
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  if(NOT DEFINED CMAKE_CUDA_FLAGS_RELEASE)
    set(CMAKE_CUDA_FLAGS_RELEASE "-O3")
  endif()
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  find_package(Threads REQUIRED)
  target_link_libraries(tw_gpu INTERFACE CUDA::cudart_static)
elseif(TW_GPU_API STREQUAL "HIP")
  # CMake's own HIP language does not find Debian's packages; hipcc is a C++ compiler like others,
  # and nothing else here is C++.
  if(NOT TW_HIPCC)
    message(FATAL_ERROR "TW_GPU=HIP: hipcc was not found; on Debian, install the package hipcc")
  endif()
  set(CMAKE_CXX_COMPILER ${TW_HIPCC})
  set(CMAKE_CXX_FLAGS_RELEASE ${TW_HIP_OPTIMISATION})
  set(CMAKE_CXX_STANDARD 17)
  list(TRANSFORM TW_HIP_ARCHITECTURES PREPEND --offload-arch= OUTPUT_VARIABLE TW_HIP_FLAGS)
  list(JOIN TW_HIP_FLAGS " " CMAKE_CXX_FLAGS_INIT) # or else it looks for a card here
  enable_language(CXX)
  # The cache keeps the architectures of the first time.
  string(REGEX REPLACE " *--offload-arch=[^ ]*" "" CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS}")
  string(APPEND CMAKE_CXX_FLAGS " ${CMAKE_CXX_FLAGS_INIT}")
  find_library(TW_HIP_RUNTIME amdhip64 HINTS $ENV{ROCM_PATH}/lib /opt/rocm/lib REQUIRED)
  find_path(TW_HIP_INCLUDE hip/hip_runtime_api.h HINTS $ENV{ROCM_PATH}/include /opt/rocm/include
            REQUIRED)
  mark_as_advanced(TW_HIP_RUNTIME TW_HIP_INCLUDE)
  target_include_directories(tw_gpu SYSTEM INTERFACE ${TW_HIP_INCLUDE})
  target_compile_definitions(tw_gpu INTERFACE TWI_HIP __HIP_PLATFORM_AMD__)
  target_link_libraries(tw_gpu INTERFACE ${TW_HIP_RUNTIME})
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
  if(TW_GPU_API STREQUAL "HIP")
    set_source_files_properties(${source} PROPERTIES LANGUAGE CXX)
    target_compile_definitions(tw_gpu_${name} PRIVATE TWI_HIP)
    # In the pass for a device nobody calls the functions of the host.
    target_compile_options(tw_gpu_${name} PRIVATE -x hip -Wall -Wextra -Wno-unused-function
                           -fvisibility=hidden -fno-exceptions -fno-rtti -fno-threadsafe-statics)
    if(TW_WERROR)
      target_compile_options(tw_gpu_${name} PRIVATE -Werror)
    endif()
  else()
    target_compile_options(tw_gpu_${name} PRIVATE
      -Xcompiler=-fno-exceptions,-fno-rtti,-fno-threadsafe-statics)
  endif()
  set_property(GLOBAL APPEND PROPERTY TW_KERNEL_OBJECTS $<TARGET_OBJECTS:tw_gpu_${name}>)
endfunction()
