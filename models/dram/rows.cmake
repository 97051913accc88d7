# A file of commands or constraints as a C file.
#
#     cmake -DOUTPUT=FILE.c -DPART=constraints -DINPUT=configs/dram/constraints/jedec.rows -P rows.cmake
file(READ ${INPUT} text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
if(PART STREQUAL "commands")
  set(name pim_dram_jedec_commands)
  set(header commands.h)
else()
  set(name pim_dram_jedec_rows)
  set(header rows.h)
endif()
file(WRITE ${OUTPUT} "/* Made by models/dram/rows.cmake from configs/dram/${PART}. */
#include \"models/dram/standard/${header}\"

const char ${name}[] =
    \"${text}\";
")
