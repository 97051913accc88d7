pimsim_test(test_configuration
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_configuration.c ${CMAKE_CURRENT_LIST_DIR}/test_refusals.c
          ${CMAKE_CURRENT_LIST_DIR}/test_include.c
  LINK pimsim_sim
  SUITES values refusals include)

# The command: exit codes and messages.
function(pimsim_command_test name arguments code output errors)
  add_test(NAME command.${name} COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:pimsim> -DFOLDER=${PROJECT_SOURCE_DIR}
    "-DARGUMENTS=${arguments}" -DCODE=${code} "-DOUTPUT=${output}" "-DERRORS=${errors}"
    -P ${PROJECT_SOURCE_DIR}/tests/unit/configuration/command.cmake)
  set_tests_properties(command.${name} PROPERTIES LABELS quick TIMEOUT 1200 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
endfunction()

pimsim_command_test(version "--version" 0 "^pimsim [0-9]+\\.[0-9]+\\.[0-9]+\n$" "")
pimsim_command_test(none "" 2 "^$" "^Usage: pimsim COMMAND")
pimsim_command_test(help "--help" 0 "\n  config " "")
pimsim_command_test(help_of_command "help config show" 0 "Usage: pimsim config show \\[OPTION\\.\\.\\.\\] \\[FILE\\.\\.\\.\\]" "")
pimsim_command_test(unknown "confgi" 2 "^$" "^pimsim: unknown command confgi; the nearest is config ")
pimsim_command_test(unknown_inner "config chekc" 2 "^$" "^pimsim config: unknown command chekc; the nearest is check ")
pimsim_command_test(unknown_option "config show --sett a" 2 "^$" "^pimsim config show: unrecognized option '--sett'. the nearest is --set ")
# The nearest is named where it may be meant.
pimsim_command_test(unknown_far "compare --usges" 2 "^$" "^pimsim compare: unrecognized option '--usges' \\(")
pimsim_command_test(unknown_help "dram --helpp" 2 "^$" "^pimsim dram: unrecognized option '--helpp'. the nearest is --help \\(")
pimsim_command_test(unknown_help_outside "--hlep" 2 "^$" "^pimsim: unrecognized option '--hlep'. the nearest is --help \\(")
pimsim_command_test(unknown_version "--verison" 2 "^$" "^pimsim: unrecognized option '--verison'. the nearest is --version \\(")
pimsim_command_test(unknown_version_inner "config --verison" 2 "^$" "^pimsim config: unrecognized option '--verison' \\(")
pimsim_command_test(unknown_help_word "config hepl" 2 "^$" "^pimsim config: unknown command hepl. the nearest is help \\(")
pimsim_command_test(usage_behind_help "help --usage" 0 "\nCommands: " "")
pimsim_command_test(unknown_command_far "simulate" 2 "^$" "^pimsim: unknown command simulate \\(")
pimsim_command_test(usage "--usage" 0 "^Usage: pimsim COMMAND \\[ARGUMENT\\.\\.\\.\\]\nCommands: map, run, .* config\n$" "")
pimsim_command_test(usage_inner "config --usage" 0 "\nCommands: show, .*schema\n$" "")
pimsim_command_test(wrong_choice "config schema --format jsom" 2 "^$"
  "^pimsim config schema: --format: found jsom, allowed is text\\|markdown\\|json; the nearest is json\n")
pimsim_command_test(missing_argument "config check" 2 "^$" "^pimsim config check: an argument is missing: FILE")
pimsim_command_test(unexpected_argument "config schema x" 2 "^$" "^pimsim config schema: unexpected argument: x")
pimsim_command_test(missing_file "config check no/such.cfg" 1 "^$"
  "^pimsim config check: no/such.cfg: cannot open: No such file or directory\n$")
pimsim_command_test(wrong_set "config show --set noc.flitbits=3" 1 "^$"
  "^pimsim config show: command line: noc\\.flitbits: unknown key; the nearest is noc\\.flit_bits ")
# What a DRAM standard alone has stands in a text of the hardware.
pimsim_command_test(standard_key "config check configs/hardware/nicepim-4x4.cfg --set dram.trcd_read=3" 1 "^$"
  "^pimsim config check: command line: dram\\.trcd_read: a key of the dram configuration, which stands in dram\\.standard_values \\(of cores [^\n]*\\): \"dram = { trcd_read = \\.\\.\\.; };\"\n")
pimsim_command_test(standard_instead "config check configs/hardware/nicepim-4x4.cfg --set dram.standard=hbm2_2000 --set clock.memory_khz=1000000 --set dram.trefi=300" 1 "^$"
  "^pimsim config check: dram\\.trefi: counts without dram\\.standard alone, which is \"hbm2_2000\" here and has values of its own \\(dram\\.standard_values\\): it would change nothing\n")
# Mappers do not take a standard at all: its values would be of no use, nor would another clock.
set(map_standard "map nicepim --network configs/networks/vgg8.cfg --hardware configs/hardware/nicepim-4x4.cfg --set dram.standard=hbm2_2000")
pimsim_command_test(standard_mapped "${map_standard} --set dram.trefi_ns=300" 1 "^$"
  "^pimsim map nicepim: dram\\.trefi_ns: counts without dram\\.standard alone, which is \"hbm2_2000\" here and which mappers do not take: it would change nothing\n$")
pimsim_command_test(standard_values_mapped "map nicepim --network configs/networks/vgg8.cfg --hardware configs/hardware/nicepim-4x4.cfg --set dram.standard_values=dram.trp=3" 1 "^$"
  "^pimsim map nicepim: dram\\.standard_values: counts with dram\\.standard alone, which is \"\" here and which mappers do not take: it would change nothing\n$")
pimsim_command_test(port_standard_mapped "map pimcomp --network configs/networks/vgg8.cfg --hardware configs/hardware/pimcomp-arch-a.cfg --set global_memory.standard=ddr4_2400r" 1 "^$"
  "^pimsim map pimcomp: command line: global_memory\\.standard: mappers estimate ports: map without it, and run ")
pimsim_command_test(standard_clock "${map_standard}" 1 "^$"
  "^pimsim map nicepim: command line: dram\\.standard: mappers estimate private banks: map without it, and run ")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/tiles_with_banks.cfg
  "@include \"${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg\"\nclock = { memory_khz = 1000000; };\ndram = { standard = \"hbm2_2000\"; };\n")
pimsim_command_test(standard_of_tiles "map conflict --mapping snake --network configs/networks/vgg8.cfg --hardware ${CMAKE_CURRENT_BINARY_DIR}/tiles_with_banks.cfg" 1 "^$"
  "^pimsim map conflict: [^ ]*tiles_with_banks\\.cfg:3: dram\\.standard: is for nodes: array\\.kind is another\n$")
pimsim_command_test(origins "config show configs/hardware/allspark-16x16.cfg --set noc.flit_bits=0x20" 0
  "    flit_bits = 32;  # bits; command line\n    virtual_channels = 8;  # channels; configs/hardware/allspark-16x16.cfg:" "")
pimsim_command_test(checked "config check configs/hardware/allspark-16x16.cfg" 0
  "^configs/hardware/allspark-16x16.cfg: good hardware configuration, hash [0-9a-f]+\n$" "")
# Files of another kind: what is read says which one is expected.
pimsim_command_test(network_as_hardware "map nicepim -n configs/networks/vgg8.cfg --hardware configs/networks/vgg8.cfg" 1 "^$"
  "^pimsim map nicepim: configs/networks/vgg8.cfg:[0-9]+: network: unknown group of the hardware configuration\n")
pimsim_command_test(hardware_as_network "map nicepim -n configs/hardware/nicepim-4x4.cfg --hardware configs/hardware/nicepim-4x4.cfg" 1 "^$"
  "^pimsim map nicepim: configs/hardware/nicepim-4x4.cfg:[0-9]+: name: unknown key of the network configuration; the nearest is network.name ")
pimsim_command_test(compare_no_result "compare configs/networks/vgg8.cfg configs/networks/vgg8.cfg" 1 "^$"
  "^pimsim compare: configs/networks/vgg8.cfg:1:1: .*: the JSON of a run is expected, as pimsim run TRACE --stats FILE --format json writes it\n")
pimsim_command_test(schema_json "config schema --format json" 0 "^{\n  \"schemas\": \\[\n.*\"path\": \"noc\\.flit_bits\"" "")

# Options that would do nothing, and outputs that would mix.
pimsim_command_test(noc_iterations_of_wavefront "noc --traffic uniform --rate 0.1 --set noc.vc_allocator=wavefront --set noc.vc_allocator_iterations=2"
  1 "^$" "^pimsim noc: noc.vc_allocator_iterations: counts with noc.vc_allocator \"islip\" alone, which is \"wavefront\" here: it would change nothing\n")
pimsim_command_test(noc_seed_without_draws "noc --traffic uniform --rate 0.1 --set noc.topology=fat_tree --set noc.radix=4 --set noc.levels=3 --set noc.routing=d_mod_k --set noc.routing_seed=3"
  1 "^$" "^pimsim noc: noc.routing_seed: counts with noc.routing .* alone, which is \"d_mod_k\" here: it would change nothing\n")
# A stuck run: the circle, and the stages of a packet up to the stop, with its last waits once.
pimsim_command_test(noc_stuck "noc --packets tests/data/noc/stuck_ring.csv --watch 3 --watch-log - --stats /dev/null --set noc.topology=torus --set noc.width=8 --set noc.height=1 --set noc.virtual_channels=1 --set noc.may_deadlock=true"
  3 "^cycle,flit,stage,at,number,port,virtual_channel\n0,0,injected,node,3,,0\n.*\n14,7,buffered,router,4,1,0\n14,8,waits_for_credit,router,3,0,0\n15,0,waits_for_channel,router,4,0,0\n$"
  "^pimsim noc: 8 packets are left that nothing can move; a circle of 16 of them, each waiting for the next:\n  router .*\n  router 3 input inject .*\n  and 8 more\n$")
pimsim_command_test(noc_no_traffic "noc" 2 "^$"
  "^pimsim noc: one of --packets FILE, --traffic PATTERN, --class TEXT and --matrix FILE is needed\n")
pimsim_command_test(noc_two_kinds_of_traffic "noc --traffic uniform --rate 0.1 --packets no.csv" 2 "^$"
  "^pimsim noc: only one of --packets FILE, --traffic PATTERN, --class TEXT and --matrix FILE at a time\n")
pimsim_command_test(noc_list_seed "noc --packets no.csv --seed 3" 2 "^$"
  "^pimsim noc: --seed goes with synthetic traffic, not with --packets\n")
pimsim_command_test(noc_list_sweep "noc --sweep-rate 0.1:0.2:0.1 --packets no.csv" 2 "^$"
  "^pimsim noc: --sweep-rate goes with synthetic traffic, not with --packets\n")
pimsim_command_test(noc_list_abbreviated "noc --packets no.csv --warm 5" 2 "^$"
  "^pimsim noc: --warm-up goes with synthetic traffic, not with --packets\n")
pimsim_command_test(noc_requests_precision "noc --traffic uniform --rate 0.1 --messages 1,5,5,1 --precision 0.1" 2 "^$"
  "^pimsim noc: --precision does not go with --messages or --batch: all samples are taken\n")
pimsim_command_test(noc_batch_samples "noc --traffic uniform --batch 3 --samples 7" 2 "^$"
  "^pimsim noc: --warm-up, --sample and --samples do not go with --batch")
pimsim_command_test(noc_requests_writes "noc --packets no.csv --messages 1,5,5,1 --writes 0.3" 2 "^$"
  "^pimsim noc: --writes goes with requests that are drawn")
pimsim_command_test(noc_requests_flits "noc --traffic uniform --rate 0.1 --messages -1,5,5,1" 2 "^$"
  "^pimsim noc: --messages -1,5,5,1: the flits of read requests")
set(booksim "topology = mesh; k = 4; n = 2; num_vcs = 4; vc_buf_size = 4; routing_function = dor; traffic = uniform; injection_rate = 0.1;\n")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/booksim/plain "${booksim}")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/booksim/batch "${booksim}sim_type = batch; batch_size = 2; max_outstanding_requests = 1;\n")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/booksim/requests "${booksim}use_read_write = 1; read_request_begin_vc = 0; read_request_end_vc = 0; "
  "read_reply_begin_vc = 1; read_reply_end_vc = 1; write_request_begin_vc = 2; write_request_end_vc = 2; write_reply_begin_vc = 3; write_reply_end_vc = 3;\n")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/booksim/list "cycle,source,destination,flits,class\n0,0,5,1,0\n2,3,4,1,2\n")
pimsim_command_test(noc_booksim_log "noc --booksim ${CMAKE_CURRENT_BINARY_DIR}/booksim/plain --log no.csv" 1 "^$"
  "^pimsim noc: --log goes with --packets, or with traffic that waits for the network")
pimsim_command_test(noc_booksim_watch "noc --booksim ${CMAKE_CURRENT_BINARY_DIR}/booksim/batch --packets no.csv --watch 0 --watch-log no2.csv" 1 "^$"
  "^pimsim noc: --watch goes with packets that wait for nothing")
pimsim_command_test(noc_booksim_list "noc --booksim ${CMAKE_CURRENT_BINARY_DIR}/booksim/requests --packets ${CMAKE_CURRENT_BINARY_DIR}/booksim/list" 0
  "cycles                 58 \\(58 measured\\)\npackets                4\n" "^$")
# Two rows of node 0, one of node 3: a batch of two takes the list, a batch of one would ignore a row.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/booksim/rows "cycle,source,destination,flits,class\n0,0,5,1,0\n0,3,4,1,0\n2,0,5,1,0\n")
pimsim_command_test(noc_batch_rows "noc --batch 2 --packets ${CMAKE_CURRENT_BINARY_DIR}/booksim/rows" 0 "\npackets                3\n" "^$")
pimsim_command_test(noc_batch_more_rows "noc --batch 1 --packets ${CMAKE_CURRENT_BINARY_DIR}/booksim/rows" 1 "^$"
  "^pimsim noc: [^:]*booksim/rows: node 0 has 2 rows, but makes 1 packets in all: give a larger --batch ")
pimsim_command_test(noc_batches_rows "noc --batch 1 --batches 2 --packets ${CMAKE_CURRENT_BINARY_DIR}/booksim/rows" 1 "^$"
  "booksim/rows: node 1 has no more requests in batch 1 of 2, where it has made 0 of 1 packets: 2 requests of each node")
pimsim_command_test(noc_batches_beyond "noc --traffic uniform --batch 65536 --batches 65536" 1 "^$"
  "4294967296 requests of each of 64 nodes are more than 268435456 in all: fewer or smaller batches are needed")
pimsim_command_test(noc_batches_alone "noc --traffic uniform --rate 0.1 --batches 2" 2 "^$" "--batches goes with --batch\n")
# Only traffic at a rate saturates a network; the packets of a batch wait for each other, and all arrive.
pimsim_command_test(noc_batch_limit "noc --traffic uniform --batch 3 --latency-limit 7" 2 "^$"
  "^pimsim noc: --latency-limit does not go with --batch, which has no rate at which the network could be saturated\n")
pimsim_command_test(noc_batch_rate_unit "noc --traffic uniform --batch 3 --rate-unit packets" 2 "^$"
  "^pimsim noc: --rate-unit does not go with --batch: a terminal sends when it may\n")
pimsim_command_test(noc_batch_bounded "noc --traffic hotspot --hotspots 0 --batch 100 --reproducible" 0
  "^mesh 8 x 8, [^\n]*\ncycles [^\n]*\npackets                6400\npacket latency         [0-9][0-9][0-9][0-9]" "^$")
pimsim_command_test(noc_batch_json "noc --traffic hotspot --hotspots 0 --batch 100 --format json --reproducible" 0 "\"saturated\": false" "^$")
pimsim_command_test(noc_limit "noc --traffic uniform --rate 0.1 --latency-limit 30 --reproducible" 0
  "\nSATURATED: the mean latency passed 30 cycles \\(--latency-limit\\), or packets did not arrive; " "^$")
# Packets from a node to itself go over no link.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/self.csv "cycle,source,destination,flits\n0,3,3,5\n4,2,2,1\n")
pimsim_command_test(noc_no_link "noc --packets ${CMAKE_CURRENT_BINARY_DIR}/self.csv --reproducible" 0
  "\nrouters traversed      1\\.000 on average\nbusiest link           none: no flit went over a link\n$" "^$")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/booksim/network "router 0 node 0 node 1\n")
pimsim_command_test(noc_network_file_nodes "noc --traffic uniform --rate 0.1 --set noc.topology=file --set noc.routing=minimal --set noc.network_file=${CMAKE_CURRENT_BINARY_DIR}/booksim/network" 1 "^$"
  "noc.network_file has 2 nodes: width x height is 8 x 8\n")
pimsim_command_test(noc_no_network_file "noc --traffic uniform --rate 0.1 --set noc.topology=file" 1 "^$"
  "noc.topology is file: noc.network_file must name the file\n")
pimsim_command_test(noc_two_outputs "noc --packets no.csv --log -" 2 "^$"
  "^pimsim noc: --log and --stats would both go to standard output: name a file for one of them\n")
pimsim_command_test(noc_one_file "noc --packets no.csv --log no/a.csv --stats no/a.csv" 2 "^$"
  "^pimsim noc: --log and --stats would both be written to no/a.csv\n")
pimsim_command_test(noc_tasks_two_outputs "noc --tasks no.json --log -" 2 "^$"
  "^pimsim noc: --log and --stats would both go to standard output: name a file for one of them\n")
pimsim_command_test(tasks_two_outputs "tasks no.json --log -" 2 "^$"
  "^pimsim tasks: --log and --stats would both go to standard output: name a file for one of them\n")
pimsim_command_test(tasks_tables "tasks ${PROJECT_SOURCE_DIR}/tests/data/conflict/cifar_alexnet --mapping snake --routing adaptive --arbiter balance --make-table ${CMAKE_CURRENT_BINARY_DIR}/tasks_tables.bin --force" 0
  "4395 operations, the longest of 543; 21975 bits, run-length coded 21975\nas memories, 28 nm   0\\.265 mm2, each router's as long as the longest; 0\\.2 nJ" "^$")
pimsim_command_test(area_tiles "area --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg" 0
  "routers of ISAAC     9\\.600 mm2 at 32 nm: 0\\.15 mm2 for 4 tiles" "^$")
pimsim_command_test(area_tiles_flits "area --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --set noc.flit_bits=128" 0
  "16 x 8 flits of 128 bits a port.*routers +37\\.458 +74\\.916 +149\\.832\n" "^$")
pimsim_command_test(area_tiles_radix "area --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --set noc.radix=4" 1 "^$"
  "^pimsim area: noc\\.radix: areas do not depend on it: it would change nothing\n")
pimsim_command_test(area_tiles_switching "area --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --set noc.flit_bits=128 --set tile.switching=saf" 1 "^$"
  "^pimsim area: tile\\.switching: areas do not depend on it, only which keys of routers count: set it beside one of these, as noc\\.concentration\n")
pimsim_command_test(area_tiles_wormhole "area --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --set tile.switching=wormhole --set noc.concentration=2" 1 "^$"
  "noc\\.concentration: 1: each tile has a router of its own")
pimsim_command_test(area_tiles_budget "area --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --budget 5" 2 "^$"
  "^pimsim area: --budget goes with DRAM-PIM nodes; this hardware is made of tiles\n")
pimsim_command_test(area_cores "area --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/pimcomp-arch-a.cfg" 1 "^$"
  "areas are known of DRAM-PIM nodes and of crossbar tiles")
pimsim_command_test(map_nicepim_cores "map nicepim --network ${PROJECT_SOURCE_DIR}/configs/networks/vgg8.cfg --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/pimcomp-arch-a.cfg" 1 "^$"
  "pimcomp-arch-a\\.cfg:9: array\\.kind: this mapper needs hardware with DRAM-PIM nodes")
pimsim_command_test(map_allspark_channels "map allspark --network ${PROJECT_SOURCE_DIR}/configs/networks/vit-t.cfg --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/fast-overlapim-hbm2.cfg" 1 "^$"
  "fast-overlapim-hbm2\\.cfg:6: array\\.kind: this mapper needs hardware with DRAM-PIM nodes")
pimsim_command_test(map_nicepim_wide "map nicepim --network ${PROJECT_SOURCE_DIR}/configs/networks/vgg8.cfg --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/nicepim-4x4.cfg --set array.width=33" 1 "^$"
  "array\\.width: this mapper takes arrays of at most 32 x 32 nodes")
pimsim_command_test(map_overlapim_nests_json "map overlapim --network ${PROJECT_SOURCE_DIR}/docs/examples/small-vgg.cfg --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/fast-overlapim-hbm2.cfg --nests --format json" 2 "^$"
  "^pimsim map overlapim: --nests is for --format text\n")
pimsim_command_test(map_overlapim_nests_quiet "map overlapim --network ${PROJECT_SOURCE_DIR}/docs/examples/small-vgg.cfg --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/fast-overlapim-hbm2.cfg --nests -q" 2 "^$"
  "^pimsim map overlapim: --nests prints nothing with --quiet\n")
pimsim_command_test(map_conflict "map conflict --network recorded:cifar-alexnet --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --mapping snake" 0
  "32 nodes, 46 edges.*1372 packets.*latency              383\\.940 us\n" "^$")
pimsim_command_test(map_conflict_adaptive "map conflict --network recorded:cifar-alexnet --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --mapping snake --set tile.routing=adaptive" 0
  "\nestimate             199\\.192 us\nlatency              199\\.192 us\n" "^$")
pimsim_command_test(map_conflict_routers "map conflict --network recorded:cifar-alexnet --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --mapping snake --set noc.flit_bits=64" 1 "^$"
  "^pimsim map conflict: noc\\.flit_bits: counts with tile\\.switching \"wormhole\" alone, which is \"path_hold\" here: it would change nothing\n")
pimsim_command_test(map_conflict_worms "map conflict --network recorded:cifar-alexnet --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --mapping snake --set noc.flit_bits=64 --set tile.switching=wormhole" 0
  "32 nodes, 46 edges" "^$")
pimsim_command_test(map_pimcomp_bus "map pimcomp --network ${PROJECT_SOURCE_DIR}/configs/networks/vgg8.cfg --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/pimcomp-arch-a.cfg --layout first --set interconnect.kind=bus --set noc.flit_bits=64" 1 "^$"
  "^pimsim map pimcomp: noc\\.flit_bits: counts with interconnect\\.kind \"mesh\", or core\\.timing \"pimsim_nn\" alone, which are \"bus\" and \"pimsim\" here: it would change nothing\n")
pimsim_command_test(map_conflict_searches "map conflict --network recorded:cifar-alexnet --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --generations 0 --population 2 --finalists 4000 --refine 1" 0
  "\nsearches             14, each with a seed of its own\n" "^$")
pimsim_command_test(map_conflict_tiles "map conflict --network recorded:cifar-vgg8 --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --mapping snake --set array.width=7 --set array.height=7" 1 "^$"
  "^pimsim map conflict: the network needs 61 tiles, but the mesh of 7 x 7 has 49: 12 are missing\n")
pimsim_command_test(map_conflict_buffers "map conflict --network recorded:imagenet-alexnet --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --mapping snake" 3 "^$"
  "^pimsim map conflict: node [0-9]+ step 0 needs .* starves")
pimsim_command_test(map_conflict_learned "map conflict --network recorded:cifar-alexnet --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --fitness gcn" 2 "^$"
  "^pimsim map conflict: --fitness gcn is learned: it needs --weights FILE, or --train FILE\n")
pimsim_command_test(map_conflict_judge "map conflict --network recorded:cifar-alexnet --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --weights ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/conflict_weights/one_edge.json --judge" 1 "^$"
  "one_edge\\.json: the weights are of the graph 0123456789abcdef of one .2 nodes, 1 edges.*train anew with --train\n")
# Worms starve on buffers that are too small as all packets do.
pimsim_command_test(map_conflict_starving_worms "map conflict --network recorded:imagenet-alexnet --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --mapping snake --set tile.switching=wormhole" 3 "^$"
  "^pimsim map conflict: node [0-9]+ step 0 needs .* starves")
pimsim_command_test(map_conflict_worms_estimate "map conflict --network recorded:cifar-alexnet --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --mapping snake --set tile.switching=wormhole" 0
  "\nestimate             132\\.549 us\nlatency              132\\.549 us\n" "^$")
pimsim_command_test(map_conflict_worms_whole "map conflict --network recorded:cifar-alexnet --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --mapping snake --set tile.switching=wormhole --batch 100 --format json" 0
  "\"estimate_by\": \"worms whole, as with noc.fidelity .*16 million flits" "^$")
pimsim_command_test(map_conflict_worms_train "map conflict --network recorded:cifar-alexnet --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --set tile.switching=wormhole --finalists 2 --train w.json" 1 "^$"
  "train and judge with path_hold or saf\n$")
pimsim_command_test(map_conflict_refine "map conflict --network recorded:cifar-alexnet --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --finalists 0 --refine 9" 2 "^$"
  "^pimsim map conflict: --refine begins at finalists, and --finalists 0 leaves none\n")
# What cannot be is told before the order of addresses, which does not know of it.
pimsim_command_test(bitserial_stacks "bitserial --set dram.stack_ids=2" 1 "^$"
  "^pimsim bitserial: dram\\.stack_ids is 2: banks that compute have one\n$")
pimsim_command_test(dram_two_outputs "dram --pattern sequential --log - --commands -" 2 "^$"
  "^pimsim dram: --log and --commands would both go to standard output: name a file for one of them\n")

add_test(NAME command.reference COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:pimsim>
  -DPAGE=${PROJECT_SOURCE_DIR}/docs/reference/configuration.md -P ${CMAKE_CURRENT_LIST_DIR}/reference.cmake)
set_tests_properties(command.reference PROPERTIES LABELS quick TIMEOUT 1200)

# No output of any command is one of its inputs.
add_test(NAME command.guard COMMAND ${PROJECT_SOURCE_DIR}/tests/guard $<TARGET_FILE:pimsim>)
set_tests_properties(command.guard PROPERTIES LABELS quick TIMEOUT 1200 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")

# Shares and means of nothing are no figures.
add_test(NAME command.nothing COMMAND ${PROJECT_SOURCE_DIR}/tests/nothing $<TARGET_FILE:pimsim>)
set_tests_properties(command.nothing PROPERTIES LABELS quick TIMEOUT 300 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")

# What README and docs show is what their commands print: quickly those that take no time, with an optimised program all.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME docs.quick COMMAND ${CMAKE_COMMAND} -E env PIMSIM=$<TARGET_FILE:pimsim>
    ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/redo-examples --check --quick)
  set_tests_properties(docs.quick PROPERTIES LABELS quick TIMEOUT 300)
  add_test(NAME docs.binary COMMAND ${CMAKE_COMMAND} -E env PIMSIM=$<TARGET_FILE:pimsim>
    ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/redo-examples --check ${PROJECT_SOURCE_DIR}/tests/data/traces/nodes-1.bin)
  set_tests_properties(docs.binary PROPERTIES LABELS quick TIMEOUT 300
    PASS_REGULAR_EXPRESSION "nodes-1.bin\nredo-examples: [^\n]*nodes-1.bin: is not a text in UTF-8\n$")
  if(CMAKE_BUILD_TYPE MATCHES "^Rel" AND NOT PIMSIM_SANITIZE AND NOT PIMSIM_COVERAGE)
    add_test(NAME docs.all COMMAND ${CMAKE_COMMAND} -E env PIMSIM=$<TARGET_FILE:pimsim>
      ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/redo-examples --check)
    set_tests_properties(docs.all PROPERTIES LABELS long TIMEOUT 1800 COST 400)
  endif()
endif()

add_test(NAME command.explain COMMAND ${PROJECT_SOURCE_DIR}/tests/explain $<TARGET_FILE:pimsim>)
set_tests_properties(command.explain PROPERTIES LABELS quick TIMEOUT 300 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
# Sums that hold no operand.
pimsim_command_test(area_sums "area --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/nicepim-4x4.cfg --bits 33" 1 "^$"
  "pe\\.accumulator_bits: sums of 32 bits hold no operand of 33: give that or more, or fewer --bits\n")
pimsim_command_test(area_sums_wide "area --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/nicepim-4x4.cfg --bits 33 --set pe.accumulator_bits=33" 0
  "PEs of 33 bits, 33-bit sums\n" "^$")
# Options that would do nothing.
set(case ${CMAKE_CURRENT_BINARY_DIR}/case.json)
file(WRITE ${case} "{\"rows\": 4, \"cols\": 8, \"sets\": [[[0,0],[0,1],[1,1],[1,0]]]}")
foreach(option "steps 5" "solver none" "conflicts 5")
  string(REPLACE " " "_" name "${option}")
  pimsim_command_test(cycles_tours_${name} "cycles ${case} --method tours --${option}" 2 "^$"
    "^pimsim cycles: --[a-z]+ is for --method cycles: the tour of a set is searched alone\n")
  pimsim_command_test(cycles_${name} "cycles ${case} --${option}" 0 "\nsharing sets   1\n" "^$")
endforeach()
# A search without an end, of sets that no bound settles.
set(case ${CMAKE_CURRENT_BINARY_DIR}/open-case.json)
file(WRITE ${case} "{\"rows\": 4, \"cols\": 4, \"sets\": [[[2,3],[3,2],[3,3]], [[0,0],[1,0],[2,0]], [[0,3],[1,1],[1,2],[3,0]], [[0,1],[1,3],[2,2],[3,1]]]}")
pimsim_command_test(cycles_time_limit "cycles ${case} --steps 1000000000000 --solver none --time-limit 1" 0
  "\nmaximal load +[0-9]+, at least [^\n]*\nhops [^\n]*\nsearch +ended early \\(time limit\\): the best so far\ncycle 0: " "^$")
pimsim_command_test(cycles_time_limit_json "cycles ${case} --steps 1000000000000 --solver none --time-limit 1 --format json" 0
  "\"ended_early\": \"time limit\"" "^$")
pimsim_command_test(cycles_no_solver "cycles ${case} --solver none --conflicts 5" 2 "^$"
  "^pimsim cycles: --conflicts is for a solver: with --solver none there is none\n")
pimsim_command_test(network_dot_format "network show ${PROJECT_SOURCE_DIR}/configs/networks/vgg8.cfg --dot --format json" 2 "^$"
  "^pimsim network show: --dot is a format of its own: leave out --format\n")
pimsim_command_test(explain_keys_name "explain --keys cycles" 2 "^$" "^pimsim explain: --keys lists names alone: leave out cycles\n")
pimsim_command_test(explain_two_lists "explain --keys --figures" 2 "^$" "^pimsim explain: --keys lists names alone: leave out --figures\n")
pimsim_command_test(config_preset "config show --preset ddr4_2933y_16gb_x4 --set dram.ranks=2" 0
  "name = \"ddr4_2933y_16gb_x4\";.*ranks = 2; .*command line.*rows = 262144; .*densities/ddr4_16gb_x4:" "^$")
pimsim_command_test(config_preset_schema "config show --preset ddr4_2400r --schema network" 2 "^$" "^pimsim config show: --preset is a memory: --schema dram, or none\n")
pimsim_command_test(dram_densities "dram --list-presets" 0 "gb: Gbit of a device, [^:]*or of a channel [^:]*:\n" "^$")
pimsim_command_test(dram_presets_alone "dram --list-presets --format json" 2 "^$" "^pimsim dram: --format does nothing with --list-presets\n")
pimsim_command_test(systems_list_alone "systems --list --systems allspark --jobs 2" 2 "^$" "^pimsim systems: --jobs does nothing with --list\n")
pimsim_command_test(systems_list_some "systems --list --systems allspark" 0 "^allspark " "^$")
pimsim_command_test(validate_phases "validate nothing.bin --phases --format csv" 2 "^$" "^pimsim validate: --phases is for --format text")
pimsim_command_test(dram_no_preset "dram --preset foo --pattern random" 2 "^$"
  "^pimsim dram: no preset 'foo'; `pimsim dram --list-presets` shows all\n")
# A key that is set and does nothing.
pimsim_command_test(area_set_other "area --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/nicepim-4x4.cfg --set tile.crossbar_rows=64" 1 "^$"
  "^pimsim area: tile\\.crossbar_rows: describes hardware with array\\.kind \"tile\", this has \"node\": it would change nothing\n")
pimsim_command_test(area_set_energy "area --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/nicepim-4x4.cfg --set energy.mac_pj=3" 1 "^$"
  "^pimsim area: energy\\.mac_pj: areas do not depend on it: it would change nothing\n")
pimsim_command_test(area_fat_tree "area --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/nicepim-4x4.cfg --set noc.topology=fat_tree" 1 "^$"
  "noc\\.topology: areas are known of the routers of a mesh or a torus in one layer")
pimsim_command_test(area_standard "area --hardware ${PROJECT_SOURCE_DIR}/configs/hardware/nicepim-4x4.cfg --set dram.standard=ddr4_2400r" 1 "^$"
  "dram\\.standard: areas are known of the controllers of a node's own banks: leave dram\\.standard out")
pimsim_command_test(config_show_other "config show ${PROJECT_SOURCE_DIR}/configs/hardware/nicepim-4x4.cfg --set pe.fold=padded" 1 "^$"
  "^pimsim config show: pe\\.fold: counts with pe\\.style \"output_stationary\", \"weight_stationary\" or \"input_stationary\" alone, which is \"vector_mac\" here: it would change nothing\n")
pimsim_command_test(config_check_other "config check ${PROJECT_SOURCE_DIR}/configs/hardware/nicepim-4x4.cfg --set levels.banks=4" 1 "^$"
  "^pimsim config check: levels\\.banks: describes hardware with array\\.kind \"channel\"")
pimsim_command_test(noc_set_silent "noc --traffic uniform --rate 0.1 --set noc.radix=4" 1 "^$"
  "^pimsim noc: noc\\.radix: counts with noc\\.topology \"fat_tree\", .* alone, which is \"mesh\" here: it would change nothing\n")
pimsim_command_test(noc_ideal_channels "noc --traffic uniform --rate 0.1 --set noc.fidelity=ideal --set noc.virtual_channels=4" 1 "^$"
  "^pimsim noc: noc\\.virtual_channels: counts with noc\\.fidelity \"flit\" alone, which is \"ideal\" here: it would change nothing\n")
pimsim_command_test(noc_seed_silent "noc --traffic uniform --rate 0.1 --set noc.routing_seed=4" 1 "^$"
  "noc\\.routing_seed: counts with noc\\.routing \"o1turn\", \"valiant\" or \"romm\", or noc\\.topology \"torus\", \"dragonfly\" or \"fat_tree\" alone, which are \"xy\" and \"mesh\" here: it would")
pimsim_command_test(config_check_area "config check ${PROJECT_SOURCE_DIR}/configs/hardware/noc-conflict-16x16.cfg --set noc.flit_bits=128" 0 "good hardware configuration" "^$")
# Options that say more of another one.
pimsim_command_test(run_window_alone "run no.bin --timeline-window 1:5" 2 "^$"
  "^pimsim run: --timeline-window belongs to --timeline FILE\n")
pimsim_command_test(validate_units_alone "validate no.bin --timeline-units 0-1" 2 "^$"
  "^pimsim validate: --timeline-units belongs to --timeline FILE\n")
pimsim_command_test(dram_group_alone "dram --preset ddr4_2400r --tensor 4,8,8 --group 2" 2 "^$"
  "^pimsim dram: --group is a part of --tensor with --layout bchw_g, which is not asked for\n")
