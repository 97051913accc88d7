/* Servers that cores share: the global memory of a chip, its bus or shared memory, its ports. Rule 8 of
 * docs/models/core.md: first come, first served; requests of one cycle by core number. */
#include "models/core/cores_internal.h"
#include "sim/arena.h"

/* Last in its tick: every request of the cycle is there. */
static void serve(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    struct pim_core_server *server = context;
    struct pim_cores *cores = server->cores;
    uint64_t now = pim_core_now(cores);
    for (uint32_t i = 1; i < server->count; i++) { /* few: insertion sort, stable */
        struct pim_core_request request = server->pending[i];
        uint32_t place = i;
        for (; place > 0 && server->pending[place - 1].core > request.core; place--)
            server->pending[place] = server->pending[place - 1];
        server->pending[place] = request;
    }
    uint32_t count = server->count;
    server->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct pim_core_request *request = &server->pending[i];
        if (server->taken) {
            server->taken(cores, request);
            continue;
        }
        server->free = pim_larger(server->free, now) + request->cycles;
        uint64_t end = server->free + request->latency;
        server->served(cores, request, pim_larger(server->free, now + 1), pim_larger(end, now + 1));
    }
}

void pim_core_server_ask(struct pim_core_server *server, const struct pim_core_request *request)
{
    server->pending =
        pim_array_require(server->pending, &server->room, server->count + (size_t)1, sizeof *request);
    server->pending[server->count++] = *request;
    if (server->count == 1)
        pim_kernel_schedule(server->cores->units.kernel, 0, PIM_PHASE_UNIT, serve, server);
}
