/*
 * Tokens that change their branch: gather, transfer and scatter of section VII-B.
 *
 * Between two blocks the features of a stage go from one grouping into branches to another (shifted windows
 * and back). Every node packs what leaves its branch into messages, one for each node that gets some of it,
 * the messages go over the network, and every node unpacks what came. Nodes send to each other directly, or,
 * where the plan says so, over the top-left nodes of their branches (relay.h).
 *
 * Invariants:
 *  1. Messages have an order. It is the order of their instructions on both ends, so the first message that
 *     is not done is the next one of its sender and of its receiver: the exchange cannot lock.
 *  2. A branch in another image of a batch has seats of its own: what all images exchange goes at once.
 *  3. Features are overwritten only after all that leaves a node is packed. Within a stage, what leaves and
 *     what arrives is staged where the inputs of the merging were, which are dead by then; from one kind of
 *     blocks to the other, behind what both keep.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_EXCHANGE_H
#define PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_EXCHANGE_H

#include "mappers/allspark/emitter.h"

/* A node of a branch: the tokens and channels it has, and where. */
struct pim_seat {
    uint32_t unit;
    uint32_t root; /* the seat of the top-left node of the branch */
    uint32_t first_token, tokens, first_channel, channels;
    uint64_t features;             /* tokens x channels */
    uint64_t rank;                 /* bytes of all features of the stage before these */
    uint64_t leaving, arriving;    /* staging of as many bytes each */
    uint64_t parked, parked_bytes; /* as in the workspace, of the layer */
};

/* Bytes that lie in one piece on both sides. */
struct pim_exchange_move {
    uint32_t from_seat, to_seat;
    uint64_t from, to;
    uint32_t bytes;
};

/* All moves from one seat to another. */
struct pim_exchange_message {
    uint32_t from_seat, to_seat;
    uint32_t first_move, moves;
    uint64_t packed, arrived; /* addresses in the staging of both */
    uint64_t bytes;
};

struct pim_exchange {
    uint32_t units;
    /* what arrives does not lie where anything leaves: what a unit has for itself is copied once */
    bool apart;
    uint32_t senders, seats; /* the seats of the receivers are behind those of the senders, or the same */
    struct pim_seat *seat;
    uint32_t move_count, move_capacity;
    struct pim_exchange_move *moves;
    uint32_t message_count;
    struct pim_exchange_message *messages;
    /* messages of unit n, in order: of_unit[first_of_unit[n]] to of_unit[first_of_unit[n + 1] - 1] */
    uint32_t *first_of_unit, *of_unit;
    struct pim_relay *relay; /* stands in for the messages; NULL: they are direct */
    uint64_t estimate[PIM_ESTIMATE_PARTS];
};

/*
 * The exchange that gives token t of branch b of `to` what was in token from[b * N + t] % M of branch
 * from[b * N + t] / M of `source`, in each image of the batch, where branches have N and M tokens; the two
 * stages are kinds of blocks of the same stage of the network, or the same. `from` takes every token at most
 * once, or PIM_PADDED_COPIES times between two kinds that differ in tokens. PIM_NO_MEMORY. Free with
 * pim_exchange_terminate.
 */
enum pim_status pim_exchange_make(const struct pim_allspark_plan *plan,
                                  const struct pim_allspark_stage *source,
                                  const struct pim_allspark_stage *to, const uint32_t *from,
                                  struct pim_exchange *exchange, struct pim_error *error);
void pim_exchange_terminate(struct pim_exchange *exchange);

/*
 * The parts of pim_exchange_make, for exchanges that give other things than features (focal.c, stripes.c).
 * Seats of all branches of a stage in all images, behind those that are there: first_seat[image * branches +
 * b] is the first of branch b, and pim_exchange_first_seats makes room for the list (to be freed, NULL when
 * memory is out); leaving and arriving are to be set. A move, in the order in which neighbours may join. A
 * token: what seat `to` gets in its token `token`, from token `source` of the seats first .. first + count -
 * 1 of one branch. The end: messages and their order. False when memory is out.
 */
uint32_t *pim_exchange_first_seats(const struct pim_allspark_plan *plan,
                                   const struct pim_allspark_stage *stage);
bool pim_exchange_seats(const struct pim_allspark_plan *plan, const struct pim_allspark_stage *stage,
                        struct pim_exchange *exchange, uint32_t *first_seat);
bool pim_exchange_add_move(struct pim_exchange *exchange, const struct pim_exchange_move *move);
bool pim_exchange_token(struct pim_exchange *exchange, uint32_t to, uint32_t token, uint32_t first,
                        uint32_t count, uint32_t source);
bool pim_exchange_end(struct pim_exchange *exchange);

/*
 * Makes a finished exchange go over the top-left nodes when the plan says so; does nothing to others. From
 * `room` on nothing in the memory of the nodes is alive, but for the staging of the exchange itself.
 * PIM_BAD_INPUT: not even a part of what is exchanged has room. PIM_NO_MEMORY.
 */
enum pim_status pim_exchange_relay(const struct pim_allspark_plan *plan, struct pim_exchange *exchange,
                                   uint64_t room, struct pim_error *error);

/* Tags that the messages have; whether a unit has anything to do. */
uint32_t pim_exchange_tags(const struct pim_exchange *exchange);
bool pim_exchange_has_unit(const struct pim_exchange *exchange, uint32_t unit);

/* The instructions of a unit; message i has tag `tag` + i. */
void pim_exchange_emit(struct pim_emitter *emitter, const struct pim_exchange *exchange, uint32_t tag);

/* A phase of that name in which units exchange, with its estimate; `body`: what a unit does instead of
 * pim_exchange_emit alone, or NULL. */
void pim_exchange_phase(struct pim_emitter *emitter, const struct pim_exchange *exchange, const char *name,
                        uint32_t block, pim_emit_function *body);

/* The flight of a first flit between two units, in cycles: announcement there, data back. */
uint64_t pim_exchange_flight(const struct pim_estimate_hardware *hardware, uint32_t from, uint32_t to);

/* Sets the estimate of a finished exchange: its copies and the list timing of its messages, for the unit that
 * is done last. False when memory is out. */
bool pim_exchange_estimate(const struct pim_estimate_hardware *hardware, struct pim_exchange *exchange);

/* The same where unit n comes to it at time[n], which becomes the time at which it is done: the estimate is
 * what lies between the last that comes and the last that is done. */
bool pim_exchange_estimate_from(const struct pim_estimate_hardware *hardware, struct pim_exchange *exchange,
                                uint64_t *time);

/* Adds it, so many times, to what the emitter adds up. */
void pim_exchange_add_estimate(struct pim_emitter *emitter, const struct pim_exchange *exchange,
                               uint64_t times);

/*
 * Windows of rows x columns branches of window x window tokens, shifted by `shift` tokens down and right,
 * cyclically, as a permutation for pim_exchange_make. Tokens of a window that stay in it keep their place;
 * those that come take the places of those that leave, both in the order of rows. `back` undoes it. *from is
 * to be freed; NULL when memory is out.
 */
uint32_t *pim_shifted_windows(uint32_t rows, uint32_t columns, uint32_t window, uint32_t shift, bool back);

/*
 * A map of height x width tokens, from windows (branches of window x window tokens) to the order
 * of global attention whose keys are made of reduction x reduction tokens: these patches one after another,
 * then the tokens beyond them. `back`: the other way; what windows have beyond the map comes from its other
 * end. As above.
 */
uint32_t *pim_windows_to_map(uint32_t height, uint32_t width, uint32_t window, uint32_t reduction, bool back);

#endif
