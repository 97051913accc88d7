/*
 * Specification files of sweeps: libconfig, in the syntax of configuration files (without @include).
 *
 *     name = "NoC bandwidth of Swin-T";
 *     trace = "swin-t.bin";                           # or traces = ["a.bin", "b.bin"]; or:
 *     networks = ["../networks/swin-t.cfg"];
 *     mappers = ["allspark", "allspark --partition head"];
 *     hardware = ["../hardware/allspark-16x16.cfg"];
 *     set = ["noc.link_latency=2"];
 *     axes = {
 *         noc = { flit_bits = [16, 32, 64, 128]; };
 *         dram = { trcd_ns = "14:18:2"; };
 *         network = { image = [224, 256]; };
 *     };
 *     zip = { array = { pe = { rows = [8, 16]; columns = [8, 16]; }; }; };
 *     constraints = ["pe.rows * noc.flit_bits <= 1024"];
 *     repeats = 1; seed = 0; until = 0; noc = "flit"; mapping = "each";
 *
 * Paths are relative to the folder of the file. docs/sweeps.md describes every key.
 */
#ifndef PIMSIM_TOOLS_SWEEP_SPECIFICATION_SPECIFICATION_H
#define PIMSIM_TOOLS_SWEEP_SPECIFICATION_SPECIFICATION_H

#include "sim/status.h"
#include "tools/sweep/sweep.h"

enum { PIM_SPECIFICATION_BYTES = 1 << 20 };

/* Adds what the file says to `sweep`. PIM_BAD_INPUT: "<path>:<line>: ..."; PIM_IO. */
enum pim_status pim_sweep_read(struct pim_sweep *sweep, const char *path, struct pim_error *error);

/* The same from `size` bytes of text; `path` is the name in messages, and its folder is where relative paths
 * begin. */
enum pim_status pim_sweep_read_text(struct pim_sweep *sweep, const char *path, const char *text, size_t size,
                                    struct pim_error *error);

#endif
