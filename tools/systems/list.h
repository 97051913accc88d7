/*
 * Lists of systems: what `pimsim systems` maps one network onto. A system is a hardware configuration, a
 * mapper with its options, and what figures of it must stand beside: width of operands, technology, area.
 * A list is a libconfig file, a group for each system, under the system's name:
 *
 *     allspark = { title = "Allspark, 16 x 16 nodes"; mapper = "allspark";
 *                  hardware = "hardware/allspark-16x16.cfg"; bits = 8;
 *                  technology_nm = 28.0; technology = "its section VIII"; };
 *
 *   title          for people
 *   mapper         words as behind `pimsim map`
 *   hardware       path, relative to the folder of the list
 *   measures       "latency" (default): a trace is one image from beginning to end. "throughput": it is the
 *                  saturated round of a pipeline over images, whose time is that between two images
 *   bits           width of operands
 *   technology_nm, technology   node of the logic, and where that stands; without a node, why there is none
 *   area_mm2, area   a published area, and where it stands; without one, why there is none. Nodes have closed
 *                  forms
 *   energy         why the energy of its runs is that of a part, and is not compared; not given: it is
 */
#ifndef PIMSIM_TOOLS_SYSTEMS_LIST_H
#define PIMSIM_TOOLS_SYSTEMS_LIST_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { PIM_SYSTEMS_BYTES = 1 << 18, PIM_SYSTEMS_MOST = 256 };

struct pim_system_row {
    char *name, *title, *mapper, *hardware;
    bool throughput; /* measures = "throughput" */
    unsigned bits;
    double technology_nm, area_mm2; /* 0: none is known */
    char *technology, *area, *energy;
};

struct pim_systems {
    struct pim_system_row *rows;
    size_t count, capacity;
};

/* Reads a list; PIM_BAD_INPUT names file and line, PIM_IO. All zero before; pim_systems_terminate() is
   needed in any
 * case. */
enum pim_status pim_systems_read(const char *path, struct pim_systems *systems, struct pim_error *error);
void pim_systems_terminate(struct pim_systems *systems);

/* Keeps the systems of a list of names "a,b,c", in this order. A name that ends in * stands for all that
   begin so.
 * PIM_USAGE names an unknown one and the nearest. */
enum pim_status pim_systems_choose(struct pim_systems *systems, const char *names, struct pim_error *error);

#endif
