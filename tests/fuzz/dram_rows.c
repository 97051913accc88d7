/*
 * Any bytes as constraint rows, behind "%" as timings, behind another as commands. What is refused must have
 * a message; what is taken must have the built-in rows and be evaluated within bounds.
 */
#include "models/dram/standard/commands.h"
#include "models/dram/standard/rows.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pim_dram_specification specification;
    struct pim_error error = {PIM_OK, ""};
    char *text = malloc(size + 1);
    if (!text)
        abort();
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    char *timings = strchr(text, '%');
    if (timings)
        *timings++ = '\0';
    char *commands = timings ? strchr(timings, '%') : NULL;
    if (commands)
        *commands++ = '\0';
    specification = (struct pim_dram_specification){.clock_ps = 833};
    for (unsigned i = 1; i < PIM_DRAM_PARAMETERS; i++)
        specification.parameter[i] = i;
    enum pim_status status = pim_dram_timings_parse(&specification, timings ? timings : "", &error);
    if (status == PIM_OK)
        status = pim_dram_commands_parse(&specification, commands ? commands : "jedec", &error);
    const int full = !commands;
    if (status == PIM_OK)
        status = pim_dram_commands_check(&specification, &error);
    if (status == PIM_OK)
        status = pim_dram_rows_parse(&specification, text, &error);
    require(status == PIM_OK || error.text[0] != '\0', "refused without a message");
    if (status == PIM_OK) {
        struct pim_dram_constraint_table table, own = {.count = 0};
        pim_dram_constraints(&specification, &table);
        pim_dram_own_constraints(&specification, &own);
        require((!full || specification.taken > 0 || table.count >= 40) && own.count < table.count &&
                    specification.rows <= PIM_DRAM_ROWS_MAX,
                "rows are missing, or too many");
    }
    free(text);
    return 0;
}
