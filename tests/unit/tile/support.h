/* A run of tiles from a text or a file, on the hardware of the paper with settings on top. */
#ifndef PIMSIM_TESTS_UNIT_TILE_SUPPORT_H
#define PIMSIM_TESTS_UNIT_TILE_SUPPORT_H

#include "models/system/families/tiles.h"
#include "models/system/system.h"

enum { TILE_SETTINGS = 8 };

struct tile_run {
    const char *settings[TILE_SETTINGS]; /* "tile.routing=yx"; up to the first NULL */
    uint64_t until;                      /* 0: to the end */
    bool differs;                        /* its estimate is by worms that are taken whole */
    /* made by run_tiles() */
    enum pim_status status;
    struct pim_error error;
    struct pim_trace *trace;
    struct pim_system *system;
    struct pim_run_result result;
};

/* A path for a file of this process; it does not exist. */
void tile_path(char path[64]);

/* The hardware with the settings. */
enum pim_status read_tiles(struct tile_run *run, struct pim_hardware *hardware);

/* Runs the trace at `path`. end_tiles() gives everything back. */
void run_tiles(struct tile_run *run, const char *path);
void end_tiles(struct tile_run *run);

/* The text form of a trace of two tiles in a row, phase 0, behind its head; the same. */
void run_text(struct tile_run *run, const char *programs);

#endif
