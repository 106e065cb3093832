# What the two toolchain files share: Debian's cross compiler for TW_FOREIGN, whose programs run here
# under qemu-user. The libraries are those of Debian's multiarch (libpng-dev:amd64 and so on, see
# tools/setup): they lie in folders named for the architecture, which compiler, linker, CMake and the
# loader under qemu all look into by themselves, and never mix with this machine's own.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TW_FOREIGN})
set(triple ${TW_FOREIGN}-linux-gnu)
set(CMAKE_C_COMPILER ${triple}-gcc)
find_program(TW_FOREIGN_CXX ${triple}-g++) # for tests of GPU code; never this machine's own
set(CMAKE_CXX_COMPILER ${TW_FOREIGN_CXX})
set(CMAKE_LIBRARY_ARCHITECTURE ${triple})
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/${triple}/pkgconfig:/usr/share/pkgconfig)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${TW_FOREIGN} -cpu max)
if(NOT EXISTS /lib/${triple}/libc.so.6) # then the libraries that came with the compiler must do
  list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -L /usr/${triple})
endif()
