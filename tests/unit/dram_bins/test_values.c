/*
 * Values of speed bins and densities against the figures of the standards in ns, which stand here once more:
 * clocks are ns over the period, rounded up, but for a fortieth of a clock (JESD79-4: rounding algorithms).
 */
#include "tests/unit/dram_bins/bins.h"
#include "tests/unit/dram_channel/support.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <string.h>

enum { RATES = 7, WIDTHS = 3 };

/* A shortest time of a standard at its rates, and the clocks below which it never goes. */
struct time {
    enum pim_dram_parameter parameter;
    uint32_t width, least; /* width: of devices of this width; 0: of all */
    double ns[RATES];      /* by rate; 0: as at the rate before */
};

struct bin {
    const char *name;
    double ns; /* tAA, tRCD and tRP */
};

struct standard {
    const char *name;
    uint32_t bus_bits, rates[RATES], clock_ps[RATES], cwl[RATES];
    const struct time *times;
    const struct bin *bins;
};

static const struct time ddr3_times[] = {
    {PIM_DRAM_T_RAS, 0, 0, {37.5, 37.5, 36, 35, 34, 33}},
    {PIM_DRAM_T_CCD_S, 0, 4, {0}},
    {PIM_DRAM_T_CCD_L, 0, 4, {0}},
    {PIM_DRAM_T_RRD_S, 4, 4, {10, 7.5, 6, 6, 5, 5}},
    {PIM_DRAM_T_RRD_S, 8, 4, {10, 7.5, 6, 6, 5, 5}},
    {PIM_DRAM_T_RRD_S, 16, 4, {10, 10, 7.5, 7.5, 6, 6}},
    {PIM_DRAM_T_RRD_L, 4, 4, {10, 7.5, 6, 6, 5, 5}},
    {PIM_DRAM_T_RRD_L, 8, 4, {10, 7.5, 6, 6, 5, 5}},
    {PIM_DRAM_T_RRD_L, 16, 4, {10, 10, 7.5, 7.5, 6, 6}},
    {PIM_DRAM_T_FAW, 4, 0, {40, 37.5, 30, 30, 27, 25}},
    {PIM_DRAM_T_FAW, 8, 0, {40, 37.5, 30, 30, 27, 25}},
    {PIM_DRAM_T_FAW, 16, 0, {50, 50, 45, 40, 35, 35}},
    {PIM_DRAM_T_WTR_S, 0, 4, {7.5}},
    {PIM_DRAM_T_WTR_L, 0, 4, {7.5}},
    {PIM_DRAM_T_WR_PRE, 0, 0, {15}},
    {PIM_DRAM_T_RTP, 0, 4, {7.5}},
    {PIM_DRAM_NO_PARAMETER, 0, 0, {0}},
};

static const struct bin ddr3_bins[] = {
    {"800d", 12.5},   {"800e", 15},     {"1066e", 11.25}, {"1066f", 13.125}, {"1066g", 15},
    {"1333g", 12},    {"1333h", 13.5},  {"1600h", 11.25}, {"1600j", 12.5},   {"1600k", 13.75},
    {"1866k", 11.77}, {"1866l", 12.84}, {"1866m", 13.91}, {"2133l", 11.25},  {"2133m", 12.19},
    {"2133n", 13.09}, {NULL, 0},
};

static const struct time ddr4_times[] = {
    {PIM_DRAM_T_RAS, 0, 0, {35, 34, 33, 32}},
    {PIM_DRAM_T_CCD_S, 0, 4, {0}},
    {PIM_DRAM_T_CCD_L, 0, 5, {6.25, 5.355, 5.355, 5}},
    {PIM_DRAM_T_RRD_S, 4, 4, {5, 4.2, 3.7, 3.3, 3, 2.7, 2.5}},
    {PIM_DRAM_T_RRD_S, 8, 4, {5, 4.2, 3.7, 3.3, 3, 2.7, 2.5}},
    {PIM_DRAM_T_RRD_S, 16, 4, {6, 5.3}},
    {PIM_DRAM_T_RRD_L, 4, 4, {6, 5.3, 5.3, 4.9}},
    {PIM_DRAM_T_RRD_L, 8, 4, {6, 5.3, 5.3, 4.9}},
    {PIM_DRAM_T_RRD_L, 16, 4, {7.5, 6.4}},
    {PIM_DRAM_T_FAW, 4, 16, {20, 17, 15, 13, 12, 10.875, 10}},
    {PIM_DRAM_T_FAW, 8, 20, {25, 23, 21}},
    {PIM_DRAM_T_FAW, 16, 28, {35, 30}},
    {PIM_DRAM_T_WTR_S, 0, 2, {2.5}},
    {PIM_DRAM_T_WTR_L, 0, 4, {7.5}},
    {PIM_DRAM_T_WR_PRE, 0, 0, {15}},
    {PIM_DRAM_T_RTP, 0, 4, {7.5}},
    {PIM_DRAM_NO_PARAMETER, 0, 0, {0}},
};

static const struct bin ddr4_bins[] = {
    {"1600j", 12.5},  {"1600k", 13.75}, {"1600l", 15},     {"1866l", 12.85}, {"1866m", 13.92},
    {"1866n", 15},    {"2133n", 13.13}, {"2133p", 14.06},  {"2133r", 15},    {"2400p", 12.5},
    {"2400r", 13.32}, {"2400t", 14.16}, {"2400u", 15},     {"2666t", 12.75}, {"2666u", 13.5},
    {"2666v", 14.25}, {"2666w", 15},    {"2933v", 12.96},  {"2933w", 13.64}, {"2933y", 14.32},
    {"2933aa", 15},   {"3200w", 12.5},  {"3200aa", 13.75}, {"3200ac", 15},   {NULL, 0},
};

static const struct time ddr5_times[] = {
    {PIM_DRAM_T_RAS, 0, 0, {32}},
    {PIM_DRAM_T_CCD_S, 0, 8, {0}},
    {PIM_DRAM_T_CCD_L, 0, 8, {5}},
    {PIM_DRAM_T_CCD_L_WR, 4, 32, {20}},
    {PIM_DRAM_T_CCD_L_WR, 8, 16, {10}},
    {PIM_DRAM_T_CCD_L_WR, 16, 16, {10}},
    {PIM_DRAM_T_RRD_S, 0, 8, {0}},
    {PIM_DRAM_T_RRD_L, 0, 8, {5}},
    {PIM_DRAM_T_FAW, 4, 32, {20, 13.333, 11.428, 10}},
    {PIM_DRAM_T_FAW, 8, 32, {20, 13.333, 11.428, 10}},
    {PIM_DRAM_T_FAW, 16, 40, {25, 16.666, 14.285, 12.5}},
    {PIM_DRAM_T_WTR_S, 0, 4, {2.5}},
    {PIM_DRAM_T_WTR_L, 0, 16, {10}},
    {PIM_DRAM_T_WR_PRE, 0, 0, {30}},
    {PIM_DRAM_T_RTP, 0, 12, {7.5}},
    {PIM_DRAM_T_PPD, 0, 2, {0}},
    {PIM_DRAM_T_RTW, 0, 4, {0}},
    {PIM_DRAM_NO_PARAMETER, 0, 0, {0}},
};

static const struct bin ddr5_bins[] = {
    {"3200an", 15},     {"3200b", 16.25}, {"3200c", 17.5},    {"4800an", 14.166}, {"4800b", 16},
    {"5600an", 14.285}, {"5600b", 16},    {"6400an", 14.375}, {"6400b", 16},      {NULL, 0}};

static const struct time lpddr4_times[] = {
    {PIM_DRAM_T_RCDRD, 0, 4, {18}},
    {PIM_DRAM_T_RCDWR, 0, 4, {18}},
    {PIM_DRAM_T_RP, 0, 4, {18}},
    {PIM_DRAM_T_RPAB, 0, 4, {21}},
    {PIM_DRAM_T_RAS, 0, 3, {42}},
    {PIM_DRAM_T_CCD_S, 0, 8, {0}},
    {PIM_DRAM_T_CCD_L, 0, 8, {0}},
    {PIM_DRAM_T_RRD_S, 0, 4, {10, 10, 10, 10, 10, 7.5}},
    {PIM_DRAM_T_RRD_L, 0, 4, {10, 10, 10, 10, 10, 7.5}},
    {PIM_DRAM_T_FAW, 0, 0, {40, 40, 40, 40, 40, 30}},
    {PIM_DRAM_T_WTR_S, 0, 8, {10}},
    {PIM_DRAM_T_WTR_L, 0, 8, {10}},
    {PIM_DRAM_T_WR_PRE, 0, 6, {18}},
    {PIM_DRAM_T_RTP, 0, 8, {7.5}},
    {PIM_DRAM_T_PPD, 0, 4, {0}},
    {PIM_DRAM_T_CL, 0, 0, {17.5, 18.75, 18, 17.5, 17.142, 16.875}}, /* 14, 20, 24, 28, 32 and 36 clocks */
    {PIM_DRAM_NO_PARAMETER, 0, 0, {0}},
};

static const struct standard standards[] = {
    {"ddr3",
     64,
     {800, 1066, 1333, 1600, 1866, 2133},
     {2500, 1875, 1500, 1250, 1071, 937},
     {5, 6, 7, 8, 9, 10},
     ddr3_times,
     ddr3_bins},
    {"ddr4",
     64,
     {1600, 1866, 2133, 2400, 2666, 2933, 3200},
     {1250, 1071, 937, 833, 750, 682, 625},
     {9, 10, 11, 12, 14, 16, 16},
     ddr4_times,
     ddr4_bins},
    {"ddr5", 32, {3200, 4800, 5600, 6400}, {625, 416, 357, 312}, {0}, ddr5_times, ddr5_bins},
    {"lpddr4",
     16,
     {1600, 2133, 2667, 3200, 3733, 4266},
     {1250, 937, 750, 625, 535, 468},
     {8, 10, 12, 14, 16, 18},
     lpddr4_times,
     NULL},
    {"lpddr5", 16, {6400}, {1250}, {9}, NULL, NULL},
    {"gddr6", 16, {14000}, {570}, {6}, NULL, NULL},
    {"hbm1", 128, {1000, 2000}, {2000, 1000}, {4, 5}, NULL, NULL},
    {"hbm2", 128, {1600, 2000, 2400}, {1250, 1000, 833}, {4, 5, 6}, NULL, NULL},
    {"hbm3", 64, {6400}, {312}, {20}, NULL, NULL},
};

static const struct standard *standard_of(const char *name)
{
    for (size_t i = 0; i < sizeof standards / sizeof standards[0]; i++)
        if (strcmp(standards[i].name, name) == 0)
            return &standards[i];
    ck_abort_msg("%s is not in the table of this test", name);
    return NULL;
}

uint32_t bins_bus_bits(const char *standard)
{
    return standard_of(standard)->bus_bits;
}

/* Rates are multiples of 133 1/3 MT/s, rounded in names; two transfers take a clock, in ps. */
static double period(uint32_t rate)
{
    const uint32_t steps = (rate * 3 + 200) / 400;
    return 2e6 / (steps * 400.0 / 3.0);
}

static uint32_t clocks(double ns, uint32_t rate)
{
    return (uint32_t)(ns * 1000 / period(rate) + 0.974);
}

static uint32_t expected(const struct time *time, unsigned rate, uint32_t name)
{
    double ns = time->ns[0];
    for (unsigned i = 1; i <= rate; i++)
        ns = time->ns[i] > 0 ? time->ns[i] : ns;
    const uint32_t cycles = clocks(ns, name);
    return cycles > time->least ? cycles : time->least;
}

static void same(const struct bin_memory *memory, const uint32_t *parameter, enum pim_dram_parameter which,
                 uint32_t right)
{
    ck_assert_msg(parameter[which] == right, "%s: %s is %" PRIu32 ", the standard has %" PRIu32, memory->name,
                  pim_dram_parameter_key(which), parameter[which], right);
}

static void compare_bin(const struct bin_memory *memory, const struct standard *standard, unsigned rate,
                        const uint32_t *parameter)
{
    for (const struct time *time = standard->times; time && time->parameter != PIM_DRAM_NO_PARAMETER; time++)
        if (time->width == 0 || time->width == memory->width)
            same(memory, parameter, time->parameter, expected(time, rate, memory->rate));
    const bool ddr5 = strcmp(standard->name, "ddr5") == 0; /* CWL is CL - 2, and CL is even */
    same(memory, parameter, PIM_DRAM_T_CWL, ddr5 ? parameter[PIM_DRAM_T_CL] - 2 : standard->cwl[rate]);
    if (strcmp(standard->name, "lpddr4") == 0) {
        same(memory, parameter, PIM_DRAM_T_RTW, clocks(3.5, memory->rate) + 2); /* tDQSCK, and the preamble */
        same(memory, parameter, PIM_DRAM_T_RREFD, parameter[PIM_DRAM_T_RRD_S]);
    }
    if (standard->times)
        same(memory, parameter, PIM_DRAM_T_RC, parameter[PIM_DRAM_T_RAS] + parameter[PIM_DRAM_T_RP]);
    const struct bin *bin = standard->bins;
    while (bin && bin->name && strcmp(bin->name, memory->bin + strlen(standard->name) + 1) != 0)
        bin++;
    ck_assert_msg(!bin || bin->name, "%s is not in the table of this test", memory->bin);
    for (unsigned i = 0; bin && i < 4; i++) {
        static const enum pim_dram_parameter which[] = {PIM_DRAM_T_CL, PIM_DRAM_T_RCDRD, PIM_DRAM_T_RCDWR,
                                                        PIM_DRAM_T_RP};
        const uint32_t cycles = clocks(bin->ns, memory->rate);
        same(memory, parameter, which[i], ddr5 && i == 0 ? cycles + cycles % 2 : cycles);
    }
}

START_TEST(bins_are_the_standards)
{
    struct pim_dram_configuration configuration;
    struct bin_memory memory;
    for (size_t density = 0; density < pim_dram_preset_lists[PIM_DRAM_DENSITY].count; density++) {
        if (!bins_memory((size_t)_i, density, &memory))
            continue;
        const struct standard *standard = standard_of(memory.standard);
        unsigned rate = 0;
        while (rate < RATES && standard->rates[rate] != memory.rate)
            rate++;
        ck_assert_msg(rate < RATES, "%s is not in the table of this test", memory.bin);
        configure(&configuration, memory.name, NULL);
        const struct pim_dram_specification *specification = &configuration.specification;
        compare_bin(&memory, standard, rate, specification->parameter);
        ck_assert_uint_eq(specification->clock_ps, standard->clock_ps[rate]);
        /* A burst fills the bus: its bits are the pins times its transfers, which come at the rate. */
        const double burst = specification->parameter[PIM_DRAM_T_B] * (double)specification->clock_ps,
                     bits = 8.0 * specification->organization.access_bytes *
                            specification->organization.pseudo_channels;
        ck_assert_double_eq_tol(bits / standard->bus_bits / burst * 1e6 / memory.rate, 1, 3e-3);
    }
}
END_TEST

/* Bins of one source alone, whose clocks stand here once more: tCL, tCWL, tRCD of reads and writes, tRP,
 * tRAS, tRC, tCCD_S, tCCD_L, tRRD_S, tRRD_L, tFAW, tWTR_S, tWTR_L, tWR, tRTP, tRREFD, tRTW,
 * tPPD, tRPab. */
static const struct {
    const char *name;
    uint32_t cycles[20];
} others[] = {
    {"lpddr5_6400_8gb_x16", {17, 9, 15, 15, 15, 34, 49, 2, 4, 4, 4, 16, 5, 12, 28, 8, 6, 2, 2, 17}},
    {"gddr6_14000_16gb_x8", {24, 6, 30, 20, 30, 60, 90, 2, 4, 11, 11, 43, 9, 11, 30, 4, 22, 5, 2, 30}},
    {"gddr6_14000_1350mv_8gb_x16", {24, 6, 27, 16, 27, 53, 79, 2, 4, 8, 8, 29, 9, 11, 27, 4, 15, 5, 1, 27}},
    {"hbm1_1000_1gb", {7, 4, 7, 6, 7, 17, 24, 1, 2, 4, 4, 8, 3, 4, 8, 4, 4, 2, 0, 7}},
    {"hbm1_2000_2gb", {14, 5, 14, 12, 14, 34, 48, 1, 2, 4, 4, 15, 6, 8, 16, 5, 8, 2, 0, 14}},
    {"hbm2_1600_2gb", {10, 4, 10, 8, 10, 24, 34, 2, 4, 4, 4, 12, 5, 6, 12, 4, 7, 2, 0, 10}},
    {"hbm2_2000_4gb", {14, 5, 14, 12, 14, 34, 48, 2, 4, 4, 4, 15, 6, 8, 16, 5, 8, 2, 0, 14}},
    {"hbm2_2400_8gb", {17, 6, 17, 14, 17, 40, 57, 2, 4, 5, 5, 19, 8, 10, 19, 6, 10, 2, 0, 17}},
    {"hbm3_6400_8gb_8hi", {40, 20, 62, 30, 52, 90, 144, 4, 8, 8, 10, 48, 14, 20, 66, 18, 16, 16, 4, 52}},
};

START_TEST(bins_are_their_source)
{
    static const enum pim_dram_parameter which[] = {
        PIM_DRAM_T_CL,    PIM_DRAM_T_CWL,   PIM_DRAM_T_RCDRD, PIM_DRAM_T_RCDWR, PIM_DRAM_T_RP,
        PIM_DRAM_T_RAS,   PIM_DRAM_T_RC,    PIM_DRAM_T_CCD_S, PIM_DRAM_T_CCD_L, PIM_DRAM_T_RRD_S,
        PIM_DRAM_T_RRD_L, PIM_DRAM_T_FAW,   PIM_DRAM_T_WTR_S, PIM_DRAM_T_WTR_L, PIM_DRAM_T_WR_PRE,
        PIM_DRAM_T_RTP,   PIM_DRAM_T_RREFD, PIM_DRAM_T_RTW,   PIM_DRAM_T_PPD,   PIM_DRAM_T_RPAB};
    struct pim_dram_configuration configuration;
    configure(&configuration, others[_i].name, NULL);
    for (unsigned i = 0; i < sizeof which / sizeof which[0]; i++)
        ck_assert_msg(configuration.specification.parameter[which[i]] == others[_i].cycles[i],
                      "%s: %s is %" PRIu32 ", its source has %" PRIu32, others[_i].name,
                      pim_dram_parameter_key(which[i]), configuration.specification.parameter[which[i]],
                      others[_i].cycles[i]);
}
END_TEST

/* Densities: banks of a rank, bytes of a row of a device (of the channel, where there is one), and ns of a
 * refresh of all banks and of one; 0: not said. */
static const struct density {
    const char *standard;
    uint32_t gigabits, width, groups, banks, page_bytes;
    double trfc_ns, trfc_bank_ns, trefi_ns;
} densities[] = {
    {"ddr3", 1, 0, 1, 8, 0, 110, 0, 7800},
    {"ddr3", 2, 0, 1, 8, 0, 160, 0, 7800},
    {"ddr3", 4, 0, 1, 8, 0, 260, 0, 7800},
    {"ddr3", 8, 0, 1, 8, 0, 350, 0, 7800},
    {"ddr4", 2, 0, 0, 0, 0, 160, 0, 7800},
    {"ddr4", 4, 0, 0, 0, 0, 260, 0, 7800},
    {"ddr4", 8, 0, 0, 0, 0, 350, 0, 7800},
    {"ddr4", 16, 0, 0, 0, 0, 550, 0, 7800},
    {"ddr4", 0, 4, 4, 16, 512, 0, 0, 0},
    {"ddr4", 0, 8, 4, 16, 1024, 0, 0, 0},
    {"ddr4", 0, 16, 2, 8, 2048, 0, 0, 0},
    {"ddr3", 0, 4, 0, 0, 1024, 0, 0, 0},
    {"ddr3", 0, 8, 0, 0, 1024, 0, 0, 0},
    {"ddr3", 0, 16, 0, 0, 2048, 0, 0, 0},
    {"ddr5", 8, 0, 0, 0, 0, 195, 115, 3900},
    {"ddr5", 16, 0, 0, 0, 0, 295, 130, 3900},
    {"ddr5", 32, 0, 0, 0, 0, 410, 190, 3900},
    {"ddr5", 0, 4, 8, 0, 1024, 0, 0, 0},
    {"ddr5", 0, 8, 8, 0, 1024, 0, 0, 0},
    {"ddr5", 0, 16, 4, 0, 2048, 0, 0, 0},
    {"ddr5", 8, 16, 4, 8, 0, 0, 0, 0},
    {"ddr5", 8, 4, 8, 16, 0, 0, 0, 0},
    {"ddr5", 16, 8, 8, 32, 0, 0, 0, 0},
    {"ddr5", 32, 16, 4, 16, 0, 0, 0, 0},
    {"lpddr4", 2, 0, 1, 8, 2048, 130, 60, 3904},
    {"lpddr4", 4, 0, 1, 8, 2048, 180, 90, 3904},
    {"lpddr4", 8, 0, 1, 8, 2048, 280, 140, 3904},
    {"lpddr5", 2, 0, 4, 16, 2048, 130, 60, 3906.25},
    {"lpddr5", 4, 0, 4, 16, 2048, 180, 90, 3906.25},
    {"lpddr5", 8, 0, 4, 16, 2048, 210, 120, 3906.25},
    {"lpddr5", 16, 0, 4, 16, 2048, 280, 140, 3906.25},
    {"lpddr5", 32, 0, 4, 16, 2048, 380, 190, 3906.25},
    {"gddr6", 8, 0, 4, 16, 2048, 120, 60, 1900},
    {"gddr6", 16, 8, 4, 16, 2048, 120, 60, 1900},
    {"gddr6", 16, 16, 4, 16, 4096, 120, 60, 1900},
    {"hbm1", 1, 0, 4, 8, 2048, 110, 160, 3900},
    {"hbm1", 2, 0, 4, 8, 2048, 160, 160, 3900},
    {"hbm1", 4, 0, 4, 16, 2048, 260, 160, 3900},
    {"hbm2", 2, 0, 4, 16, 1024, 160, 160, 3900},
    {"hbm2", 4, 0, 4, 16, 1024, 260, 160, 3900},
    {"hbm2", 8, 0, 4, 16, 1024, 350, 200, 3900},
    {"hbm3", 4, 0, 0, 0, 1024, 260, 200, 0},
    {"hbm3", 8, 0, 8, 32, 1024, 350, 200, 0},
    {"hbm3", 16, 0, 8, 32, 1024, 450, 200, 0},
};

/* Devices of x4, x8 and x16 make up the bus of DDR; others are one to a channel, or half a one (GDDR6: the
 * other half is the other channel's). */
static uint64_t capacity(const struct bin_memory *memory)
{
    const uint64_t device = (uint64_t)memory->gigabits << 27;
    if (strcmp(memory->standard, "gddr6") == 0)
        return device / 2 * (16 / memory->width);
    return memory->standard[0] == 'd' ? device * (bins_bus_bits(memory->standard) / memory->width) : device;
}

static void same_time(const struct bin_memory *memory, const struct pim_dram_specification *specification,
                      enum pim_dram_parameter which, double ns, double rounded_up)
{
    const double cycles = ns * 1000 / specification->clock_ps + rounded_up;
    if (ns > 0)
        same(memory, specification->parameter, which, (uint32_t)cycles);
}

START_TEST(densities_are_the_standards)
{
    const double almost = 1 - 1e-9;
    struct pim_dram_configuration configuration;
    struct bin_memory memory;
    size_t bin = 0;
    unsigned rows = 0;
    while (!bins_memory(bin, (size_t)_i, &memory))
        bin++;
    configure(&configuration, memory.name, NULL);
    const struct pim_dram_specification *specification = &configuration.specification;
    const struct pim_dram_organization *o = &specification->organization;
    ck_assert_uint_eq(configuration.mapping.capacity, capacity(&memory));
    const uint32_t devices = memory.width == 0 ? 1 : bins_bus_bits(memory.standard) / memory.width;
    ck_assert_msg(configuration.energy.devices == devices, "%s: devices", memory.name);
    for (size_t i = 0; i < sizeof densities / sizeof densities[0]; i++) {
        const struct density *d = &densities[i];
        if (strcmp(d->standard, memory.standard) != 0 || (d->gigabits && d->gigabits != memory.gigabits) ||
            (d->width && d->width != memory.width))
            continue;
        rows++;
        ck_assert_msg(d->groups == 0 || d->groups == o->bank_groups, "%s: bank groups", memory.name);
        ck_assert_msg(d->banks == 0 || d->banks == o->bank_groups * o->banks, "%s: banks", memory.name);
        ck_assert_msg(d->page_bytes == 0 || d->page_bytes * devices == o->columns * o->access_bytes,
                      "%s: rows of %" PRIu32 " bytes", memory.name, o->columns * o->access_bytes);
        same_time(&memory, specification, PIM_DRAM_T_RFC, d->trfc_ns, almost);
        same_time(&memory, specification, PIM_DRAM_T_RFCPB, d->trfc_bank_ns, almost);
        same_time(&memory, specification, PIM_DRAM_T_REFI, d->trefi_ns, 1e-9);
        if (strcmp(d->standard, "ddr5") == 0) { /* REFsb has one distance for both */
            same_time(&memory, specification, PIM_DRAM_T_REFPB_REFPB, d->trfc_bank_ns, almost);
            same_time(&memory, specification, PIM_DRAM_T_RREFD, 30, almost);
            const double fine = d->gigabits == 8 ? 130 : d->gigabits == 16 ? 160 : 220; /* tRFC2 */
            same_time(&memory, specification, PIM_DRAM_T_RFC_FINE, d->trfc_ns > 0 ? fine : 0, almost);
        }
        if (strcmp(d->standard, "lpddr5") == 0)
            same_time(&memory, specification, PIM_DRAM_T_REFPB_REFPB, d->gigabits == 2 ? 60 : 90, almost);
    }
    ck_assert_msg(rows > 0, "%s is not in the table of this test", memory.density);
    ck_assert_msg((strstr(memory.density, "8hi") != NULL) == (o->stack_ids == 2), "%s", memory.name);
}
END_TEST

Suite *suite_dram_values(void)
{
    Suite *suite = suite_create("dram_values");
    TCase *cases = tcase_create("values");
    tcase_add_loop_test(cases, bins_are_the_standards, 0, (int)pim_dram_preset_lists[PIM_DRAM_BIN].count);
    tcase_add_loop_test(cases, bins_are_their_source, 0, sizeof others / sizeof others[0]);
    tcase_add_loop_test(cases, densities_are_the_standards, 0,
                        (int)pim_dram_preset_lists[PIM_DRAM_DENSITY].count);
    suite_add_tcase(suite, cases);
    return suite;
}
