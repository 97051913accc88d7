/* The table of reserved addresses. */
#include "models/bitserial/rows.h"

#include <assert.h>

struct pim_bitserial_opened pim_bitserial_opens(enum pim_bitserial_address address)
{
    static const struct pim_bitserial_opened table[] = {
#define X(name, text, rows, negated) {rows, negated},
        PIM_BITSERIAL_ADDRESS_MAP(X)
#undef X
    };
    assert(address < PIM_BITSERIAL_ADDRESSES);
    return table[address];
}

const char *pim_bitserial_address_text(enum pim_bitserial_address address)
{
    static const char *const table[] = {
#define X(name, text, rows, negated) text,
        PIM_BITSERIAL_ADDRESS_MAP(X)
#undef X
    };
    assert(address < PIM_BITSERIAL_ADDRESSES);
    return table[address];
}
