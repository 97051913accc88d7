/*
 * PE arrays against every row of tests/data/pe.
 */
#include "tests/unit/pe/suites.h"
#include "tests/unit/test_main.h"

#include "models/cost/pe.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS_MAX = 20 };

/* One row: the text of the first field, numbers of those behind the names. */
struct row {
    char name[64];
    uint64_t value[COLUMNS_MAX];
};

static FILE *open_table(const char *name)
{
    char relative[128], path[1024], line[512];
    (void)snprintf(relative, sizeof relative, "tests/data/pe/%s.csv", name);
    FILE *file = fopen(pimsim_source_path(path, sizeof path, relative), "r");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file)); /* header */
    return file;
}

/* value[0] is the first field behind the names. False at the end of the file. */
static bool read_row(FILE *file, int names, int values, struct row *row)
{
    char line[512];
    if (!fgets(line, sizeof line, file))
        return false;
    char *field = line;
    for (int i = 0; i < names; i++) {
        char *comma = strchr(field, ',');
        ck_assert_ptr_nonnull(comma);
        *comma = '\0';
        if (i == 0) {
            ck_assert_uint_lt((size_t)(comma - field), sizeof row->name);
            memcpy(row->name, field, (size_t)(comma - field) + 1);
        }
        field = comma + 1;
    }
    for (int i = 0; i < values; i++) {
        ck_assert_int_eq(sscanf(field, "%" SCNu64, &row->value[i]), 1);
        field = strchr(field, ',');
        ck_assert(field != NULL || i + 1 == values);
        field = field ? field + 1 : NULL;
    }
    return true;
}

struct shape {
    uint32_t m, n, k, rows, columns;
};

static uint64_t cycles_of(const struct shape *shape, enum pim_pe_dataflow dataflow, enum pim_pe_folds folds,
                          bool shadow, bool drain)
{
    const struct pim_pe_configuration configuration = {.dataflow = dataflow,
                                                       .rows = shape->rows,
                                                       .columns = shape->columns,
                                                       .double_buffered = shadow,
                                                       .drain_outputs = drain,
                                                       .folds = folds,
                                                       .accumulator_bits = 32};
    struct pim_error error;
    struct pim_pe_cost cost;
    ck_assert_msg(pim_pe_check_configuration(&configuration, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_pe_check_matrix(shape->m, shape->n, shape->k, 8, 8, &error) == PIM_OK, "%s",
                  error.text);
    pim_pe_matrix(&configuration, shape->m, shape->n, shape->k, 8, 8, false, &cost);
    ck_assert_uint_eq(cost.port_stall_cycles, 0);
    ck_assert_uint_eq(cost.macs, (uint64_t)shape->m * shape->n * shape->k);
    return cost.cycles;
}

#define SAME(row, shape, dataflow, folds, shadow, drain, expected)                                           \
    do {                                                                                                     \
        uint64_t cycles = cycles_of(shape, dataflow, folds, shadow, drain);                                  \
        ck_assert_msg(cycles == (expected), "%s on %ux%u, %s: %" PRIu64 " instead of %" PRIu64, (row)->name, \
                      (shape)->rows, (shape)->columns, #dataflow, cycles, (uint64_t)(expected));             \
    } while (0)

START_TEST(systolic_products)
{
    FILE *file = open_table("gemm_systolic");
    struct row row;
    int rows = 0;
    for (; read_row(file, 1, 14, &row); rows++) {
        const uint64_t *v = row.value;
        struct shape s = {(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2], (uint32_t)v[3], (uint32_t)v[4]};
        SAME(&row, &s, PIM_PE_OUTPUT_STATIONARY, PIM_PE_FOLDS_PADDED, false, false, v[5]);
        SAME(&row, &s, PIM_PE_WEIGHT_STATIONARY, PIM_PE_FOLDS_PADDED, false, false, v[6]);
        SAME(&row, &s, PIM_PE_INPUT_STATIONARY, PIM_PE_FOLDS_PADDED, false, false, v[7]);
        SAME(&row, &s, PIM_PE_OUTPUT_STATIONARY, PIM_PE_FOLDS_TRIMMED, false, false, v[8]);
        SAME(&row, &s, PIM_PE_OUTPUT_STATIONARY, PIM_PE_FOLDS_TRIMMED, false, true, v[9]);
        SAME(&row, &s, PIM_PE_WEIGHT_STATIONARY, PIM_PE_FOLDS_TRIMMED, false, false, v[10]);
        SAME(&row, &s, PIM_PE_INPUT_STATIONARY, PIM_PE_FOLDS_TRIMMED, false, false, v[11]);
        SAME(&row, &s, PIM_PE_WEIGHT_STATIONARY, PIM_PE_FOLDS_TRIMMED, true, false, v[12]);
    }
    ck_assert_int_eq(rows, 76);
    (void)fclose(file);
}
END_TEST

START_TEST(systolic_convolutions)
{
    FILE *file = open_table("conv_systolic");
    struct row row;
    int rows = 0;
    for (; read_row(file, 1, 16, &row); rows++) {
        const uint64_t *v = row.value; /* n P Q R S C K rows columns */
        struct shape s = {(uint32_t)(v[0] * v[1] * v[2]), (uint32_t)v[6], (uint32_t)(v[3] * v[4] * v[5]),
                          (uint32_t)v[7], (uint32_t)v[8]};
        SAME(&row, &s, PIM_PE_OUTPUT_STATIONARY, PIM_PE_FOLDS_PADDED, false, false, v[9]);
        SAME(&row, &s, PIM_PE_WEIGHT_STATIONARY, PIM_PE_FOLDS_PADDED, false, false, v[10]);
        SAME(&row, &s, PIM_PE_INPUT_STATIONARY, PIM_PE_FOLDS_PADDED, false, false, v[11]);
        SAME(&row, &s, PIM_PE_OUTPUT_STATIONARY, PIM_PE_FOLDS_TRIMMED, false, false, v[12]);
        SAME(&row, &s, PIM_PE_WEIGHT_STATIONARY, PIM_PE_FOLDS_TRIMMED, false, false, v[13]);
        SAME(&row, &s, PIM_PE_WEIGHT_STATIONARY, PIM_PE_FOLDS_TRIMMED, true, false, v[14]);
    }
    ck_assert_int_eq(rows, 22);
    (void)fclose(file);
}
END_TEST

/* A convolution is a product for each of the R x S positions of its kernel, added up in the accumulators. */
static uint64_t vector_mac(const uint64_t *v, enum pim_pe_weight_load load)
{
    const struct pim_pe_configuration configuration = {.dataflow = PIM_PE_VECTOR_MAC,
                                                       .rows = (uint32_t)v[7],
                                                       .columns = (uint32_t)v[8],
                                                       .double_buffered = true,
                                                       .folds = PIM_PE_FOLDS_PADDED,
                                                       .weight_load = load,
                                                       .accumulator_bits = 32};
    struct pim_pe_cost cost;
    uint64_t cycles = 0;
    for (uint64_t position = 0; position < v[3] * v[4]; position++) {
        pim_pe_matrix(&configuration, (uint32_t)(v[0] * v[1] * v[2]), (uint32_t)v[6], (uint32_t)v[5], 8, 8,
                      position > 0, &cost);
        cycles += cost.cycles;
    }
    return cycles;
}

START_TEST(vector_mac_layers)
{
    FILE *file = open_table("nvdla_style");
    struct row row;
    int rows = 0;
    for (; read_row(file, 2, 11, &row); rows++) {
        uint64_t ideal = vector_mac(row.value, PIM_PE_WEIGHTS_HIDDEN);
        uint64_t bound = vector_mac(row.value, PIM_PE_WEIGHTS_KERNEL_PER_CYCLE);
        ck_assert_msg(ideal == row.value[9], "%s: %" PRIu64 " instead of %" PRIu64, row.name, ideal,
                      row.value[9]);
        ck_assert_msg(bound == row.value[10], "%s: %" PRIu64 " instead of %" PRIu64, row.name, bound,
                      row.value[10]);
    }
    ck_assert_int_eq(rows, 120);
    (void)fclose(file);
}
END_TEST

Suite *suite_pe_golden(void)
{
    Suite *suite = suite_create("golden");
    TCase *tests = tcase_create("golden");
    tcase_add_test(tests, systolic_products);
    tcase_add_test(tests, systolic_convolutions);
    tcase_add_test(tests, vector_mac_layers);
    suite_add_tcase(suite, tests);
    return suite;
}
