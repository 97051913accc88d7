#include "models/area/area.h"

#include <math.h>
#include <stddef.h>

const char *pim_area_reading_text(enum pim_area_reading reading)
{
    static const char *const texts[] = {
#define X(name, text) text,
        PIM_AREA_READING_MAP(X)
#undef X
    };
    return texts[reading];
}

/* Registers of a PE: an input and two weights of the operands' width, a sum. 5.98 um2 a bit at 40 nm
 * (Aladdin), times 0.49 for 28 nm. */
static double registers(double bits, double sum_bits)
{
    return 2.93 * (3 * bits + sum_bits);
}

/* The figure of a reading. */
static double chosen(enum pim_area_reading reading, double low, double mid, double high)
{
    return reading == PIM_AREA_LOW    ? low
           : reading == PIM_AREA_MID  ? mid
           : reading == PIM_AREA_HIGH ? high
                                      : (double)NAN;
}

double pim_area_pe(enum pim_area_reading reading, double bits, double sum_bits)
{
    /* low: a multiplier of 109 um2 at 8 bits and 384 at 16, an adder of 53 at 32; high: 1200 um2 at 8 bits,
     * 1780 at 16, with sequencing, accumulators, post-processing. */
    double low = 1.297 * bits * bits + 3.25 * bits + 1.656 * sum_bits + registers(bits, sum_bits);
    double mid = 2.6 * bits * bits + 2.6 * sum_bits + registers(bits, sum_bits);
    return chosen(reading, low, mid, 620 + 72.5 * bits);
}

double pim_area_sram(enum pim_area_reading reading, double bytes, double width)
{
    double bits = 8 * bytes, cacti = 0.1586 * bits + 6.166 * width;
    return chosen(reading, cacti, 1.2 * cacti, 0.396 * bits);
}

double pim_area_router(enum pim_area_reading reading, double ports, double channels, double flits,
                       double width)
{
    double dsent = 3.357 * ports * channels * flits * width + 0.708 * width * width + 9.43 * ports * width;
    return chosen(reading, 0.5 * dsent, dsent, 2 * dsent);
}

double pim_area_controller(enum pim_area_reading reading)
{
    return chosen(reading, 25000.0 / 3, 25000, 75000);
}

/* --- energies --- */

double pim_area_mac_pj(double bits, double sum_bits)
{
    return 0.0034 * bits * bits + 0.0016 * sum_bits + 0.0053 * (bits + sum_bits);
}

double pim_area_sram_read_pj(double bytes, double width)
{
    double bits = 8 * bytes;
    return 0.001163 * sqrt(bits * width) + 2.046e-6 * bits;
}

double pim_area_sram_write_pj(double bytes, double width)
{
    return 0.001234 * sqrt(8 * bytes * width) + 0.007755 * width;
}

double pim_area_router_pj(double channels, double flits, double width)
{
    return 0.01518 * width + 0.001304 * width * channels * flits + 0.154;
}

double pim_area_router_clock_pj(double width)
{
    return 0.0029 * width;
}

/* --- a node array --- */

static double input_width(const struct pim_area_system *system)
{
    return (double)system->pe_rows * system->operand_bits;
}

static double output_width(const struct pim_area_system *system)
{
    return (double)system->pe_columns * system->sum_bits;
}

static double buffer(enum pim_area_reading reading, uint64_t bytes, double width)
{
    return bytes > 0 ? pim_area_sram(reading, (double)bytes, width) : 0;
}

void pim_area_of(enum pim_area_reading reading, const struct pim_area_system *system, struct pim_area *area)
{
    double scale = (double)system->nodes * 1e-6; /* um2 of a node to mm2 of all */
    double pes = (double)system->pe_rows * system->pe_columns;
    area->pe = scale * pes * pim_area_pe(reading, system->operand_bits, system->sum_bits);
    area->input = scale * buffer(reading, system->input_bytes, input_width(system));
    area->weight = scale * buffer(reading, system->weight_bytes, input_width(system));
    area->output = scale * buffer(reading, system->output_bytes, output_width(system));
    area->engines = area->pe + area->input + area->weight + area->output;
    area->routers = scale * pim_area_router(reading, system->router_ports, system->virtual_channels,
                                            system->buffer_flits, system->flit_bits);
    area->controllers = scale * system->banks * pim_area_controller(reading);
    area->total = area->engines + area->routers + area->controllers;
}

void pim_area_of_tiles(enum pim_area_reading reading, const struct pim_area_tile_system *system,
                       struct pim_area_tiles *area)
{
    double scale = (double)system->tiles * 1e-6, width = system->access_bits;
    area->input = scale * pim_area_sram(reading, (double)system->input_bits / 8, width);
    area->output = scale * pim_area_sram(reading, (double)system->output_bits / 8, width);
    area->routers = scale * pim_area_router(reading, system->router_ports, system->virtual_channels,
                                            system->buffer_flits, system->flit_bits);
    area->isaac_routers = (double)system->tiles / PIM_AREA_ISAAC_TILES * PIM_AREA_ISAAC_ROUTER;
}

double pim_area_buffer_pj_per_bit(const struct pim_area_system *system)
{
    const double bytes[] = {(double)system->input_bytes, (double)system->weight_bytes,
                            (double)system->output_bytes};
    const double width[] = {input_width(system), input_width(system), output_width(system)};
    double energy = 0, bits = 0;
    for (size_t i = 0; i < 3; i++) {
        if (!(bytes[i] > 0))
            continue;
        energy += pim_area_sram_read_pj(bytes[i], width[i]);
        bits += width[i];
    }
    return bits > 0 ? energy / bits : 0;
}
