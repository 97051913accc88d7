# The files of configs/dram as a C file: each is a preset of the same name, its first comment line what it is.
#
#     cmake -DOUTPUT=FILE.c -DFOLDER=configs/dram -P presets.cmake
file(GLOB files ${FOLDER}/*.cfg)
list(SORT files)
set(rows "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  if(NOT text MATCHES "^# ([^\n]+)\n")
    message(FATAL_ERROR "${file}: the first line must be a comment that says what it is")
  endif()
  set(about "${CMAKE_MATCH_1}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(APPEND rows "    {\"${name}\", \"${about}\",\n     \"${text}\"},\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made by models/dram/presets.cmake from configs/dram. */
#include \"models/dram/standard/presets.h\"

const struct pim_dram_preset pim_dram_presets[] = {
${rows}};
const size_t pim_dram_presets_count = sizeof pim_dram_presets / sizeof pim_dram_presets[0];
")
