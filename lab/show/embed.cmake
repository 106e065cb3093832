# cmake -DOUT=sources.c -DFOLDER=lab/ladders -DFILES="map/cpu.c map/gpu.c" -P embed.cmake: the files as arrays in C, so that
# 'show' has the rungs' source wherever the program is.
separate_arguments(FILES)
set(arrays "")
set(table "")
foreach(file ${FILES})
  string(MAKE_C_IDENTIFIER ${file} name)
  if(file MATCHES "^src/") # of the library, whose kernels some rungs are
    file(READ ${FOLDER}/../../${file} bytes HEX)
  else()
    file(READ ${FOLDER}/${file} bytes HEX)
  endif()
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const char ${name}[] = {${bytes}0};\n")
  string(APPEND table "    {\"${file}\", ${name}},\n")
endforeach()
file(WRITE ${OUT} "/* Made by embed.cmake. */\n#include \"show/sources.h\"\n\n#include <stddef.h>\n\n${arrays}\n"
     "const lab_source lab_sources[] = {\n${table}    {NULL, NULL}};\n")
