# For aarch64 from another machine.
set(TW_FOREIGN aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
