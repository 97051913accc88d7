/* Presets as texts in the configuration format. Sources stand in `about` and in docs/models/dram.md. */
#include "models/dram/schema.h"
#include "sim/nearest.h"

#include <string.h>

/* Fast-OverlaPIM's Table I; tCWL, tWTR, tRTP, tFAW, tRFC, tREFI are not given there and assumed. */
#define HBM2_PIM_TIMING                                                                                      \
    "bank_groups = 4; banks = 4; rows = 16384; row_bytes = 1024; access_bytes = 32; clock_ps = 1000;"        \
    "split_command_bus = true; burst_cycles = 2; tcl = 16; tcwl = 4; trcd_read = 16; trcd_write = 16;"       \
    "trp = 16; tras = 29; trc = 45; tccd_s = 2; tccd_l = 4; trrd_s = 2; trrd_l = 2; tfaw = 16;"              \
    "twtr_s = 3; twtr_l = 8; twr = 16; trtp = 5; trfc = 260; trefi = 3900; trfc_bank = 160; trrefd = 8;"
/* The whole of Table I: a stack of 32 channels with 8 banks of 32 MiB. Groups of two banks are assumed, and
 * tAA (docs/models/bitserial.md). */
#define FAST_OVERLAPIM                                                                                       \
    "channels = 32; bank_groups = 4; banks = 2; rows = 32768; row_bytes = 1024; access_bytes = 32;"          \
    "clock_ps = 1000; split_command_bus = true; activate_cycles = 2; burst_cycles = 2; tcl = 16; tcwl = 4;"  \
    "trcd_read = 16; trcd_write = 16; trp = 16; tras = 29; trc = 45; tccd_s = 2; tccd_l = 4; trrd_s = 2;"    \
    "trrd_l = 2; tfaw = 16; twtr_s = 3; twtr_l = 8; twr = 16; trtp = 5; trfc = 260; trefi = 3900;"           \
    "trfc_bank = 160; trrefd = 8; taa = 4; mapping = \"row bank rank column group pseudo channel\";"
#define HBM2_PIM_ENERGY                                                                                      \
    "energy = { model = \"per_bit\"; activate_pj = 909.0; read_pj_per_bit = 2.68; write_pj_per_bit = 2.68;"  \
    "io_pj_per_bit = 0.80; };"

/* Allspark's Table IV at 400 MHz; tCL, tCWL, tWTR, tWR, tRTP are not given there and assumed. */
#define STACKED_BANK                                                                                         \
    "bank_groups = 1; banks = 1; rows = 8192; row_bytes = 1024; access_bytes = 16; clock_ps = 2500;"         \
    "burst_cycles = 1; tcl = 8; tcwl = 4; trcd_read = 8; trcd_write = 8; trp = 8; tras = 16; trc = 24;"      \
    "tccd_s = 1; tccd_l = 1; trrd_s = 1; trrd_l = 1; tfaw = 4; twtr_s = 3; twtr_l = 3; twr = 6; trtp = 3;"   \
    "trfc = 72; trefi = 1561; trfc_bank = 72; trrefd = 1;"

#define DDR4_ORGANIZATION                                                                                    \
    "bank_groups = 4; banks = 4; rows = 65536; row_bytes = 8192; access_bytes = 64; burst_cycles = 4;"

static const struct pim_dram_preset presets[] = {
    {"ddr4_2400r", "DDR4-2400R, 8 Gb x8, one rank; Ramulator 2.1's values; currents of DRAMsim3's MT40A1G8PM",
     "name = \"ddr4_2400r\"; dram = {" DDR4_ORGANIZATION
     "clock_ps = 833; tcl = 16; tcwl = 12; trcd_read = 16; trcd_write = 16; trp = 16; tras = 39; trc = 55;"
     "tccd_s = 4; tccd_l = 6; trrd_s = 4; trrd_l = 6; tfaw = 26; twtr_s = 3; twtr_l = 9; twr = 18; trtp = 9;"
     "trfc = 433; trefi = 9364; };"
     "energy = { model = \"currents\"; devices = 8; vdd_v = 1.2; idd0_ma = 48.0; idd2n_ma = 34.0;"
     "idd3n_ma = 43.0; idd4r_ma = 135.0; idd4w_ma = 123.0; idd5b_ma = 250.0; };"},
    {"ddr4_3200",
     "DDR4-3200AA (22-22-22), 8 Gb x8, one rank, bank groups interleaved; JESD79-4, DRAMsim3's values",
     "name = \"ddr4_3200\"; dram = {" DDR4_ORGANIZATION
     "clock_ps = 625; tcl = 22; tcwl = 16; trcd_read = 22; trcd_write = 22; trp = 22; tras = 52; trc = 74;"
     "tccd_s = 4; tccd_l = 8; trrd_s = 4; trrd_l = 8; tfaw = 34; twtr_s = 4; twtr_l = 12; twr = 24;"
     "trtp = 12; trfc = 560; trefi = 12480; mapping = \"row bank rank column group pseudo channel\"; };"
     "energy = { model = \"currents\"; devices = 8; vdd_v = 1.2; idd0_ma = 57.0; idd2n_ma = 37.0;"
     "idd3n_ma = 52.0; idd4r_ma = 168.0; idd4w_ma = 150.0; idd5b_ma = 250.0; };"},
    {"lpddr4_3200", "LPDDR4-3200, one x16 channel of 4 Gb, 8 banks; JESD209-4",
     "name = \"lpddr4_3200\"; dram = { bank_groups = 1; banks = 8; rows = 32768; row_bytes = 2048;"
     "access_bytes = 32; burst_cycles = 8; clock_ps = 625; tcl = 28; tcwl = 14; trcd_read = 29;"
     "trcd_write = 29; trp = 29; trp_all = 34; tras = 68; trc = 97; tccd_s = 8; tccd_l = 8; trrd_s = 16;"
     "trrd_l = 16; tfaw = 64; twtr_s = 16; twtr_l = 16; twr = 29; trtp = 12; trtw = 8; tppd = 4;"
     "trfc = 288; trefi = 6246; trfc_bank = 144; trrefd = 16; };"},
    {"ddr3_1600k", "DDR3-1600K (11-11-11), 4 Gb x8, one rank; Ramulator 2.1's values",
     "name = \"ddr3_1600k\"; dram = { bank_groups = 1; banks = 8; rows = 65536; row_bytes = 8192;"
     "access_bytes = 64; burst_cycles = 4; clock_ps = 1250; tcl = 11; tcwl = 8; trcd_read = 11;"
     "trcd_write = 11; trp = 11; tras = 28; trc = 39; tccd_s = 4; tccd_l = 4; trrd_s = 5; trrd_l = 5;"
     "tfaw = 24; twtr_s = 6; twtr_l = 6; twr = 12; trtp = 6; trfc = 208; trefi = 6240; };"},
    {"ddr5_4800an",
     "DDR5-4800AN (34-34-34), 16 Gb x8, one subchannel; ACT, RD and WR take two cycles of the bus; "
     "Ramulator 2.1's values",
     "name = \"ddr5_4800an\"; dram = { bank_groups = 8; banks = 4; rows = 65536; row_bytes = 4096;"
     "access_bytes = 64; burst_cycles = 8; clock_ps = 416; activate_cycles = 2; column_cycles = 2; tcl = 34;"
     "tcwl = 32; trcd_read = 34; trcd_write = 34; trp = 34; tras = 77; trc = 111; tccd_s = 8; tccd_l = 12;"
     "tccd_l_write = 48; trrd_s = 8; trrd_l = 12; tfaw = 48; twtr_s = 6; twtr_l = 24; twr = 72; trtp = 18;"
     "trtw = 4; tppd = 2; trfc = 710; trefi = 9375; };"},
    {"gddr6_14000",
     "GDDR6 at 14 Gb/s, 8 Gb, one of the two 16-bit channels of a device; Ramulator 2.1's values",
     "name = \"gddr6_14000\"; dram = { bank_groups = 4; banks = 4; rows = 16384; row_bytes = 2048;"
     "access_bytes = 32; burst_cycles = 2; clock_ps = 570; tcl = 24; tcwl = 6; trcd_read = 30;"
     "trcd_write = 20; trp = 30; tras = 60; trc = 90; tccd_s = 2; tccd_l = 4; trrd_s = 11; trrd_l = 11;"
     "tfaw = 43; twtr_s = 9; twtr_l = 11; twr = 30; trtp = 4; trtw = 5; tppd = 2; trfc = 211; trefi = 3333;"
     "trfc_bank = 106; trrefd = 22; };"},
    {"hbm1_2000",
     "HBM at 2 Gb/s, 4 Gb a channel, one 128-bit channel without pseudo-channels; Ramulator 2.1's values",
     "name = \"hbm1_2000\"; dram = { bank_groups = 4; banks = 2; rows = 32768; row_bytes = 2048;"
     "access_bytes = 32; burst_cycles = 1; clock_ps = 1000; split_command_bus = true; activate_cycles = 2;"
     "tcl = 14; tcwl = 5; trcd_read = 14; trcd_write = 12; trp = 14; tras = 34; trc = 48; tccd_s = 1;"
     "tccd_l = 2; trrd_s = 4; trrd_l = 4; tfaw = 15; twtr_s = 6; twtr_l = 8; twr = 16; trtp = 5; trfc = 260;"
     "trefi = 3900; trfc_bank = 160; trefi_bank = 488; trrefd = 8; };"},
    {"hbm2_pim", "HBM2 of Fast-OverlaPIM's Table I, one channel; ACT holds the row bus for two cycles",
     "name = \"hbm2_pim\"; dram = {" HBM2_PIM_TIMING "activate_cycles = 2; };" HBM2_PIM_ENERGY},
    {"hbm2_pim_act1", "The same with ACT of one cycle",
     "name = \"hbm2_pim_act1\"; dram = {" HBM2_PIM_TIMING "activate_cycles = 1; };" HBM2_PIM_ENERGY},
    {"fast_overlapim",
     "HBM2 of Fast-OverlaPIM that computes: a stack of 32 channels of 8 banks of 32 MiB, with second "
     "activations",
     "name = \"fast_overlapim\"; dram = {" FAST_OVERLAPIM "};" HBM2_PIM_ENERGY},
    {"hbm2_2000",
     "HBM2 at 2 Gb/s, a stack of 8 channels with 2 pseudo-channels, 8 Gb a channel; JESD235, Ramulator 2.1's "
     "values",
     "name = \"hbm2_2000\"; dram = { channels = 8; pseudo_channels = 2; bank_groups = 4; banks = 4;"
     "rows = 32768; row_bytes = 1024; access_bytes = 32; clock_ps = 1000; split_command_bus = true;"
     "activate_cycles = 2; burst_cycles = 2; tcl = 14; tcwl = 5; trcd_read = 14; trcd_write = 14; trp = 14;"
     "tras = 34; trc = 48; tccd_s = 2; tccd_l = 4; trrd_s = 4; trrd_l = 4; tfaw = 15; twtr_s = 6; twtr_l = 8;"
     "twr = 16; trtp = 5; trfc = 350; trefi = 3900; trfc_bank = 200; trrefd = 8; read_queue = 64;"
     "write_queue = 64; mapping = \"row bank rank column group pseudo channel\"; };" HBM2_PIM_ENERGY},
    {"pimbank_400",
     "One private bank of a 3-D stack: Allspark's Table IV (8 MiB, 128 bit) at 400 MHz; 0.66 pJ/bit",
     "name = \"pimbank_400\"; dram = {" STACKED_BANK "};"
     "energy = { model = \"per_bit\"; read_pj_per_bit = 0.66; write_pj_per_bit = 0.66; };"},
    {"allspark_stack", "Allspark's Table IV: the 256 private banks of a 16 x 16 node array",
     "name = \"allspark_stack\"; dram = { channels = 256; mapping = \"channel row bank group rank pseudo "
     "column\"; " STACKED_BANK "};"
     "energy = { model = \"per_bit\"; read_pj_per_bit = 0.66; write_pj_per_bit = 0.66; };"},
    {"nicepim_stack",
     "NicePIM's Table II: 256 private banks of 8 MiB and 128 bit, 0.88 pJ/bit; its timing is Allspark's",
     "name = \"nicepim_stack\"; dram = { channels = 256; mapping = \"channel row bank group rank pseudo "
     "column\"; " STACKED_BANK "};"
     "energy = { model = \"per_bit\"; read_pj_per_bit = 0.88; write_pj_per_bit = 0.88; };"},
};

size_t pim_dram_preset_count(void)
{
    return sizeof presets / sizeof presets[0];
}

const struct pim_dram_preset *pim_dram_preset(size_t index)
{
    return &presets[index];
}

enum pim_status pim_dram_preset_read(struct pim_configuration *values, const char *name,
                                     struct pim_error *error)
{
    const char *nearest = "";
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < pim_dram_preset_count(); i++) {
        if (strcmp(presets[i].name, name) == 0)
            return pim_configuration_read_text(values, presets[i].name, presets[i].text,
                                               strlen(presets[i].text), error);
        size_t distance = pim_edit_distance(presets[i].name, name);
        if (distance < least) {
            least = distance;
            nearest = presets[i].name;
        }
    }
    return pim_fail(error, PIM_USAGE, "no preset '%.60s'; the nearest is %s, --list-presets shows all", name,
                    nearest);
}
