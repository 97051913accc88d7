/* The insides of a node, shared by the files of this folder. */
#ifndef PIMSIM_MODELS_NODE_NODE_INTERNAL_H
#define PIMSIM_MODELS_NODE_NODE_INTERNAL_H

#include "models/node/node.h"

#include <stddef.h>

/* What a RECEIVE has beside its instruction. */
struct pim_receive {
    uint64_t moved;            /* payload bytes written to memory */
    uint64_t predecessor;      /* sequence + 1 of the open one of the same name before it; 0: none */
    uint64_t credits, granted; /* packets that its sender may still send; packets granted so far */
};

/* An instruction in flight: one cache line, since what all nodes have in flight passes through the caches;
 * receives have a second one. */
struct pim_slot {
    _Alignas(PIM_LINE) struct pim_instruction instruction;
    struct pim_node *node;
    pim_time started;
    uint64_t sequence;   /* in executed order of the unit */
    uint16_t next;       /* index of the slot behind it in the queue of its engine */
    bool matched, begun; /* RECEIVE: its send has started, its first packet has come */
    bool forwards;       /* SEND: of bytes that the interface still holds */
    _Alignas(PIM_LINE) struct pim_receive receive;
};
_Static_assert(sizeof(struct pim_slot) == 2 * PIM_LINE, "a cache line a slot, and one of a receive");

/* In-order queue of an engine: a list through the slots. */
struct pim_engine_queue {
    uint16_t waiting;     /* have not started */
    uint16_t in_flight;   /* started and not complete */
    uint16_t first, last; /* indices of slots, of the waiting ones */
    uint64_t blocker;     /* sequence + 1 of what the head was found to depend on; 0: nothing known */
};

/* One client's request at the memory port: a cache line. */
struct pim_port_request {
    _Alignas(PIM_LINE) struct pim_burst burst;
    struct pim_part_cursor next;   /* part */
    struct pim_transfer *transfer; /* of a shared memory, once a part was taken */
    pim_handler *handler;          /* called in phase MEMORY at the cycle of its last data */
    void *context;
};

enum pim_port_client { PIM_PORT_MEMORY, PIM_PORT_SEND, PIM_PORT_RECEIVE, PIM_PORT_CLIENTS };
_Static_assert(sizeof(struct pim_port_request) == PIM_LINE, "a cache line a request");

struct pim_memory_port {
    _Alignas(PIM_LINE) uint8_t active; /* one bit a client: has a request */
    uint8_t last;                      /* client served last */
    bool scheduled;                    /* an arbitration is due */
    bool busy;                         /* a part is being handed over; */
    bool held;                         /* all of it is, but the port may not go on yet; */
    bool ends;                         /* it is the last of its request */
    pim_time free_at;                  /* tick from which the port takes the next chunk */
    /* On channels that nodes share (shared_memory.c); NULL: a private bank. */
    struct pim_shared_memory *memory;
    struct pim_port_request request[PIM_PORT_CLIENTS];
    _Alignas(PIM_LINE) struct pim_bank bank;
    struct pim_bank_counters seen;  /* counters already attributed to a phase */
    struct pim_transfer *transfer;  /* the request of the part that is being handed over, */
    struct pim_burst part;          /* if there is one */
    struct pim_burst_cursor cursor; /* the next column of the part, counted through the node's memory */
    uint64_t handed;                /* cycle after that of the last access that was handed over */
    uint32_t under_way;             /* accesses whose column command has not issued */
    struct pim_bank_counters counters;
};

/* A packet on its way: from the send's memory read to the receive's memory write. A cache line. */
struct pim_packet {
    _Alignas(PIM_LINE) uint32_t source;
    uint32_t destination;
    uint32_t bytes;                 /* payload; 0 for an announcement */
    uint8_t kind;                   /* PIM_PACKET_* */
    bool last;                      /* of its message */
    struct pim_phase_result *phase; /* of the sender */
    uint64_t offset;                /* in the message */
    struct pim_slot *send;          /* the sender's instruction; valid until the packet is injected */
    struct pim_slot *receive;       /* the receiver's instruction; valid until the receive is complete */
    struct pim_packet *next;        /* queue of writes at the receiver */
    struct pim_node_array *array;
};
_Static_assert(sizeof(struct pim_packet) == PIM_LINE, "a cache line a packet");

enum { PIM_WINDOW_MOST = 4096 }; /* instructions in flight */
enum { PIM_PACKET_DATA, PIM_PACKET_ANNOUNCEMENT, PIM_PACKET_CREDIT };

/* An announcement that has come in and waits for its send. */
struct pim_announcement {
    uint32_t peer, tag;
    struct pim_slot *receive;
};

struct pim_network_interface {
    /* sending side */
    struct pim_slot *sending; /* message whose packets are being cut, or NULL */
    struct pim_slot *meeting; /* the receive that it meets, in another node */
    uint64_t send_offset;     /* payload bytes whose memory read has been asked for */
    uint32_t packets_held;    /* between start of their memory read and injection of their tail */
    struct pim_announcement *announcements;
    uint32_t announcement_count;
    size_t announcement_room;
    /* receiving side */
    struct pim_slot **posted; /* open receives, in order */
    uint32_t posted_count;
    uint32_t begun;                             /* open receives whose first packet has come */
    struct pim_packet *write_head, *write_tail; /* packets that wait for the port */
    uint32_t packets_in;                        /* those and the ones being written */
};

/* Two lines of what every event looks at, then the buffers, then the rest. */
struct pim_node {
    struct pim_unit unit; /* first */
    _Alignas(PIM_LINE) struct pim_node_array *array;
    struct pim_slot *slots;
    uint32_t mask; /* of slots */
    uint8_t
        cause[PIM_ENGINE_CONTROL]; /* state of an engine while the head of its queue waits for `blocker` */
    struct pim_engine_queue queue[PIM_ENGINE_CONTROL]; /* matrix, vector, memory, send, receive */
    uint64_t done[PIM_WINDOW_MOST / 64];               /* by slot: bits of those that are complete */
    _Alignas(PIM_LINE) struct pim_buffer_space buffer[PIM_BUFFERS];
    uint64_t
        promised[PIM_BUFFERS]; /* of the space taken: what instructions under way give back at their end */
    struct pim_memory_port port;
    struct pim_network_interface interface;
};
_Static_assert(offsetof(struct pim_node, done) % PIM_LINE != 0,
               "its first word lies in the line of the queues");

static inline struct pim_node *pim_node_at(const struct pim_node_array *array, uint32_t id)
{
    return (struct pim_node *)pim_units_at(&array->units, id);
}

/* Asks for the lines that an event of the node looks at, all at once; no influence on any result. */
static PIM_ALWAYS_INLINE void pim_node_prefetch(const struct pim_node *node)
{
    PIM_PREFETCH(&node->unit);
    PIM_PREFETCH(&node->unit.result.busy);
    PIM_PREFETCH(&node->array);
    PIM_PREFETCH(&node->done);
}

static inline struct pim_slot *pim_node_slot(const struct pim_node *node, uint64_t sequence)
{
    return &node->slots[sequence & node->mask];
}

static inline struct pim_slot *pim_node_head(const struct pim_node *node, unsigned engine)
{
    return &node->slots[node->queue[engine].first];
}

static inline bool pim_port_is_active(const struct pim_node *node, enum pim_port_client client)
{
    return node->port.active >> client & 1;
}

/* Of an instruction that is still in its slot. */
static inline bool pim_node_is_done(const struct pim_node *node, uint64_t sequence)
{
    uint64_t index = sequence & node->mask;
    return node->done[index / 64] >> index % 64 & 1;
}

/* First edge of a clock at or after a tick. */
static inline pim_time pim_edge(pim_time time, pim_time period)
{
    pim_time remainder = time % period;
    return remainder == 0 ? time : time + period - remainder;
}

/* unit.c */
void pim_node_start(struct pim_kernel *kernel, void *node);
void pim_node_advance(struct pim_node *node); /* starts what can start, fetches what can be fetched */
/* The same when nothing has changed but what the head of this engine's queue waits for. */
void pim_node_advance_engine(struct pim_node *node, enum pim_engine engine);
#define pim_node_fail(node, slot, ...)                                                                       \
    pim_unit_fail_at(&(node)->unit, (slot)->sequence, (slot)->instruction.opcode, __VA_ARGS__)

/* engines.c: tries to start the head of an engine's queue; true when it started, else the cause is in the
 * engine's state. */
bool pim_engine_try(struct pim_node *node, enum pim_engine engine);

/* The first dependency of an instruction that is not complete, or NULL. */
struct pim_slot *pim_engine_blocker(struct pim_node *node, const struct pim_slot *slot);

/* unit.c: one instruction less in flight; others may start. */
void pim_engine_ended(struct pim_slot *slot, enum pim_engine engine);

/* memory_port.c */
void pim_port_submit(struct pim_node *node, enum pim_port_client client, const struct pim_burst *burst,
                     pim_handler *handler, void *context);
/* Takes the next part when the port is free and a request waits. */
void pim_port_next(struct pim_node *node);
/* What the node's bank has counted so far; on channels its accesses alone. */
struct pim_bank_counters pim_port_counters(const struct pim_memory_port *port);
/* Adds the bank's counters since the last call to the unit and its phase. */
void pim_port_attribute(struct pim_unit *node);

/* shared_memory.c */
/* Makes the memories of an array whose configuration has channels, and gives each node its own. */
enum pim_status pim_shared_memories_create(struct pim_node_array *array, struct pim_error *error);
void pim_shared_memories_destroy(struct pim_node_array *array);

/* The port has taken a part of the request of a client; `last`: its last one. */
void pim_shared_memory_take(struct pim_node *node, const struct pim_burst *part,
                            struct pim_port_request *request, bool last);

/* Executes all channels up to the end of a run, and adds what they counted to the first of their nodes and to
 * the array. */
void pim_shared_memory_close(struct pim_node *node, pim_time end, struct pim_bank_counters *counters);

/* Adds what all channels have counted so far. */
void pim_shared_memories_rows(const struct pim_units *units, struct pim_dram_counters *sum);

/* network_interface.c */
/* The open receive that a send meets, NULL when its announcement has not come. */
struct pim_slot *pim_interface_announced(const struct pim_node *node, const struct pim_slot *slot);
/* Whether a send passes on what one receive brought, from the interface (cut_through): decided when it is
 * dispatched, while the last `window` instructions are in their slots. */
bool pim_interface_forwards(const struct pim_node *node, const struct pim_slot *slot);
void pim_interface_send(struct pim_node *node, struct pim_slot *slot);
void pim_interface_post(struct pim_node *node, struct pim_slot *slot);
void pim_interface_served(struct pim_node *node,
                          enum pim_port_client client); /* the port has taken a whole request */
void pim_interface_injected(void *array, uint64_t packet, uint32_t source);
bool pim_interface_is_payload(const struct pim_noc_delivery *delivery);
void pim_interface_delivered(void *array, const struct pim_noc_delivery *delivery);

#endif
