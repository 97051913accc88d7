/*
 * Constraints: conditions on the configuration that a point must fulfil to belong to a sweep.
 *
 *     pe.rows * pe.columns <= 256 && (noc.fidelity != "ideal" || dram.trc_ns >= dram.tras_ns + dram.trp_ns)
 *
 *     or      :=  and { "||" and }
 *     and     :=  not { "&&" not }
 *     not     :=  "!" not | compare
 *     compare :=  sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
 *     sum     :=  product { ("+" | "-") product }
 *     product :=  factor { ("*" | "/" | "%") factor }
 *     factor  :=  number | "text" | key | "-" factor | "(" or ")"
 *
 * Types are checked when the expression is read: the whole is true or false, arithmetic and order take
 * numbers, == and != two numbers or two texts. Numbers are IEEE doubles, exact for integers up to 2^53.
 */
#ifndef PIMSIM_TOOLS_SWEEP_SPECIFICATION_EXPRESSION_H
#define PIMSIM_TOOLS_SWEEP_SPECIFICATION_EXPRESSION_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>

struct pim_expression;

/* What a key stands for: a text, or a number when `text` is NULL. */
struct pim_expression_value {
    const char *text;
    double number;
};

/* Whether `name` is a key, and whether its values are texts; sets an error when it is none. */
typedef enum pim_status pim_expression_known(void *context, const char *name, bool *is_text,
                                             struct pim_error *error);
typedef struct pim_expression_value pim_expression_lookup(void *context, const char *name);

/* Reads `text`. PIM_BAD_INPUT shows the place in it. *expression is NULL after a failure. */
enum pim_status pim_expression_create(const char *text, pim_expression_known *known, void *context,
                                      struct pim_expression **expression, struct pim_error *error);
void pim_expression_destroy(struct pim_expression *expression);

/* PIM_BAD_INPUT: a division by 0. */
enum pim_status pim_expression_evaluate(const struct pim_expression *expression,
                                        pim_expression_lookup *lookup, void *context, bool *result,
                                        struct pim_error *error);

/* The text it was made from; owned by the expression. */
const char *pim_expression_text(const struct pim_expression *expression);

#endif
