# For x86_64 from another machine.
set(TW_FOREIGN x86_64)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
