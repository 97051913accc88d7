/* pimsim: the table of commands. */
#include "include/pimsim/pimsim.h"
#include "tools/command/command.h"

#include <stdio.h>
#include <string.h>

static const struct command commands[] = {
    {"map", "Turn a network and a hardware into a trace", command_map},
    {"run", "Replay a trace on a hardware", command_run},
    {"validate", "Hold the mapper's estimates against simulated cycles", command_validate},
    {"sweep", "Vary hardware and networks, and keep the results in a table", command_sweep},
    {"systems", "Map and run one network on several systems, in comparable terms", command_systems},
    {"tune", "Choose the hardware for networks, and keep what was tried in a table", command_tune},
    {"compare", "Two results of run side by side: what differs, where the cycles went", command_compare},
    {"report", "Make a page with charts of results of runs and sweeps", command_report},
    {"area", "Estimate the area of the logic of a hardware", command_area},
    {"cycles", "Schedule the sharing of data over cycles through sets of nodes", command_cycles},
    {"noc", "Simulate the network on chip alone", command_noc},
    {"tasks", "Replay a task graph on the network of the conflict paper", command_tasks},
    {"dram", "Simulate a memory alone", command_dram},
    {"bitserial", "Simulate operations of memory banks that compute", command_bitserial},
    {"overlap", "Analyse how mapped layers overlap", command_overlap},
    {"trace", "Look into, check and assemble traces", command_trace},
    {"network", "Show what a network consists of", command_network},
    {"explain", "Say what a key, a figure or a message means", command_explain},
    {"config", "Show, check and describe configurations", command_config},
};

int main(int argument_count, char **arguments)
{
    static const char about[] =
        "Cycle-level simulator of processing-in-memory hardware for deep neural networks.";
    char name[] = "pimsim"; /* the same messages however the program was called */
    char *none[] = {name, NULL};
    if (argument_count < 1)
        arguments = none;
    arguments[0] = name;
    if (argument_count > 1 && (strcmp(arguments[1], "--version") == 0 || strcmp(arguments[1], "-V") == 0)) {
        printf("pimsim %s\n", pimsim_version());
        return command_finish(name, 0);
    }
    int code =
        command_dispatch(commands, sizeof commands / sizeof commands[0], about, argument_count, arguments);
    return command_finish(name, code);
}
