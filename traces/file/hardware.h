/* The hardware configuration that a trace carries. */
#ifndef PIMSIM_TRACES_FILE_HARDWARE_H
#define PIMSIM_TRACES_FILE_HARDWARE_H

struct pim_trace;

/* What a trace with behaviour tables alone has in place of a configuration: when the run that made them
 * ended. */
#define PIM_TRACE_MADE_END "made_end_ns = "

/* Libconfig text, owned by the trace; "" for none, as in a trace that has tables alone. */
const char *pim_trace_hardware(const struct pim_trace *trace);

#endif
