/* The insides of cores, shared by the files of this folder. Rules: docs/models/core.md. */
#ifndef PIMSIM_MODELS_CORE_CORES_INTERNAL_H
#define PIMSIM_MODELS_CORE_CORES_INTERNAL_H

#include "models/core/cores.h"
#include "sim/integer.h"
#include "traces/local.h"

#include <stddef.h>

#define PIM_CYCLE_UNKNOWN UINT64_MAX

struct pim_byte_range {
    uint32_t begin, end; /* empty: begin == end; a local memory ends at 2^32 - 1 at the latest */
};

/* What an instruction in flight waits for in the calendar of its core. */
enum pim_core_step {
    PIM_STEP_WRITE,   /* its result goes to the local memory: MVM, vector, load */
    PIM_STEP_GLOBAL,  /* a store's data have been read */
    PIM_STEP_PACKET,  /* the data of a send's next packet have been read */
    PIM_STEP_ARRIVED, /* bytes of a message have come */
    PIM_STEP_ASK,     /* quirks.c: a request is at the global memory */
    PIM_STEP_GRANTED  /* quirks.c: a send is told of its receive */
};

/* The local memory in lines: the slots whose instruction writes or reads one, a bit for each. Ranges of more
 * lines than PIM_CORE_LINES_MOST stand in line PIM_CORE_LINES alone. Lines of more bytes would put more in
 * the same line that share no byte, and more lines would be more to look at. conflicts.c */
enum { PIM_CORE_LINES = 256, PIM_CORE_LINES_MOST = 16 };

struct pim_core_line {
    uint64_t writes, reads;
};

/* Ranges of the local memory that an instruction touches: what it reads, what it writes. */
enum { PIM_CORE_FIRST, PIM_CORE_SECOND, PIM_CORE_WRITE = PIM_LOCAL_READS, PIM_CORE_RANGES = PIM_LOCAL_SPANS };

/* The lines of each of them: `count` from `first` on. */
struct pim_core_lines {
    struct pim_line_range {
        uint16_t first, count;
    } range[PIM_CORE_RANGES];
};

enum { PIM_CORE_CACHE_LINE = 64 }; /* bytes */

/* An instruction in flight. What the search for conflicts and the queues look at stands first: a line of the
 * cache. On 64-bit machines its size is a power of two. */
struct pim_core_slot {
    uint64_t done;                                /* cycle of its end, once that is known */
    uint64_t sequence;                            /* in executed order of the core */
    struct pim_byte_range range[PIM_CORE_RANGES]; /* local memory */
    uint8_t engine;
    uint8_t cause;    /* enum pim_wait: of `ready`, or of the one that is not known yet */
    uint8_t blocks;   /* a bit for each engine whose queue does not go on before its end is known */
    bool bytes_alone; /* nothing but bytes that others touch stands in its way: no dependency, no order */
    uint32_t next;    /* in the queue of its engine: by how much `sequence` of the one behind it is greater */
    uint64_t checked; /* earlier instructions below this one have been looked at ... */
    uint64_t ready;   /* ... and let it start from this cycle on */
    uint64_t started;
    uint64_t nn_ready; /* quirks.c: cycle in which it may be dispatched */
    struct pim_core *core;
    struct pim_core_message *message; /* send, receive: once it has begun, or met its send */
    struct pim_instruction instruction;
};

/* The array group of an instruction of the matrix engine. */
static inline uint32_t pim_core_group_of(const struct pim_core_slot *slot)
{
    return slot->instruction.opcode == PIM_OP_ARRAY_WRITE ? slot->instruction.u.array_write.group
                                                          : slot->instruction.u.mvm.group;
}

/* Of a load or store. */
static inline uint64_t pim_core_transfer_bytes(const struct pim_instruction *instruction)
{
    return (uint64_t)instruction->u.transfer.bytes * instruction->u.transfer.count;
}

/* Of each operand of a vector instruction. */
static inline uint64_t pim_core_vector_bytes(const struct pim_instruction *instruction)
{
    return (uint64_t)instruction->u.local_vector.elements * ((instruction->u.local_vector.bits + 7) / 8);
}

struct pim_core_queue {
    uint64_t head, tail; /* if it is not empty: `sequence` of its first and last; those between: `next` */
    uint32_t unknown;    /* started, and their end is not known */
    uint8_t cause;       /* enum pim_wait: why its head waits */
    uint64_t at;         /* its head may start in this cycle; 0: not known */
};

/* A thing to do at a cycle. */
struct pim_core_entry {
    uint64_t cycle, sequence;
    struct pim_core_slot *slot;
    uint32_t bytes; /* to be written, or that are there */
    uint32_t step;
};

/* The entries of an engine, in order: a ring of `capacity`, a power of two or 0. */
struct pim_core_lane {
    struct pim_core_entry *entry;
    uint32_t head, tail, capacity;
};

struct pim_core_group {
    uint64_t free;                /* cycle from which it takes an MVM; PIM_CYCLE_UNKNOWN while one computes */
    struct pim_core_slot *holder; /* if `free` is not known: the one that computes */
    uint64_t arrays;              /* physical arrays that an MVM keeps busy */
    uint64_t macs;                /* of an MVM */
    uint64_t row_bytes, row_cells; /* of what is written into a row: weights, cells */
    uint32_t rows;
};

/* A message from the start of its send to the end of its receive. */
struct pim_core_message {
    struct pim_core_message *next; /* of those at the destination that have not met their receive */
    uint32_t source, destination, tag;
    struct pim_phase_result *phase; /* of the sender */
    uint64_t bytes;
    uint64_t read;     /* bytes whose local read has been asked for */
    uint64_t injected; /* bytes that the interconnect has taken */
    uint64_t arrived;  /* bytes that have come and wait for the receive */
    uint64_t written;  /* bytes whose local write has been asked for */
    bool buffered;     /* it has room in the receiver's buffer */
    struct pim_core_slot *send, *receive;
};

struct pim_core_packet {
    struct pim_cores *cores;
    struct pim_core_message *message;
    uint64_t bytes;
    uint32_t chip; /* chips.c: where it is, or goes to next */
};

/* A receive that has been reached and has not met its send. */
struct pim_core_posted {
    uint32_t source, tag;
    uint64_t visible; /* cycle from which the sender knows */
    struct pim_core_slot *slot;
};

struct pim_core {
    struct pim_unit unit; /* first */
    struct pim_cores *cores;
    struct pim_core_chip *chip;
    struct pim_core_slot *slots;
    struct pim_core_line *lines;    /* `words` for each line: a bit for each slot */
    struct pim_core_lines *touched; /* of the instruction in each slot */
    uint64_t *others;               /* with one word: of each slot, those that it is held against */
    uint64_t *over;                 /* `words`: slots whose instruction was seen to be complete */
    unsigned line_shift;            /* a line has 2^line_shift bytes */
    uint32_t mask, words;           /* of slots */
    bool working;                   /* its event runs */
    bool ahead;                     /* and is in a cycle that the kernel has not come to */
    struct pim_core_queue queue[PIM_ENGINE_CONTROL];
    uint32_t queued;  /* a bit for each engine whose queue is not empty */
    uint32_t blocked; /* and for each whose head is not looked at until what it waits for tells; unit.c */
    struct pim_core_lane lane[PIM_ENGINE_CONTROL]; /* calendar.c, down to `lanes` */
    uint64_t due, due_sequence;
    uint32_t due_lane, lanes;
    uint64_t wake;    /* cycle of the event that is scheduled; UNKNOWN: none */
    uint64_t ready;   /* next cycle in which the head of a queue or a fetch may go on */
    uint64_t latest;  /* end of instructions whose end is known */
    uint32_t unknown; /* instructions in flight whose end is not known, those not started included */
    uint32_t outside; /* requests to the global memory that are not answered */
    uint64_t port;    /* cycle from which the local memory's port is free */
    uint64_t vector_free, memory_free;
    struct pim_core_slot *vector_holder; /* if `vector_free` is not known: the one at work */
    struct pim_core_group *groups;
    uint32_t group_count;
    /* messages */
    struct pim_core_slot *sending;  /* the send that is under way */
    uint64_t send_free;             /* else: cycle from which the next one may start */
    uint32_t waits_for;             /* core that the head of the send queue waits for, or UINT32_MAX */
    struct pim_core_posted *posted; /* in program order, `window` at most */
    uint32_t posted_count;
    struct pim_core_message *unmet; /* messages to this core that have not met their receive, oldest first */
    uint64_t held_bytes;            /* of the receive buffer */
    uint32_t senders_waiting;       /* cores whose send waits for room here */
    /* accounts */
    uint64_t accounted;         /* cycle */
    uint64_t busy[PIM_CLASSES]; /* ends of what each class works on, as far as they are known */
    /* quirks.c */
    uint64_t nn_front;             /* cycle in which the instruction decoded last may be dispatched */
    uint64_t nn_next;              /* sequence of the instruction that is dispatched next */
    uint64_t nn_last;              /* cycle of the dispatch before */
    uint64_t nn_transfer;          /* cycle from which the transfer unit is free */
    struct pim_core_slot *nn_send; /* a send that waits for its receive */
};

enum pim_core_request_kind { PIM_REQUEST_READ, PIM_REQUEST_WRITE, PIM_REQUEST_MOVE };

/* A request at a server: to be told of its end through `slot` (memory) or `packet` (messages). */
struct pim_core_request {
    uint32_t core;
    uint32_t kind;
    uint64_t cycles;  /* that it holds the server */
    uint64_t latency; /* beyond that */
    struct pim_core_slot *slot;
    struct pim_core_packet *packet;
};

/* First come, first served; requests of one cycle by core number. */
struct pim_core_server {
    struct pim_cores *cores;
    uint64_t free;                    /* cycle */
    struct pim_core_request *pending; /* of this cycle */
    size_t room;
    uint32_t count;
    void (*served)(struct pim_cores *cores, const struct pim_core_request *request, uint64_t held,
                   uint64_t end);
    /* If not NULL: takes the requests of a cycle in order, and tells their ends when it knows them. */
    void (*taken)(struct pim_cores *cores, const struct pim_core_request *request);
};

enum { PIM_CHIP_PORTS = 4 };

struct pim_core_chip {
    struct pim_core_server memory, interconnect;
    struct pim_core_server port[PIM_CHIP_PORTS]; /* to other chips: chips.c */
};

static inline struct pim_core *pim_core_at(const struct pim_cores *cores, uint32_t id)
{
    return (struct pim_core *)cores->units.first + id;
}

static inline struct pim_core_slot *pim_core_slot_of(const struct pim_core *core, uint64_t sequence)
{
    return &core->slots[sequence & core->mask];
}

static inline bool pim_byte_ranges_overlap(const struct pim_byte_range *a, const struct pim_byte_range *b)
{
    return a->begin < b->end && b->begin < a->end;
}

/* ceil(bytes / width). Widths are mostly powers of two, and a division is slow. */
static inline uint64_t pim_beats_of(uint64_t bytes, uint32_t width)
{
    if ((width & (width - 1)) == 0)
        return (bytes + width - 1) >> __builtin_ctz(width);
    if (bytes <= UINT32_MAX)
        return (uint32_t)bytes / width + ((uint32_t)bytes % width != 0);
    return bytes / width + (bytes % width != 0);
}

/* Links between two cores in the mesh of all. */
static inline uint64_t pim_core_hops(const struct pim_core *a, const struct pim_core *b)
{
    const uint32_t width = a->cores->configuration.width, one = a->unit.id, other = b->unit.id;
    return (uint64_t)pim_difference(one % width, other % width) + pim_difference(one / width, other / width);
}

/* The cycle of the kernel's tick, rounded up to the next edge. */
static inline uint64_t pim_core_now(const struct pim_cores *cores)
{
    return pim_divide_up(pim_kernel_now(cores->units.kernel), cores->configuration.logic_period);
}

/* Can times of that cycle be counted? Else the run has failed. */
static inline bool pim_core_in_time(struct pim_core *core, uint64_t cycle)
{
    const struct pim_cores *cores = core->cores;
    return PIM_LIKELY(cycle <= cores->cycle_last) ||
           pim_unit_in_time(&core->unit, 0, cycle, cores->configuration.logic_period);
}

/* unit.c */
void pim_core_wake(struct pim_kernel *kernel, void *core);
void pim_core_wake_at(struct pim_core *core, uint64_t cycle);      /* sees to it that it looks again then */
void pim_core_set_end(struct pim_core_slot *slot, uint64_t cycle); /* the end of an instruction is known */
/* What the head of that queue waits for at a peer has changed: it is looked at in that cycle. */
void pim_core_tell(struct pim_core *core, enum pim_engine engine, uint64_t cycle);
#define pim_core_fail(core, slot, ...)                                                                       \
    pim_unit_fail_at(&(core)->unit, (slot)->sequence, (slot)->instruction.opcode, __VA_ARGS__)

/* conflicts.c */
/* Fills engine, ranges and cause of a fetched instruction; false when it cannot be executed (and failed). */
bool pim_core_prepare(struct pim_core *core, struct pim_core_slot *slot);
/* Looks at the earlier instructions that have not been looked at; see conflicts_end() in unit.c. */
uint64_t pim_core_search(struct pim_core *core, struct pim_core_slot *slot, uint64_t now);

/* calendar.c */
/* Enters a step of an instruction; the first entry, of which there is one when `due` says so; takes it. */
void pim_core_enter(struct pim_core *core, uint64_t cycle, enum pim_core_step step,
                    struct pim_core_slot *slot, uint64_t bytes);
const struct pim_core_entry *pim_core_first(const struct pim_core *core);
struct pim_core_entry pim_core_take(struct pim_core *core);

/* accounts.c */
void pim_core_account_at(struct pim_core *core, uint64_t cycle);
void pim_core_account(struct pim_unit *core, pim_time time);

/* engines.c */
/* The cycle from which the engine can take the instruction; PIM_CYCLE_UNKNOWN when that is not known. */
uint64_t pim_core_available(struct pim_core *core, const struct pim_core_slot *slot, uint64_t now);
void pim_core_start(struct pim_core *core, struct pim_core_slot *slot, uint64_t now);
void pim_core_take_step(struct pim_core *core, const struct pim_core_entry *entry);
/* Reserves the local memory's port for a request of this cycle; the cycle of its end. */
uint64_t pim_core_port(struct pim_core *core, uint64_t cycle, uint64_t bytes, bool write);
void pim_core_memory_served(struct pim_cores *cores, const struct pim_core_request *request, uint64_t held,
                            uint64_t end);

/* memory_channels.c: the global memory on channels. Made for a configuration that has them; what there is is
 * destroyed, also after a failure. */
enum pim_status pim_core_memory_create(struct pim_cores *cores, struct pim_error *error);
void pim_core_memory_destroy(struct pim_cores *cores);
/* A load or store of the present cycle, whose end pim_core_memory_served tells; what was counted so far. */
void pim_core_memory_ask(struct pim_cores *cores, const struct pim_core_request *request);
void pim_core_memory_rows(const struct pim_units *units, struct pim_dram_counters *sum);

/* servers.c */
void pim_core_server_ask(struct pim_core_server *server, const struct pim_core_request *request);

/* messages.c */
uint64_t pim_core_send_available(struct pim_core *core, const struct pim_core_slot *slot, uint64_t now);
uint64_t pim_core_receive_available(const struct pim_core *core);
void pim_core_send(struct pim_core *core, struct pim_core_slot *slot, uint64_t now);
void pim_core_receive(struct pim_core *core, struct pim_core_slot *slot, uint64_t now);
void pim_core_packet_read(struct pim_core *core, struct pim_core_slot *slot, uint64_t bytes, uint64_t now);
void pim_core_bytes_arrived(struct pim_core *core, struct pim_core_slot *slot, uint64_t bytes, uint64_t now);
void pim_core_message_served(struct pim_cores *cores, const struct pim_core_request *request, uint64_t held,
                             uint64_t end);
/* A packet has come to the chip of its receiver; `packet`. */
void pim_core_come(struct pim_kernel *kernel, void *packet);
void pim_core_injected(void *cores, uint64_t packet, uint32_t source);
void pim_core_delivered(void *cores, const struct pim_noc_delivery *delivery);

/* chips.c */
/* Hands over a packet of `core` that goes to another chip. */
void pim_core_leave_chip(struct pim_core *core, struct pim_core_packet *packet);
void pim_core_link_served(struct pim_cores *cores, const struct pim_core_request *request, uint64_t held,
                          uint64_t end);
/* Links that a packet takes from one chip to another. */
uint64_t pim_core_link_hops(const struct pim_cores *cores, const struct pim_core_chip *from,
                            const struct pim_core_chip *to);

/* quirks.c: pimsim-nn */
void pim_core_nn_fetched(struct pim_core *core, struct pim_core_slot *slot, uint64_t now);
uint64_t pim_core_nn_available(const struct pim_core *core, const struct pim_core_slot *slot);
void pim_core_nn_start(struct pim_core *core, struct pim_core_slot *slot, uint64_t now);
void pim_core_nn_step(struct pim_core *core, const struct pim_core_entry *entry);
void pim_core_nn_ended(struct pim_core *core, struct pim_core_slot *slot);
/* The request of a load or store; the start of vector instructions and MVMs, which pimsim-nn shares. */
void pim_core_ask_global(struct pim_core *core, struct pim_core_slot *slot, bool write);
void pim_core_start_plain(struct pim_core *core, struct pim_core_slot *slot, uint64_t now);
/* The receive of `source` and `tag` that is open at `core`, or NULL; its removal; a new message. */
struct pim_core_posted *pim_core_find_posted(const struct pim_core *core, uint32_t source, uint32_t tag);
void pim_core_remove_posted(struct pim_core *core, struct pim_core_posted *posted);
struct pim_core_message *pim_core_new_message(struct pim_core *core, struct pim_core_slot *send);
bool pim_core_meet(struct pim_core_message *message, struct pim_core_slot *receive, uint64_t now);
void pim_core_taken(struct pim_cores *cores, struct pim_core_message *message, uint64_t bytes,
                    uint64_t cycle);

#endif
