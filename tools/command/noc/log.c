#include "sim/output/csv.h"
#include "sim/output/output.h"
#include "tools/command/noc/report.h"

static const char *const header[] = {"packet",       "created",       "source",        "destination",
                                     "flits",        "head_injected", "tail_injected", "head_arrived",
                                     "tail_arrived", "hops",          "message"};
enum { COLUMNS = sizeof header / sizeof *header - 1 };

static void put_delivery(struct pim_csv_writer *writer, uint64_t number,
                         const struct pim_noc_delivery *delivery)
{
    const uint64_t fields[COLUMNS] = {number,
                                      delivery->created,
                                      delivery->source,
                                      delivery->destination,
                                      delivery->flits,
                                      delivery->head_injected,
                                      delivery->tail_injected,
                                      delivery->head_arrived,
                                      delivery->tail_arrived,
                                      delivery->hops};
    for (size_t field = 0; field < COLUMNS; field++)
        pim_csv_put_count(writer, fields[field]);
}

enum pim_status noc_log_write(const char *path, const struct pim_noc_delivery *deliveries, uint64_t count,
                              struct pim_error *error)
{
    struct pim_output *output;
    if (pim_output_open(&output, path, error) != PIM_OK)
        return error->status;
    struct pim_csv_writer writer;
    pim_csv_start(&writer, pim_output_file(output), header, COLUMNS);
    for (uint64_t i = 0; i < count; i++) {
        put_delivery(&writer, i, &deliveries[i]);
        pim_csv_end_row(&writer);
    }
    return pim_output_commit(output, error);
}

enum pim_status noc_requests_log_write(const char *path, const struct pim_requests_packet *packets,
                                       uint64_t count, bool kinds, struct pim_error *error)
{
    struct pim_output *output;
    if (pim_output_open(&output, path, error) != PIM_OK)
        return error->status;
    struct pim_csv_writer writer;
    pim_csv_start(&writer, pim_output_file(output), header, COLUMNS + kinds);
    for (uint64_t i = 0; i < count; i++) {
        put_delivery(&writer, i, &packets[i].delivery);
        if (kinds)
            pim_csv_put_text(&writer, pim_request_kind_name(packets[i].message));
        pim_csv_end_row(&writer);
    }
    return pim_output_commit(output, error);
}
