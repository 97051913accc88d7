/* Between the files of this folder: a file as values of keys. */
#ifndef PIMSIM_MODELS_BOOKSIM_INTERNAL_H
#define PIMSIM_MODELS_BOOKSIM_INTERNAL_H

#include "models/booksim/booksim.h"

enum booksim_use {
    BOOKSIM_READ,   /* becomes part of the configuration */
    BOOKSIM_ONLY,   /* honoured with this value alone */
    BOOKSIM_IGNORED /* changes nothing in any cycle */
};

struct booksim_key {
    const char *name;
    enum booksim_use use;
    const char *value; /* READ: the default, NULL: has to be given; ONLY: the value */
};

enum { BOOKSIM_VALUE_LIMIT = 512 };

/* The values of all keys of a file. */
struct booksim_values {
    const char *file;
    unsigned line[256];                  /* by key: where it is given, 0: nowhere */
    char text[256][BOOKSIM_VALUE_LIMIT]; /* by key, the default where it is not given */
};

/* keys.c */
extern const struct booksim_key booksim_keys[];
extern const unsigned booksim_key_count;

/* text.c */
enum pim_status booksim_values_parse(const char *text, size_t length, struct booksim_values *values,
                                     struct pim_error *error);
/* The value of a key that is read. */
const char *booksim_text(const struct booksim_values *values, const char *key);
enum pim_status booksim_integer(const struct booksim_values *values, const char *key, int64_t least,
                                int64_t most, uint32_t *value, struct pim_error *error);
enum pim_status booksim_real(const struct booksim_values *values, const char *key, double least, double most,
                             double *value, struct pim_error *error);
/* The value of a key is refused: "FILE:LINE: KEY is VALUE: what is allowed". */
enum pim_status booksim_refuse(const struct booksim_values *values, const char *key, struct pim_error *error,
                               const char *format, ...) PIM_PRINTF(4, 5);

/* router.c, network.c, traffic.c, messages.c: parts of a configuration */
enum pim_status booksim_read_router(const struct booksim_values *values, struct pim_noc_configuration *noc,
                                    struct pim_error *error);
enum pim_status booksim_read_network(const struct booksim_values *values, struct pim_noc_configuration *noc,
                                     struct pim_error *error);
enum pim_status booksim_read_traffic(const struct booksim_values *values, struct pim_booksim *booksim,
                                     struct pim_error *error);
/* Behind network and traffic. */
enum pim_status booksim_read_messages(const struct booksim_values *values, struct pim_booksim *booksim,
                                      struct pim_error *error);

#endif
