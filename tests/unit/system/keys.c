#include "tests/unit/system/keys.h"

#define NODE_WORK                                                                                            \
    "load input address=0 bytes=2048\nload weight address=8192 bytes=512\n"                                  \
    "matrix m=64 n=16 k=32 after=1,2 open_output\n"                                                          \
    "matrix m=64 n=16 k=32 after=1 accumulate release_input release_weight\n"                                \
    "load input address=1048576 bytes=16 count=5 stride=1024\n"                                              \
    "vector gelu rows=64 elements=16 bits=8 release=4096 after=2\nstore none address=65536 bytes=1024 "      \
    "after=1\nload weight address=524288 bytes=200\n"                                                        \
    "matrix m=4 n=10 k=20 after=1,4 open_output release_input release_weight\n"                              \
    "vector copy rows=4 elements=10 bits=8 release=160 after=1\n"

/* 4 x 2 nodes with all engines at work; four of them send to the first at once, in many packets. */
static const char nodes[] =
    ".version 1\n.family \"test\"\n"
    ".configuration \"array = { width = 4; height = 2; }; clock = { memory_khz = 800000; };\"\n"
    ".configuration \"energy = { mac_pj = 0.25; sram_pj_per_bit = 0.125; dram_pj_per_bit = 2; "
    "noc_pj_per_bit_hop = 0.75; acu_pj_per_operation = 0.5; dram_activate_pj = 64; static_mw_per_node = 3; "
    "};\"\n"
    ".array width=4 height=2 units=8\n.phase 0 \"a/compute\" cycles=90\n.phase 1 \"a/move\" cycles=80\n"
    ".unit 0\nphase_begin 0\n" NODE_WORK "phase_end 0\nphase_begin 1\n"
    "receive peer=1 tag=1 address=0 bytes=9000\nreceive peer=2 tag=1 address=16384 bytes=9000\n"
    "receive peer=3 tag=1 address=32768 bytes=9000\nreceive peer=7 tag=1 address=49152 bytes=9000\n"
    "receive peer=1 tag=2 address=0 bytes=9000\nreceive peer=2 tag=2 address=16384 bytes=9000\n"
    "phase_end 1\n"
    ".unit 1\nphase_begin 0\n" NODE_WORK "phase_end 0\nphase_begin 1\n"
    "send peer=0 tag=1 address=0 bytes=9000\nreceive peer=2 tag=3 address=4096 bytes=9000\n"
    "send peer=0 tag=2 address=4096 bytes=9000 after=1\nphase_end 1\n"
    ".unit 2\nphase_begin 1\nsend peer=1 tag=3 address=0 bytes=9000\nsend peer=0 tag=1 address=0 "
    "bytes=9000\nsend peer=0 tag=2 address=0 "
    "bytes=9000\nphase_end 1\n"
    ".unit 3\nphase_begin 1\nsend peer=0 tag=1 address=0 bytes=9000\nphase_end 1\n"
    ".unit 7\nphase_begin 1\nsend peer=0 tag=1 address=0 bytes=9000\nphase_end 1\n";

/* 4 x 1 cores with messages in a chip and between chips, weights that are written, both memories. */
#define CORE_GROUP ".array_group layer=0 arrays=9 rows=128 columns=64\n"
#define CORE_WRITTEN_GROUP ".array_group layer=1 arrays=1 rows=8 columns=4 set=1\n"
#define CORE_BEGIN                                                                                           \
    "phase_begin 0\nlocal_load address=0 local=0 bytes=4096\n"                                               \
    "mvm group=0 input_address=0 input_bytes=256 output_address=0x2000 output_bytes=128\n"                   \
    "mvm group=0 input_address=256 input_bytes=256 output_address=0x2080 output_bytes=128\n"                 \
    "local_vector add elements=640 destination=0x3000 source=0x0 second=0x800\n"                             \
    "local_vector relu elements=64 destination=0x4000 source=0x2000\n"
#define CORE_WRITE                                                                                           \
    "array_write group=1 row=0 rows=8 source=0x0 bytes=64\n"                                                 \
    "mvm group=1 input_address=0 input_bytes=16 output_address=0x5100 output_bytes=8 after=1\n"
#define CORE_END                                                                                             \
    "local_copy destination=0x5000 source=0x4000 bytes=64\n"                                                 \
    "local_store address=0x10000 local=0x3000 bytes=1024\n"
#define CORE_SEND "send peer=0 tag=1 address=0x0 bytes=9000\nphase_end 0\n"
#define CORE_RECEIVE                                                                                         \
    "receive peer=1 tag=1 address=0x6000 bytes=9000\nreceive peer=2 tag=1 address=0x6000 bytes=9000\n"       \
    "receive peer=3 tag=1 address=0x6000 bytes=9000\nphase_end 0\n"
#define CORES                                                                                                \
    ".version 1\n.family \"test\"\n.configuration \"array = { kind = \\\"core\\\"; width = 4; height = 1; "  \
    "}; core = { window = 4; local_read_cycles = 4; };\"\n"                                                  \
    ".configuration \"crossbar = { dac_count = 100; write_row_ns = 50.0; input_buffer_cycles = 1; };\"\n"    \
    ".configuration \"energy = { crossbar_write_pj = 1; vector_pj_per_operation = 0.5; local_pj_per_bit = "  \
    "0.25; global_pj_per_bit = 2; noc_pj_per_bit_hop = 0.75; static_mw_per_core = 3; };\"\n"                 \
    ".array width=4 height=1 units=4\n.phase 0 \"layer0\" cycles=90\n"
static const char cores[] = CORES
    ".unit 0\n" CORE_GROUP CORE_WRITTEN_GROUP CORE_BEGIN CORE_WRITE CORE_END CORE_RECEIVE
    ".unit 1\n" CORE_GROUP CORE_BEGIN CORE_END CORE_SEND ".unit 2\n" CORE_GROUP CORE_BEGIN CORE_END CORE_SEND
    ".unit 3\n" CORE_GROUP CORE_BEGIN CORE_END CORE_SEND;
static const char cores_kept[] = /* no weights are written */
    CORES ".unit 0\n" CORE_GROUP CORE_BEGIN CORE_END CORE_RECEIVE
          ".unit 1\n" CORE_GROUP CORE_BEGIN CORE_END CORE_SEND
          ".unit 2\n" CORE_GROUP CORE_BEGIN CORE_END CORE_SEND
          ".unit 3\n" CORE_GROUP CORE_BEGIN CORE_END CORE_SEND;

/* Two stacks of two channels whose banks compute. */
static const char channels[] =
    ".version 1\n.family \"test\"\n.configuration \"array = { kind = \\\"channel\\\"; width = 2; height = 2; "
    "}; clock = { logic_khz = 1000000; memory_khz = 1000000; };\"\n"
    ".configuration \"energy = { static_mw_per_node = 3; };\"\n"
    ".configuration \"levels = { banks = 8; columns = 8192; rows = 32736; costs = \\\"figure\\\"; };\"\n"
    ".array width=2 height=2 units=4\n.phase 0 \"layer0\" cycles=90\n"
    ".unit 0\nphase_begin 0\nrow_compute add bits=16 source=0 second=16 result=32 banks=8\n"
    "row_compute multiply bits=16 source=0 second=16 result=64 size=32 banks=8 after=1\n"
    "row_compute copy source=64 result=128 bits=16 after=1\n"
    "row_send channel peer=1 row=64 rows=8 after=1\nrow_send stack peer=2 row=64 rows=8 after=2\n"
    "row_send stack peer=2 row=72 rows=8 after=3\nphase_end 0\n"
    ".unit 1\nphase_begin 0\nrow_receive channel peer=0 row=0 rows=8\nphase_end 0\n"
    ".unit 2\nphase_begin 0\nrow_receive stack peer=0 row=0 rows=8\nrow_receive stack peer=0 row=8 rows=8\n"
    "phase_end 0\n";

/* 3 x 2 tiles: two sources with one target, whose paths meet; weights that a second image waits for. */
static const char tiles[] =
    ".version 1\n.family \"conflict\"\n.configuration \"array = { kind = \\\"tile\\\"; width = 3; height = "
    "2; }; clock = { logic_khz = 1000000; network_khz = 1000000; memory_khz = 1000000; };\"\n"
    ".configuration \"energy = { mac_pj = 0.25; noc_pj_per_bit_hop = 0.75; static_mw_per_node = 3; };\"\n"
    ".array width=3 height=2 units=6\n.phase 0 \"layer0\" cycles=90\n"
    ".unit 0\nphase_begin 0\ntile_output edge=0 peer=5 bits=800 packets=4\n"
    "tile_output edge=1 peer=2 bits=800 packets=4\n"
    "repeat 4 {\ntile_step time=50000000 macs=1000 arrays=1\n}\nphase_end 0\n"
    ".unit 1\nphase_begin 0\ntile_output edge=2 peer=5 bits=800 packets=4\n"
    "tile_output edge=3 peer=2 bits=800 packets=4\n"
    "repeat 4 {\ntile_step time=60000000 macs=1000 arrays=1\n}\nphase_end 0\n"
    ".unit 2\nphase_begin 0\ntile_input edge=1 peer=0 bits=800 packets=4\n"
    "tile_input edge=3 peer=1 bits=800 packets=4\n"
    "repeat 4 {\ntile_take input=0 packets=1 free=1\ntile_take input=1 packets=1 free=1\ntile_vector "
    "time=7000000\n}\nphase_end 0\n"
    ".unit 5\nphase_begin 0\ntile_input edge=0 peer=0 bits=800 packets=4\n"
    "tile_input edge=2 peer=1 bits=800 packets=4\n"
    "repeat 4 {\ntile_take input=0 packets=1 free=1\ntile_take input=1 packets=1 free=1\n"
    "tile_vector time=7000000\n}\nphase_end 0\n";

const struct key_machine key_machines[] = {
    {"nodes", nodes, {0}},
    {"nodes, no refresh", nodes, {"dram.refresh=false", "dram.interleaved_banks=2"}},
    {"nodes, systolic", nodes, {"pe.style=weight_stationary"}},
    {"nodes, output stationary", nodes, {"pe.style=output_stationary", "noc.fidelity=ideal"}},
    {"nodes on channels", nodes, {"dram.standard=ddr4_2400r", "dram.nodes=8", "clock.memory_khz=1200000"}},
    {"nodes, cut through", nodes, {"network_interface.forward=cut_through", "noc.fidelity=analytic"}},
    {"cores", cores, {0}},
    {"cores, asynchronous", cores, {"core.communication=asynchronous", "core.receive_bytes=9000"}},
    {"cores, bus", cores, {"interconnect.kind=bus"}},
    {"cores, shared memory", cores, {"interconnect.kind=shared_memory", "crossbar.read_ns=0"}},
    {"cores, chips", cores, {"chips.width=2"}},
    {"cores, pimsim_nn", cores_kept, {"core.timing=pimsim_nn"}},
    {"cores, pimsim_nn on a bus",
     cores_kept,
     {"core.timing=pimsim_nn", "interconnect.kind=bus", "crossbar.write_row_ns=0"}},
    {"cores on channels",
     cores,
     {"global_memory.standard=ddr4_2400r_4gb_x16", "clock.memory_khz=1200000",
      "global_memory.bytes=1073741824"}},
    {"channels, figure", channels, {0}},
    {"channels, figure of a memory", channels, {"levels.memory=fast_overlapim"}},
    {"channels, commands", channels, {"levels.memory=fast_overlapim", "levels.costs=commands"}},
    {"channels, steps", channels, {"levels.costs=steps"}},
    {"tiles", tiles, {0}},
    {"tiles, adaptive", tiles, {"tile.routing=adaptive"}},
    {"tiles, detours", tiles, {"tile.routing=adaptive", "tile.detour_slack=0", "tile.detour=2"}},
    {"tiles, ideal", tiles, {"tile.ideal=true"}},
    {"tiles, store and forward", tiles, {"tile.switching=saf"}},
    {"tiles, store and forward, ideal", tiles, {"tile.switching=saf", "tile.ideal=true"}},
    {"tiles, wormhole", tiles, {"tile.switching=wormhole"}},
};
const int key_machine_count = sizeof key_machines / sizeof key_machines[0];
