/* What must be refused, and the mapping's properties. */
#include "tests/unit/dram_channel/suites.h"
#include "tests/unit/dram_channel/support.h"

#include "tools/command/dram/list.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *preset;
    const char *settings[6];
    const char *message; /* part of it */
} refused[] = {
    {"ddr4_2400r", {"dram.tras=56"}, "dram.tras is 56 cycles and dram.trc is 55"},
    {"ddr4_2400r", {"dram.tccd_l=3"}, "dram.tccd_s"},
    {"ddr4_2400r", {"dram.trrd_l=3"}, "dram.trrd_s"},
    {"ddr4_2400r", {"dram.twtr_l=2"}, "dram.twtr_s"},
    {"ddr4_2400r", {"dram.trcd_read=40"}, "dram.trcd_read"},
    {"ddr4_2400r", {"dram.burst_cycles=0"}, "dram.burst_cycles is 0"},
    {"ddr4_2400r", {"dram.trefi=433"}, "dram.trefi"},
    {"ddr4_2400r", {"dram.refresh_mode=per_bank", "dram.trefi_bank=40"}, "dram.trefi_bank"},
    {"gddr6_14000",
     {"dram.ranks=2", "dram.refresh_mode=per_bank"},
     "dram.trefi_bank_ns = 222.87, dram.maintenance = \"rank\", or dram.refresh = false"},
    {"gddr6_14000", {"dram.ranks=2", "dram.refresh_mode=per_bank", "dram.maintenance=rank"}, NULL},
    {"ddr4_2400r",
     {"dram.clock_ps=10000", "dram.trefi_ns=3900"},
     "refreshes are 390 cycles of 10000 ps apart, but closing the rows and refreshing takes up to 556: give "
     "more "
     "than that, as dram.trefi_ns = 5570, or at most dram.trfc = 266, or dram.refresh = false"},
    {"ddr4_2400r", {"dram.clock_ps=10000", "dram.trefi_ns=3900", "dram.trfc=267"}, "at most dram.trfc = 266"},
    {"ddr4_2400r", {"dram.clock_ps=10000", "dram.trefi_ns=3900", "dram.trfc=266"}, NULL},
    /* banks that compute: what is named suits their longest step too (bitserial) */
    {"fast_overlapim",
     {"dram.trfc=3900"},
     "takes up to 3987: give more than that, and at least 4080 for a step of banks that compute, as "
     "dram.trefi_ns = 4080, or at most dram.trfc = 3720, or"},
    {"fast_overlapim", {"dram.trfc=3812"}, NULL}, /* as a memory */
    /* fine granularity: twice the interval, and another key */
    {"ddr4_2400r",
     {"dram.refresh_rate=2", "dram.trfc_fine=9000"},
     "as dram.trefi_ns = 15200.584, or at most dram.trfc_fine = 4558, or"},
    {"ddr4_2400r", {"dram.refresh_rate=2", "dram.trfc_fine=9000", "dram.trefi_ns=15200.584"}, NULL},
    {"ddr4_2400r",
     {"dram.refresh_rate=2", "dram.trfc_fine=9000", "dram.trefi_ns=15200.583"},
     "trefi: refreshes"},
    {"ddr4_2400r", {"dram.refresh_rate=2", "dram.trfc_fine=4558"}, NULL},
    {"ddr4_2400r", {"dram.refresh_rate=2", "dram.trfc_fine=4559"}, "at most dram.trfc_fine = 4558"},
    {"ddr4_2400r", {"dram.clock_ps=10000", "dram.trefi_ns=5569.999"}, "refreshes are 556 cycles of 10000 ps"},
    {"ddr4_2400r", {"dram.clock_ps=10000", "dram.trefi_ns=5570"}, NULL},
    {"ddr4_2400r",
     {"dram.refresh_mode=per_bank", "dram.trefi_bank_ns=30"},
     "as dram.trefi_bank_ns = 118.286"},
    {"ddr4_2400r", {"dram.refresh_mode=per_bank", "dram.trefi_bank_ns=118.286"}, NULL},
    /* REFpb may not follow one another faster than they are due */
    {"ddr4_2400r",
     {"dram.refresh_mode=per_bank", "dram.trefpb_refpb=200", "dram.trefi_bank=150"},
     "takes up to 208: give more than that, as dram.trefi_bank_ns = 174.097"},
    {"ddr4_2400r", {"dram.refresh_mode=per_bank", "dram.trefpb_refpb=200", "dram.trefi_bank=209"}, NULL},
    {"ddr4_2400r",
     {"dram.refresh_mode=per_bank", "dram.trfc_bank=2400", "dram.trefi_bank=150"},
     "takes up to 281"},
    /* a second in ns is the longest: then in cycles */
    {"ddr4_2400r",
     {"dram.clock_ps=1000000", "dram.trfc=1000000"},
     "give more than that, as dram.trefi = 1000124, or"},
    {"ddr4_2400r",
     {"dram.clock_ps=1000000", "dram.trfc=1000000", "dram.trefi=1000123"},
     "dram.trefi: refreshes"},
    {"ddr4_2400r", {"dram.clock_ps=1000000", "dram.trfc=1000000", "dram.trefi=1000124"}, NULL},
    {"ddr4_2400r", {"dram.clock_ps=1000000", "dram.trfc=999876"}, "as dram.trefi_ns = 1000000000, or"},
    {"ddr4_2400r", {"dram.clock_ps=1000000", "dram.trfc=999876", "dram.trefi_ns=1000000000"}, NULL},
    {"ddr4_2400r", {"dram.refresh_mode=per_bank"}, NULL},
    {"ddr4_2400r", {"energy.idd5pb_ma=42.5"}, "energy.idd5pb_ma: 42.5 mA is below energy.idd3n_ma"},
    {"ddr4_2400r",
     {"energy.idd3n_ma=0", "energy.idd0_ma=33"},
     "energy.idd0_ma: 33 mA is below energy.idd2n_ma"},
    {"ddr4_2400r", {"energy.idd5b_ma=5"}, "negative"},
    {"ddr4_2400r", {"dram.banks=3"}, "power of two"},
    {"ddr4_2400r", {"dram.stack_ids=3"}, "dram.stack_ids is 3: allowed is a power of two up to 4"},
    {"ddr4_2400r", {"dram.bank_groups=3", "dram.stack_ids=2"}, "dram.bank_groups is 3"},
    {"ddr4_2400r", {"dram.tccd_r=6"}, "dram.tccd_r: counts with dram.stack_ids 2 or 4 alone, which is 1"},
    {"hbm3_6400", {"dram.tccd_r_ns=2"}, "dram.tccd_r_ns: counts with dram.stack_ids 2 or 4 alone"},
    {"hbm3_6400", {"dram.tccd_r_ns=2", "dram.stack_ids=2"}, NULL},
    {"hbm3_6400", {"dram.stack_ids=4", "dram.pseudo_channels=8"}, "8 ranks and 512 banks"},
    {"hbm3_6400", {"dram.ranks=2"}, "there is one (HBM3 has dram.stack_ids)"},
    {"hbm3_6400",
     {"dram.stack_ids=2", "dram.mapping=row bank group pseudo column"},
     "dram.mapping = \"row bank group pseudo column\" has no place for 1 bit of stack "
     "(dram.stack_ids): \"row stack bank group pseudo column\" has"},
    {"ddr4_2400r", {"dram.ranks=16"}, NULL},
    {"ddr4_2400r", {"dram.ranks=16", "dram.banks=8"}, "16 ranks and 512 banks"},
    {"ddr4_2400r", {"dram.banks=65"}, "64"},
    {"ddr4_2400r", {"dram.row_bytes=8200"}, "multiple"},
    {"ddr4_2400r", {"dram.write_high=33"}, "write_high"},
    {"ddr4_2400r", {"dram.write_low=30"}, "write_low"},
    {"ddr4_2400r", {"dram.mapping=row bank group column"}, NULL},
    {"ddr4_2400r",
     {"dram.mapping=row bank column"},
     "dram.mapping = \"row bank column\" has no place for 2 bits of group (dram.bank_groups): "
     "\"row group bank column\" has"},
    {"ddr4_2400r",
     {"dram.mapping=row group:1 bank column", "dram.ranks=2"},
     "has no place for 1 bit of rank (dram.ranks), 1 bit of group "
     "(dram.bank_groups): \"row rank group:1 group:1 bank column\" has"},
    {"ddr4_2400r", {"dram.mapping=row bank group colum"}, "no field"},
    {"ddr4_2400r", {"dram.mapping=row bank group column column:2"}, "more bits"},
    {"ddr4_2400r", {"dram.mapping=row bank group:3 column"}, "more bits"},
    {"ddr4_2400r", {"dram.rows=50000", "dram.mapping=bank row group column"}, "row must stand first"},
    {"ddr4_2400r", {"dram.rows=268435456", "dram.row_bytes=16777216", "dram.channels=4096"}, "2^60"},
    {"ddr4_2400r", {"dram.refresh_postpone=9"}, "refresh_postpone"},
    {"ddr4_2400r", {"dram.page_cap=4"}, "dram.page_cap: counts with dram.page \"closed\" alone"},
    {"ddr4_2400r",
     {"dram.page=closed", "dram.page_timeout=4"},
     "dram.page_timeout: counts with dram.page \"timeout\" alone"},
    {"ddr4_2400r", {"dram.page=closed", "dram.page_cap=4"}, NULL},
    {"lpddr5_6400",
     {"dram.trefi=4000", "dram.refresh=false"},
     "dram.trefi: counts with dram.refresh true alone, which is false here: it would change nothing"},
    {"ddr4_2400r", {"dram.refresh=false", "dram.trefi_bank_ns=300"}, "dram.trefi_bank_ns: counts with"},
    {"ddr4_2400r", {"dram.refresh=false", "dram.refresh_mode=per_bank"}, "dram.refresh_mode: counts with"},
    {"ddr4_2400r", {"dram.refresh=false", "dram.refresh_stagger=true"}, "dram.refresh_stagger: counts with"},
    {"ddr4_2400r", {"dram.refresh=false", "dram.refresh_postpone=2"}, "dram.refresh_postpone: counts with"},
    {"ddr4_2400r", {"dram.refresh=false", "dram.refresh_pull_in=2"}, "dram.refresh_pull_in: counts with"},
    {"ddr4_2400r",
     {"dram.trefi_bank=300"},
     "dram.trefi_bank: counts with dram.refresh_mode \"per_bank\" or \"same_bank\" alone, which is "
     "\"all_bank\""},
    {"lpddr5_6400", {"dram.trefi_bank_ns=300"}, "dram.trefi_bank_ns: counts with dram.refresh_mode"},
    {"lpddr5_6400", {"dram.trefi_bank_ns=488.75", "dram.refresh_mode=per_bank"}, NULL},
    {"ddr4_2400r",
     {"dram.trfc_fine=211"},
     "dram.trfc_fine: counts with dram.refresh_rate \"2\" or \"4\" alone"},
    {"ddr4_2400r", {"dram.trfc_fine_ns=200"}, "dram.trfc_fine_ns: counts with dram.refresh_rate"},
    {"ddr4_2400r",
     {"dram.refresh_rate=2", "dram.trfc_fine=211", "dram.trfc=400"},
     "dram.trfc: counts with dram.refresh_rate \"1\" alone, which is \"2\" here: it would change nothing"},
    {"lpddr5_6400",
     {"dram.refresh_mode=per_bank", "dram.trefi_ns=3900"},
     "dram.trefi_ns: counts with dram.refresh_mode \"per_bank\" where dram.trefi_bank is 0, which is 391 "
     "here"},
    {"ddr5_4800an",
     {"dram.refresh_mode=same_bank", "dram.trefi=4000", "dram.trefi_bank_ns=900"},
     "dram.trefi: counts with dram.refresh_mode \"same_bank\" where dram.trefi_bank_ns is 0, which is 900"},
    {"ddr5_4800an", {"dram.refresh_mode=same_bank", "dram.trfc_fine=385", "energy.model=none"}, NULL},
    {"ddr5_4800an",
     {"dram.refresh_mode=same_bank", "dram.trfc_fine=385", "dram.refresh_rate=1", "energy.model=none"},
     "dram.refresh_rate: with dram.refresh_mode \"same_bank\" and dram.trfc_fine it is 2 or 4, not 1"},
    {"ddr5_4800an",
     {"dram.refresh_mode=same_bank", "dram.trfc_fine=385", "dram.trfc=500", "energy.model=none"},
     "dram.trfc: counts with dram.refresh_rate \"1\" alone, which is \"2\" here"},
    {"ddr5_4800an_16gb_x8", {"dram.refresh_mode=same_bank"}, NULL}, /* whose file says 1 */
    {"lpddr5_6400", {"dram.refresh_mode=per_bank", "dram.trefi_ns=3000", "dram.trefi_bank=0"}, NULL},
    {"lpddr5_6400", {"dram.refresh_mode=same_bank", "dram.trefi_ns=3000"}, NULL}, /* 391 is that of REFpb */
    {"lpddr5_6400",
     {"dram.refresh_mode=per_bank", "dram.refresh_rate=2", "dram.trfc_fine=150"},
     "dram.refresh_rate: counts with dram.refresh_mode \"per_bank\" where dram.trefi_bank is 0, which is 391 "
     "here"},
    /* ranks that go on by themselves keep one another waiting */
    {"ddr4_2400r",
     {"dram.refresh_mode=per_bank", "dram.ranks=8", "dram.maintenance=rank", "dram.trefi_bank=300"},
     "takes up to 845"},
    {"ddr4_2400r", {"dram.refresh_mode=per_bank", "dram.ranks=4", "dram.maintenance=rank"}, NULL},
    /* closing the rows and the distance between REFpb, 72 cycles, pass at the same time */
    {"lpddr5_6400", {"dram.refresh_mode=per_bank", "dram.ranks=2", "dram.maintenance=rank"}, NULL},
    {"ddr4_2400r", {"dram.refresh_mode=per_bank", "dram.refresh_rate=2", "dram.trfc_fine=290"}, NULL},
    {"lpddr4_3200", {"dram.refresh_mode=per_bank", "dram.trefi_ns=1950"}, NULL},
    {"ddr4_2400r", {"dram.trfc_fine=211", "dram.constraints=jedec; rank: REF -> ACT >= trfc_fine"}, NULL},
    /* what the preset says is no choice of the user's; distances count for logs, and times by name in rows */
    {"lpddr5_6400", {"dram.refresh=false"}, NULL},
    {"ddr4_2400r", {"dram.refresh=false", "dram.trfc=400", "dram.trfc_bank=150"}, NULL},
    {"ddr4_2400r",
     {"dram.refresh=false", "dram.trefi=900", "dram.constraints=jedec; rank: REF -> ACT >= trefi"},
     NULL},
    {"ddr4_2400r",
     {"dram.twckpst=4"},
     "dram.twckpst: counts with dram.write_clock true alone, which is false here: it would change nothing"},
    {"lpddr5_6400", {"dram.write_clock=false", "dram.twckpst_ns=4"}, "dram.twckpst_ns: counts with"},
    {"lpddr5_6400", {"dram.write_clock=false"}, NULL},
    {"lpddr5_6400", {"dram.twckpst=4"}, NULL},
    {"ddr4_2400r", {"dram.twckpst=4", "dram.constraints=jedec; rank: RD RDA -> WR WRA >= twckpst"}, NULL},
    {"ddr4_2400r",
     {"energy.read_pj_per_bit=2"},
     "energy.read_pj_per_bit: counts with energy.model \"per_bit\" alone, which is \"currents\" here"},
    {"ddr4_2400r", {"energy.model=per_bit", "energy.idd0_ma=60"}, "energy.idd0_ma: counts with"},
    {"ddr4_2400r", {"energy.model=per_bit", "energy.read_pj_per_bit=2", "energy.io_pj_per_bit=1"}, NULL},
    {"hbm2_pim", {"energy.devices=2"}, "energy.devices: counts with energy.model \"currents\" alone"},
    {"lpddr5_6400",
     {"energy.io_pj_per_bit=1"},
     "counts with energy.model \"per_bit\" or \"currents\" alone, which is \"none\" here"},
    {"ddr4_2400r", {"energy.model=none"}, NULL},
    {"ddr4_2400r", {"dram.trc_ns=30"}, "dram.tras is 39 cycles"},
    {"ddr4_2400r", {"dram.trefi_ns=0.5"}, "dram.trefi_ns: 0.5 ns are 0 cycles of 833 ps"},
    {"ddr4_2400r", {"dram.trcd_read_ns=0.0001"}, "dram.trcd_read_ns"},
    {"ddr4_2400r", {"dram.trfc_ns=873464.0"}, "dram.trfc_ns: 873464 ns are 1048577 cycles"},
    {"ddr4_2400r", {"dram.burst_cycles_ns=5"}, "unknown key"},
    {"ddr4_2400", {NULL}, "the nearest is ddr4_2400r"},
/* Rows of one's own. */
#define ROW_OF_REF "dram.constraints=jedec; without rank: REF -> REF PREA REFsb"
#define ROWS(text)                                                                                           \
    {                                                                                                        \
        "dram.constraints=" text                                                                             \
    }
    {"ddr4_2400r", ROWS("jedec; rank: RD RDA -> RD RDA >= 20"), NULL},
    {"ddr4_2400r", ROWS(" ; jedec ;; rank : 4 ACT ACT2->ACT ACT2>=tfaw+2-1 ;"), NULL},
    {"ddr4_2400r",
     {"dram.timings=trfm = 280 ns; x=3", "dram.constraints=jedec; rank: REF -> ACT >= trfm + x"},
     NULL},
    {"ddr4_2400r", ROWS("rank: RD RDA -> RD RDA >= 20"), "dram.constraints: the word jedec is missing"},
    {"ddr4_2400r", ROWS("jedec; jedec"), "row 2: 'jedec': stands twice"},
    {"ddr4_2400r", ROWS("jedec; rnak: RD -> PRE >= 20"), "row 2: 'rnak': no scope"},
    {"ddr4_2400r", ROWS("jedec; rank: RDD -> PRE >= 20"), "row 2: 'RDD': no command of rows"},
    {"ddr4_2400r", ROWS("jedec; rank: CAS_RD -> PRE >= 20"), "'CAS_RD': no command of rows"},
    {"ddr4_2400r", ROWS("jedec; rank: RD RD -> PRE >= 20"), "'RD': stands twice"},
    {"ddr4_2400r", ROWS("jedec; rank: -> PRE >= 20"), "a command is missing"},
    {"ddr4_2400r", ROWS("jedec; rank: RD PRE >= 20"), "comes ->"},
    {"ddr4_2400r", ROWS("jedec; rank: RD -> PRE 20"), "'20': no command"},
    {"ddr4_2400r", ROWS("jedec; rank: RD -> PRE = 20"), "comes >="},
    {"ddr4_2400r", ROWS("jedec; rank: RD -> PRE >= "), "a timing or a number is missing"},
    {"ddr4_2400r", ROWS("jedec; rank: RD -> PRE >= trpp"), "'trpp': no timing"},
    {"ddr4_2400r", ROWS("jedec; rank: RD -> PRE >= 1048577"), "'1048577': no timing"},
    {"ddr4_2400r", ROWS("jedec; rank: RD -> PRE >= 1048576 + 1"), "is 1048577 cycles"},
    {"ddr4_2400r", ROWS("jedec; rank: RD -> PRE >= 1+1+1+1+1+1+1"), "at most 6 terms"},
    {"ddr4_2400r", ROWS("jedec; rank: RD -> PRE >= 20 20"), "behind a term"},
    {"ddr4_2400r", ROWS("jedec; rank: RD -> PRE >= 20 # why"), "behind a term"},
    {"ddr4_2400r", ROWS("jedec; rank: RD PRE -> PRE >= 20"), NULL},
    {"ddr4_2400r", ROWS("jedec; rank: PRE -> RD ACT >= 20"), "RD and RDA"},
    {"ddr4_2400r", ROWS("jedec; rank: ACT -> WR >= 20"), "WR and WRA stand together"},
    {"ddr4_2400r", ROWS("jedec; bank: RD -> PREA >= 20"), "rank or wider"},
    {"ddr4_2400r", ROWS("jedec; group: REF -> ACT >= 20"), "rank or wider"},
    {"ddr4_2400r", ROWS("jedec; rank: 3 ACT -> ACT >= 20"), "a count is 4"},
    {"ddr4_2400r", ROWS("jedec; rank: 4 RD -> RD RDA >= 20"), "a count is 4"},
    {"ddr4_2400r", ROWS("jedec; rank: REF -> ACT >= 9300"), "dram.trefi"},
    {"ddr4_2400r", ROWS("jedec; rank: RD -> PREA >= 400"), "dram.trefi"},
    {"hbm3_6400", ROWS("jedec; channel: PRE -> ACT >= 20"), "at either edge"},
    {"hbm3_6400", ROWS("jedec; rank: PRE -> ACT >= 20"), NULL},
    {"ddr4_2400r", ROWS("jedec 5; rank: RD -> PRE >= 20"), "the word jedec alone"},
    {"ddr4_2400r", ROWS("jedec; without rank: PRE -> REF"), NULL},
    {"ddr4_2400r", ROWS("jedec; without rank: 4 ACT ACT2 -> ACT ACT2; without stack: WR WRA -> WR WRA"),
     NULL},
    {"ddr4_2400r", ROWS("without rank: PRE -> REF; jedec"), "row 1: without: jedec, which must stand before"},
    {"ddr4_2400r", ROWS("jedec; without rank: PRE -> ACT"), "row 2: without: jedec, which must stand before"},
    {"ddr4_2400r", ROWS("jedec; without rank: PREA -> PREA"), "has no such row"},
    {"ddr4_2400r", ROWS("jedec; without rank: PRE -> REF; without rank: PRE -> REF"),
     "row 3: without: jedec"},
    {"ddr4_2400r", ROWS("jedec; rank: PRE -> REF >= 20; without rank: PRE -> REF"), NULL},
    {"ddr4_2400r", ROWS("jedec; without rank: PRE -> REF >= 3"),
     "behind the commands of a row that is taken out comes its end"},
    {"ddr4_2400r", ROWS("jedec; without"), "behind without comes a row of jedec"},
    {"ddr4_2400r", ROWS("jedec; without rnak: PRE -> REF"), "'rnak': no scope"},
    {"ddr4_2400r", {"dram.commands=jedec; without REFpb", ROW_OF_REF}, NULL},
    {"ddr4_2400r", ROWS("jedec; stack: REFsb -> ACT >= 9"),
     "REFsb is of bank groups of all stack identifiers"},
    {"ddr4_2400r", ROWS("jedec; stack: RD -> PREA >= 9"), "rank or wider"},
/* Commands of one's own. */
#define COMMANDS(text)                                                                                       \
    {                                                                                                        \
        "dram.commands=" text                                                                                \
    }
#define FOUR "ACT: opens bank; PRE: closes bank; RD: reads bank; WR: writes bank"
    {"ddr4_2400r", COMMANDS(" ;jedec;; ACT : opens bank ,cycles 4;"), NULL},
    {"ddr4_2400r", COMMANDS("jedec; PREA: closes rank, cycles 2, either_edge; without REFsb"), NULL},
    {"ddr4_2400r", {"dram.timings=held = 2 ns", "dram.commands=jedec; PRE: closes bank, cycles held"}, NULL},
    {"ddr4_2400r",
     {"dram.commands=jedec; A_1: opens bank", "dram.constraints=jedec; rank: A_1 -> A_1 >= 9"},
     NULL},
    {"ddr4_2400r",
     {"dram.commands=jedec; A_1: opens bank", "dram.constraints=jedec; rank: ACT -> A_1 >= 9"},
     "'ACT': no command of rows: A_1, PRE, PREA, RD, WR, RDA, WRA, REF, REFpb, REFsb and ACT2 are"},
    {"ddr4_2400r", {"dram.refresh=false", "dram.commands=" FOUR}, NULL},
    {"ddr4_2400r",
     {"dram.refresh=false", "dram.commands=" FOUR, "dram.constraints=jedec; rank: RD -> WR >= 9"},
     NULL},
    {"ddr4_2400r", COMMANDS(FOUR), "dram.refresh_mode = \"all_bank\" needs a command `refreshes rank`"},
    {"ddr4_2400r", COMMANDS("jedec; without PREA"), "needs a command `closes rank`"},
    {"ddr4_2400r", {"dram.commands=jedec; without REFpb", "dram.refresh_mode=per_bank"}, "`refreshes bank`"},
    {"ddr4_2400r",
     {"dram.commands=jedec; without REFsb", "dram.refresh_mode=same_bank"},
     "`refreshes same_bank`"},
    {"ddr4_2400r",
     {"dram.commands=jedec; without RDA", "dram.page=closed"},
     "dram.page = \"closed\" needs a command `closes bank, reads bank`"},
    {"ddr4_2400r", {"dram.commands=jedec; without WRA", "dram.page=closed"}, "`closes bank, writes bank`"},
    {"lpddr5_6400", COMMANDS("jedec; without ACT-2"), "dram.taad above 0 needs a command `completes bank`"},
    {"lpddr5_6400", COMMANDS("jedec; without CAS_WR"), "`clocks_writes bank`"},
    {"lpddr5_6400", COMMANDS("jedec; PRE: closes bank, cycles 2"), "commands of one cycle"},
    {"fast_overlapim", COMMANDS("jedec; without ACT2"), "`reopens bank`"},
    {"fast_overlapim", COMMANDS("jedec; ACT: opens bank, cycles 5"), "both must be equal"},
    {"ddr4_2400r", COMMANDS("jedec; without WR"), "no command writes bank"},
    {"ddr4_2400r", COMMANDS(""), "no command opens bank"},
    {"ddr4_2400r", COMMANDS("ACT: opens bank; jedec"), "row 2: 'jedec': stands first, and once"},
    {"ddr4_2400r", COMMANDS("jedec; jedec"), "stands first, and once"},
    {"ddr4_2400r", COMMANDS("jedec; ACT opens bank"), "row 2, at 'opens bank': behind the name"},
    {"ddr4_2400r", COMMANDS("jedec; ACT: open bank"), "row 2: 'open': no effect"},
    {"ddr4_2400r", COMMANDS("jedec; ACT: opens"), "behind an effect comes bank"},
    {"ddr4_2400r", COMMANDS("jedec; ACT: opens banks"), "'banks': behind an effect comes bank"},
    {"ddr4_2400r", COMMANDS("jedec; ACT: opens bank, opens bank"), "'opens': stands twice"},
    {"ddr4_2400r", COMMANDS("jedec; RDA: reads bank, closes rank"),
     "all effects of a command are on the same"},
    {"ddr4_2400r", COMMANDS("jedec; ACT: opens rank"), "'ACT': no controller here"},
    {"ddr4_2400r", COMMANDS("jedec; RD: reads bank, writes bank"), "'RD': no controller here"},
    {"ddr4_2400r", COMMANDS("jedec; ACT: cycles 2"), "'ACT': no controller here"},
    {"ddr4_2400r", COMMANDS("jedec; ACT:"), "what the command does is missing"},
    {"ddr4_2400r", COMMANDS("jedec; ACT: opens bank,"), "what the command does is missing"},
    {"ddr4_2400r", COMMANDS("jedec; ACT: opens bank cycles 2"), "a comma or the end"},
    {"ddr4_2400r", COMMANDS("jedec; ACT: opens bank, cycles"), "a number from 1 to 16"},
    {"ddr4_2400r", COMMANDS("jedec; ACT: opens bank, cycles 0"), "a number from 1 to 16"},
    {"ddr4_2400r", COMMANDS("jedec; ACT: opens bank, cycles 17"), "a number from 1 to 16"},
    {"ddr4_2400r", COMMANDS("jedec; ACT: opens bank, cycles 16"), NULL},
    {"ddr4_2400r", COMMANDS("jedec; ACT: opens bank, cycles trc"),
     "ACT holds the bus for 55 cycles: allowed"},
    {"ddr4_2400r", COMMANDS("jedec; PRE: opens bank"), "'PRE': the name of another command"},
    {"ddr4_2400r", COMMANDS("jedec; A: opens bank; B: opens bank"), "'B': there is a command that does this"},
    {"ddr4_2400r", COMMANDS("jedec; ACT-1: opens bank"), "letters, digits and _"},
    {"ddr4_2400r", COMMANDS("jedec; without ACT; 4: opens bank"), "no digit first"},
    {"ddr4_2400r", COMMANDS("jedec; WR: writes bank, cycles 4; WRA: writes bank, closes bank, cycles 4"),
     "their data would meet"},
    {"ddr4_2400r", COMMANDS("jedec; ACT: opens bank, either_edge"), "either_edge is for"},
    {"ddr4_2400r", COMMANDS("jedec; A2345678901234567: opens bank"), "at most 16 characters"},
    {"ddr4_2400r", COMMANDS("jedec; without"), "behind without comes"},
    {"ddr4_2400r", COMMANDS("jedec; without ACTS"), "'ACTS': no command that stands before"},
    {"ddr4_2400r", COMMANDS("jedec; without REF REFpb"), "the end of the row"},
    {"ddr4_2400r", COMMANDS("jedec; RD: reads bank, cycles 2"),
     "RD holds the bus for 2 cycles and RDA for 1"},
#define BANKS_ALONE "dram.refresh_mode=per_bank", "dram.maintenance=rank"
    /* Every step on the way to a refresh may wait for the longest row; no rank is another one. */
    {"hbm2_pim",
     {BANKS_ALONE, "dram.constraints=jedec; rank: RD RDA -> REFpb >= 50"},
     "closing the rows and refreshing takes up to 1917"},
    {"hbm2_pim", {BANKS_ALONE, "dram.constraints=jedec; other_rank: ACT -> REFpb >= 30"}, NULL},
    {"hbm2_pim", {BANKS_ALONE, "dram.constraints=jedec; other_stack: ACT -> REFpb >= 30"}, NULL},
    {"hbm2_pim",
     {BANKS_ALONE, "dram.trefi_bank=400", "dram.commands=jedec; PRE: closes bank, cycles 3"},
     NULL},
/* Rows of a rank open no faster than tRRD and tFAW allow, by the one that is left. */
#define RANKS_AND(rows)                                                                                      \
    {                                                                                                        \
        BANKS_ALONE, "dram.ranks=2", "dram.trefi_bank=207", ("dram.constraints=jedec; " rows)                \
    }
    {"gddr6_14000", RANKS_AND("without rank: PRE -> REF"), NULL},
    {"gddr6_14000", RANKS_AND("without rank: ACT ACT2 -> ACT ACT2"), NULL},
    {"gddr6_14000", RANKS_AND("without rank: ACT ACT2 -> ACT ACT2; without rank: 4 ACT ACT2 -> ACT ACT2"),
     "closing the rows and refreshing takes up to 270"},
    {"ddr4_2400r", COMMANDS("jedec; WR: writes bank, cycles 2"), "both must be equal"},
    {"ddr4_2400r", COMMANDS("jedec; WR: writes bank, cycles 5; WRA: writes bank, closes bank, cycles 5"),
     "WR holds the bus for 5 cycles and dram.tccd_s is 4"},
    {"pimbank_400", COMMANDS("jedec; PRE: closes bank, cycles 9"),
     "PRE holds the bus for 9 cycles and dram.trp is 8"},
    {"ddr4_2400r", {"dram.timings=tcl = 3"}, "timing 1: 'tcl': this name is taken"},
    {"ddr4_2400r", {"dram.timings=a = 3; a = 4"}, "timing 2: 'a': this name is taken"},
    {"ddr4_2400r",
     {"dram.timings=rest_behind_a_read_of_another_bank = 3"},
     "timing 1, at 'rest_behind_a_read_o': a word has at most 32 characters"},
    {"ddr4_2400r",
     {"dram.commands=jedec; ACTIVATE_A_ROW_WITHOUT_ANY_PRECHARGE: opens bank"},
     "row 2, at 'ACTIVATE_A_ROW_WITHO': a word has at most 32 characters"},
    {"ddr4_2400r", {"dram.timings=3 = a"}, "timing 1"},
    {"ddr4_2400r", {"dram.timings=a 3"}, "comes ="},
    {"ddr4_2400r", {"dram.timings=a = 3 us"}, "'us': a time"},
    {"ddr4_2400r", {"dram.timings=a = 3.5"}, "a time is"},
    {"ddr4_2400r", {"dram.timings=a = 3.5000 ns"}, "a time is"},
    {"ddr4_2400r", {"dram.timings=a = 1048577"}, "a time is"},
};

/* Times in ns: distances up, intervals down, the later of two ways to say it, after all of which the clock is
 * looked at. */
START_TEST(times_in_ns)
{
    static const struct {
        const char *settings[4];
        enum pim_dram_parameter parameter;
        uint32_t cycles;
    } cases[] = {
        {{"dram.trcd_read_ns=13.328"}, PIM_DRAM_T_RCDRD, 16},
        {{"dram.trcd_read_ns=13.329"}, PIM_DRAM_T_RCDRD, 17},
        {{"dram.trcd_read_ns=13.329"}, PIM_DRAM_T_RCDWR, 16},
        {{"dram.trcd_read_ns=13.328", "dram.clock_ps=832"}, PIM_DRAM_T_RCDRD, 17},
        {{"dram.trcd_read_ns=20", "dram.trcd_read=12"}, PIM_DRAM_T_RCDRD, 12},
        {{"dram.trcd_read=12", "dram.trcd_read_ns=20"}, PIM_DRAM_T_RCDRD, 25},
        {{"dram.trcd_read=12", "dram.trcd_read_ns=20", "dram.trcd_read=11"}, PIM_DRAM_T_RCDRD, 11},
        {{"dram.tppd=4", "dram.tppd_ns=0"}, PIM_DRAM_T_PPD, 0},
        {{"dram.trp_ns=15"}, PIM_DRAM_T_RPAB, 19},
        {{"dram.trefi_ns=7800"}, PIM_DRAM_T_REFI, 9363},
        {{"dram.refresh_mode=per_bank", "dram.trefi_bank_ns=488"}, PIM_DRAM_T_REFIPB, 585},
        {{"dram.taad_ns=2.5"}, PIM_DRAM_T_AAD, 4},
    };
    struct pim_dram_configuration configuration;
    configure(&configuration, "ddr4_2400r", cases[_i].settings);
    ck_assert_uint_eq(configuration.specification.parameter[cases[_i].parameter], cases[_i].cycles);
}
END_TEST

/* Refreshes of banks, of every preset that has them: each bank at least as often as by those of its rank, but
 * for the two whose REFpb is as far apart as the reference has it. REFsb takes an interval that is given with
 * it, and not that of REFpb. */
START_TEST(banks_refreshed_as_ranks)
{
    static const char *const modes[][3] = {{"dram.refresh_mode=per_bank"},
                                           {"dram.refresh_mode=same_bank"},
                                           {"dram.refresh_mode=same_bank", "dram.trefi_bank=1500"}};
    const char *preset = pim_dram_preset((size_t)_i)->name;
    const bool as_reference = strcmp(preset, "lpddr5_6400") == 0 || strcmp(preset, "hbm1_2000") == 0;
    struct pim_dram_configuration configuration;
    struct pim_error error;
    unsigned tried = 0;
    for (unsigned mode = 0; mode < 3; mode++) {
        if (try_configure(&configuration, preset, modes[mode], &error) != PIM_OK)
            continue; /* its default interval is too short */
        tried++;
        const struct pim_dram_specification *specification = &configuration.specification;
        const uint32_t interval = pim_dram_bank_refresh_interval(specification),
                       all = specification->parameter[PIM_DRAM_T_REFI];
        if (mode == 2)
            ck_assert_uint_eq(interval, 1500);
        else if (mode == 1)
            ck_assert_uint_eq(interval, all / specification->organization.banks);
        else if (as_reference)
            ck_assert_uint_eq(interval * 8 / all, 1);
        else
            ck_assert_uint_le(interval * pim_dram_banks_per_rank(&specification->organization), all);
    }
    ck_assert_msg(tried > 0, "%s has no refreshes of banks", preset);
}
END_TEST

/* A built-in row that is taken out makes no refusal of maintenance that goes on by itself, and no other of
 * intervals: every preset is taken, or refused with the same words, as without. */
START_TEST(rows_taken_out_refuse_nothing)
{
    static const char *const modes[] = {"dram.refresh_mode=all_bank", "dram.refresh_mode=per_bank",
                                        "dram.refresh_mode=same_bank"};
    static const char *const rows[] = {
        "rank: PRE -> REF",        "other_rank: RD RDA -> WR WRA", "rank: WR WRA -> RD RDA",
        "bank: RD -> PRE",         "rank: REFpb REFsb -> REF",     "group: ACT ACT2 -> REFpb REFsb",
        "stack: RD RDA -> RD RDA", "group: ACT ACT2 -> ACT ACT2",  "rank: PREA -> REFpb REFsb"};
    const char *preset = pim_dram_preset((size_t)_i)->name;
    struct pim_dram_configuration configuration;
    struct pim_error before, error;
    unsigned taken = 0;
    for (unsigned i = 0; i < 2 * 3; i++) {
        const char *settings[] = {modes[i % 3], "dram.maintenance=rank",
                                  i < 3 ? "dram.ranks=1" : "dram.ranks=2", NULL, NULL};
        const enum pim_status status = try_configure(&configuration, preset, settings, &before);
        taken += status == PIM_OK;
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            char text[96];
            (void)snprintf(text, sizeof text, "dram.constraints=jedec; without %s", rows[r]);
            settings[3] = text;
            ck_assert_msg(try_configure(&configuration, preset, settings, &error) == status, "%s, %s: %s",
                          preset, text, error.text);
            if (status != PIM_OK)
                ck_assert_str_eq(error.text, before.text);
        }
    }
    ck_assert_msg(taken > 0, "%s has no maintenance that goes on by itself", preset);
}
END_TEST

START_TEST(impossible_configurations)
{
    struct pim_dram_configuration configuration;
    struct pim_error error;
    enum pim_status status = try_configure(&configuration, refused[_i].preset, refused[_i].settings, &error);
    if (!refused[_i].message) {
        ck_assert_msg(status == PIM_OK, "%s", error.text);
        return;
    }
    ck_assert_msg(status != PIM_OK, "case %d was taken", _i);
    ck_assert_msg(strstr(error.text, refused[_i].message) != NULL, "%s", error.text);
}
END_TEST

static const struct {
    const char *text, *message; /* NULL: good */
} lists[] = {
    {"cycle,op,address\n0,R,0\n5,W,0x40\n5,R,8589934591\n", NULL},
    {"cycle,op,address,bytes\n0,R,0,1\n5,W,64,4096\n", NULL},
    {"cycle,op,address\n", NULL},
    {"cycle,op,address\n5,R,0\n4,R,64\n", "back in time"},
    {"cycle,op,address\n0,R,8589934592\n", "beyond the capacity of 8589934592"},
    {"cycle,op,address,bytes\n0,R,8589934528,65\n", "within the capacity"},
    {"cycle,op,address,bytes\n0,R,0,0\n", "bytes"},
    {"cycle,op,address\n0,X,0\n", "allowed are R and W"},
    {"cycle,op,address\n-1,R,0\n", "cycle"},
    {"cycle,op,address\n99999999999999999999,R,0\n", "cycle"},
    {"cycle,address,op\n0,0,R\n", "header"},
    {"cycle,op\n0,R\n", "header"},
    {"cycle,op,address\n0,R\n", "2"},
    {"", ""},
};

START_TEST(request_lists)
{
    char path[] = "/tmp/pimsim-dram-XXXXXX";
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    size_t length = strlen(lists[_i].text);
    ck_assert_int_eq(write(descriptor, lists[_i].text, length), (ssize_t)length);
    close(descriptor);
    struct pim_dram_configuration configuration;
    struct dram_list list;
    struct pim_error error = {PIM_OK, ""};
    configure(&configuration, "ddr4_2400r", NULL);
    enum pim_status status = dram_list_read(&list, path, &configuration, &error);
    (void)unlink(path);
    if (lists[_i].message) {
        ck_assert_msg(status == PIM_BAD_INPUT, "case %d was taken", _i);
        ck_assert_msg(strstr(error.text, lists[_i].message) != NULL, "%s", error.text);
    } else {
        ck_assert_msg(status == PIM_OK, "%s", error.text);
    }
    dram_list_terminate(&list);
}
END_TEST

/* Generated streams: in range, in order, with the shares that were asked for. */
START_TEST(generated_streams)
{
    struct pim_dram_configuration configuration;
    struct pim_error error = {PIM_OK, ""};
    configure(&configuration, "hbm2_pim", NULL);
    struct dram_stream stream = {(unsigned)_i, 20000, 96, 0.6, 0.75, 0.5, 3};
    struct dram_list list;
    ck_assert(dram_list_generate(&list, &stream, &configuration, &error) == PIM_OK);
    size_t reads = 0, near = 0;
    for (size_t i = 0; i < list.count; i++) {
        ck_assert_uint_lt(list.items[i].address, configuration.mapping.capacity);
        ck_assert_uint_eq(list.items[i].cycle, 2 * i);
        reads += !list.items[i].write;
        struct pim_dram_location here = pim_dram_locate(&configuration.mapping, list.items[i].address);
        struct pim_dram_location before =
            pim_dram_locate(&configuration.mapping, list.items[i > 0 ? i - 1 : 0].address);
        near += i > 0 && here.row == before.row && here.bank == before.bank;
    }
    ck_assert_double_eq_tol((double)reads / 20000, 0.75, 0.02);
    if (stream.pattern == DRAM_MIXED)
        ck_assert_double_eq_tol((double)near / 20000, 0.6, 0.02);
    if (stream.pattern == DRAM_RANDOM)
        ck_assert_uint_lt(near, 10);
    if (stream.pattern == DRAM_STRIDED)
        ck_assert_uint_eq(list.items[3].address, 3 * 96);
    dram_list_terminate(&list);
}
END_TEST

static const struct {
    const char *preset;
    const char *settings[4];
} mappings[] = {
    {"ddr4_2400r", {NULL}},
    {"ddr4_2400r", {"dram.bank_xor=true"}},
    {"ddr4_2400r", {"dram.mapping=row:3 column:2 row:4 bank:1 group row column bank", "dram.bank_xor=true"}},
    {"ddr4_2400r", {"dram.rows=50000", "dram.bank_xor=true"}},
    {"hbm2_2000", {"dram.ranks=2", "dram.mapping=channel row bank rank column:3 group pseudo column"}},
    {"allspark_stack", {NULL}},
};

/* One to one: address -> location -> address, and every part in range. */
START_TEST(mapping_is_one_to_one)
{
    struct pim_dram_configuration configuration;
    configure(&configuration, mappings[_i].preset, mappings[_i].settings);
    const struct pim_dram_organization *o = &configuration.specification.organization;
    struct pim_random random;
    pim_random_initialize(&random, 11);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t address = pim_random_below(&random, configuration.mapping.capacity);
        if (i < 2)
            address = i ? configuration.mapping.capacity - 1 : 0;
        struct pim_dram_location location = pim_dram_locate(&configuration.mapping, address);
        ck_assert_uint_lt(location.channel, o->channels);
        ck_assert_uint_lt(location.bank, pim_dram_ranks(o) * pim_dram_banks_per_rank(o));
        ck_assert_uint_lt(location.row, o->rows);
        ck_assert_uint_lt(location.column, o->columns);
        ck_assert_uint_eq(pim_dram_address(&configuration.mapping, &location),
                          address - address % o->access_bytes);
    }
}
END_TEST

/* Rows that collide in one bank are spread over all of them. */
START_TEST(xor_spreads_rows)
{
    static const char *const settings[] = {"dram.bank_xor=true", NULL};
    struct pim_dram_configuration configuration;
    configure(&configuration, "ddr4_2400r", settings);
    uint64_t banks = 0, row_stride = UINT64_C(8192) * 16;
    for (unsigned i = 0; i < 16; i++)
        banks |= UINT64_C(1) << pim_dram_locate(&configuration.mapping, i * row_stride).bank;
    ck_assert_uint_eq(banks, 0xffff);
}
END_TEST

Suite *suite_channel_refusals(void)
{
    Suite *suite = suite_create("channel_refusals");
    TCase *cases = tcase_create("refusals");
    tcase_add_loop_test(cases, banks_refreshed_as_ranks, 0, (int)pim_dram_preset_count());
    tcase_add_loop_test(cases, rows_taken_out_refuse_nothing, 0, (int)pim_dram_preset_count());
    tcase_add_loop_test(cases, impossible_configurations, 0, sizeof refused / sizeof refused[0]);
    tcase_add_loop_test(cases, times_in_ns, 0, 12);
    tcase_add_loop_test(cases, request_lists, 0, sizeof lists / sizeof lists[0]);
    tcase_add_loop_test(cases, generated_streams, 0, 5);
    tcase_add_loop_test(cases, mapping_is_one_to_one, 0, sizeof mappings / sizeof mappings[0]);
    tcase_add_test(cases, xor_spreads_rows);
    suite_add_tcase(suite, cases);
    return suite;
}
