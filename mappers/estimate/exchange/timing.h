/*
 * The insides of the timing of messages and programs: what a unit has of each engine, and who does what at an
 * event. Rules: docs/models/estimate.md ("An exchange").
 */
#ifndef PIMSIM_MAPPERS_ESTIMATE_EXCHANGE_TIMING_H
#define PIMSIM_MAPPERS_ESTIMATE_EXCHANGE_TIMING_H

#include "mappers/estimate/messages.h"

#include <stddef.h>

#define NONE UINT32_MAX

enum event_kind {
    EVENT_BEGIN,     /* of a unit */
    EVENT_ANNOUNCED, /* of a transfer: its receive */
    EVENT_PORT,      /* of a unit: the port is free, or arbitrates */
    EVENT_START,     /* of a unit: something may start */
    EVENT_READ,      /* of a packet */
    EVENT_HOP,       /* of a packet: its head is in a router */
    EVENT_LEFT,      /* of a packet: its tail has left the sender */
    EVENT_ARRIVED,   /* of a packet: its tail has come */
    EVENT_WRITTEN,   /* of a packet */
    EVENT_GRANTED,   /* of a transfer: one packet more */
    EVENT_SIGNAL,    /* of a signal: it is in a router */
    EVENT_WORKED     /* of an item: load, store or vector operation */
};

/* Events in the order of time; of the same time, in the order in which they were made. */
struct event {
    uint64_t time, number;
    enum event_kind kind;
    uint32_t subject; /* unit, transfer, packet or item */
};

struct agenda {
    struct event *heap;
    size_t events, capacity;
    uint64_t made;
    bool failed; /* memory is out */
};

/* In the order in which a unit is asked what can start. */
enum item_kind { ITEM_RECEIVE, ITEM_SEND, ITEM_MEMORY, ITEM_VECTOR, ITEM_ENGINES, ITEM_JOIN = ITEM_ENGINES };

/* An instruction of a unit. */
struct item {
    const struct pim_instruction *instruction; /* NULL: a message of a list */
    uint32_t transfer;                         /* SEND, RECEIVE */
    uint32_t unit;
    uint8_t kind;
    bool complete;
    uint64_t end; /* when it was complete */
};

/* Clients of the memory port, in the order of their turns. */
enum { CLIENT_WORK, CLIENT_SEND, CLIENT_RECEIVE, CLIENTS };

/* What a client asks the port for. */
struct request {
    uint32_t subject; /* item or packet; NONE: nothing */
    uint32_t moved;   /* bytes that the port has taken */
    struct pim_burst burst;
    struct pim_part_cursor next;
};

/* Where a packet is, and the router that it makes for. */
struct leg {
    uint32_t at, via;
};

struct packet {
    uint32_t transfer, bytes;
    uint64_t offset; /* in the message */
    struct leg leg;
    uint32_t next;   /* in the queue of writes */
    uint32_t links;  /* that the head has passed since it was injected */
    bool gone;       /* when the tail leaves is known */
    uint64_t leaves; /* not before */
};

/* A packet of one flit on its way: an announcement or a grant. */
struct signal {
    uint32_t transfer;
    struct leg leg;
    enum event_kind kind; /* when it is there */
};

struct unit {
    uint32_t first, last;        /* its items */
    uint32_t next[ITEM_ENGINES]; /* item of each engine that starts next */
    uint32_t oldest;             /* that is not complete */
    uint32_t issued;             /* items that have started, those before all of them: in order alone */
    uint32_t fence;              /* the join behind which nothing is fetched */
    uint32_t open, packets;      /* receives that are announced; packets between memory and network */
    uint32_t sending;            /* transfer of which packets are to be read */
    bool begun, working;         /* working: the vector unit */
    struct request request[CLIENTS];
    uint32_t to_write, newest; /* queue of packets that came in and wait for the port */
    uint32_t moved;            /* subject that the port moved last */
    unsigned turn;             /* client that it served last */
    bool busy, scheduled;      /* the port */
    uint64_t port_free;
    uint64_t injection_free, arrival_free; /* its links to its router and from there */
};

/* What is known of a transfer. */
struct course {
    uint32_t first_packet, packets;
    uint32_t granted, asked, left, written;
    uint32_t sent_at, received_at; /* items of both units */
};

struct timing {
    const struct pim_estimate_hardware *hardware;
    const struct pim_estimate_message *transfer;
    struct pim_machine_grid grid;
    uint32_t units, transfers;
    bool programs; /* items are instructions; else messages alone */
    bool in_order;
    uint64_t logic, memory, network; /* ticks of a cycle; of messages alone a tick is one of the logic */
    uint32_t open, granted, held;    /* most receives of a unit, packets of a transfer, packets of a sender */
    uint32_t window;                 /* most of a list from the oldest on that are known to a unit */
    struct unit *unit;
    uint64_t *link_free; /* [router * PIM_MACHINE_UNIT + where to] */
    struct item *item;
    struct pim_pace *const *pace; /* of each unit, of programs */
    struct course *course;
    struct packet *packet;
    struct signal *signal;
    uint32_t signals;
    struct agenda agenda;
    uint64_t now, *end; /* of each unit */
};

/* events.c: the agenda; `last`: behind all others of its time */
void timing_at(struct timing *timing, uint64_t time, enum event_kind kind, uint32_t subject);
void timing_last_at(struct timing *timing, uint64_t time, enum event_kind kind, uint32_t subject);
struct event timing_next(struct timing *timing);

/* issue.c: what of a unit starts and is complete */
void timing_start(struct timing *timing, uint32_t unit); /* all that can */
void timing_complete(struct timing *timing, uint32_t item);
void timing_retire(struct timing *timing, struct unit *unit);

/* port.c */
void timing_ask_packet(struct timing *timing, uint32_t unit, unsigned client, uint32_t packet);
void timing_port(struct timing *timing, uint32_t unit);
void timing_ask_memory(struct timing *timing, uint32_t item); /* load or store */

/* interface.c */
void timing_pump(struct timing *timing, uint32_t unit); /* asks for the next packet of what is sent */
void timing_receive(struct timing *timing, uint32_t packet);
void timing_queue_write(struct timing *timing, uint32_t unit);
void timing_left(struct timing *timing, uint32_t packet);
void timing_written(struct timing *timing, uint32_t packet);

/* network.c */
void timing_inject(struct timing *timing, uint32_t packet);
void timing_hop(struct timing *timing, uint32_t packet);
/* From the receiver of a transfer to its sender goes a packet of one flit; of messages alone it leaves at
 * once and takes no time of the links. */
void timing_signal(struct timing *timing, uint32_t transfer, enum event_kind kind);
void timing_signal_hop(struct timing *timing, uint32_t signal);

#endif
