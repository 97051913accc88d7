# A file of constraint rows as a C file.
#
#     cmake -DOUTPUT=FILE.c -DINPUT=configs/dram/constraints/jedec.rows -P rows.cmake
file(READ ${INPUT} text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
file(WRITE ${OUTPUT} "/* Made by models/dram/rows.cmake from configs/dram/constraints. */
#include \"models/dram/standard/rows.h\"

const char pim_dram_jedec_rows[] =
    \"${text}\";
")
