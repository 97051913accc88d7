/* The hardware and programs of the walk through the schema: what test_keys.c runs. */
#ifndef PIMSIM_TESTS_UNIT_SYSTEM_KEYS_H
#define PIMSIM_TESTS_UNIT_SYSTEM_KEYS_H

enum { KEY_SETS = 8 };

/* A way to build units, and a program that uses all of it. */
struct key_machine {
    const char *name;
    const char *program;        /* text of a trace */
    const char *sets[KEY_SETS]; /* on top of its configuration */
};

extern const struct key_machine key_machines[];
extern const int key_machine_count;

#endif
