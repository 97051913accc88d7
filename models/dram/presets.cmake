# The files of configs/dram as a C file: each is a preset, or a part of one, of the same name, its first comment
# line what it is.
#
#     cmake -DOUTPUT=FILE.c -DFOLDER=configs/dram -P presets.cmake
function(pimsim_rows folder rows)
  file(GLOB files ${folder}/*.cfg)
  list(SORT files COMPARE NATURAL)
  set(all "")
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
    string(APPEND all "    {\"${name}\", \"${about}\",\n     \"${text}\"},\n")
  endforeach()
  set(${rows} "${all}" PARENT_SCOPE)
endfunction()

set(text "/* Made by models/dram/presets.cmake from configs/dram. */
#include \"models/dram/standard/presets.h\"
")
set(lists "")
foreach(kind presets standards bins densities pages)
  set(folder ${FOLDER}/${kind})
  if(kind STREQUAL "presets")
    set(folder ${FOLDER})
  endif()
  pimsim_rows(${folder} rows)
  string(APPEND text "\nstatic const struct pim_dram_preset ${kind}[] = {\n${rows}};\n")
  string(APPEND lists "    {${kind}, sizeof ${kind} / sizeof ${kind}[0]},\n")
endforeach()
string(APPEND text "\nconst struct pim_dram_preset_list pim_dram_preset_lists[PIM_DRAM_PRESET_KINDS] = {\n${lists}};\n")
file(WRITE ${OUTPUT} "${text}")
