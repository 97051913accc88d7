#include "mappers/allspark/check/weight_order.h"

#include "mappers/allspark/check/numbers.h"

static void begin_piece(struct weight_order *order, uint64_t first)
{
    uint64_t left = order->n - first;
    order->piece = first;
    order->columns = left < order->width ? left : order->width;
    order->done = order->n0 = order->tile = order->k0 = 0;
}

void weight_order_begin(struct weight_order *order)
{
    order->count = 0;
    begin_piece(order, 0);
}

static void put_tile(struct weight_order *order, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t k = (uint32_t)order->k0 + i;
        uint64_t row = weight_row(order->matrix, order->input ? order->input(order->context, k) : k);
        uint32_t n = order->first_n + (uint32_t)(order->piece + order->n0);
        for (uint64_t j = 0; j < order->tile; j++)
            order->values[order->count++] = weight_number(row, n + (uint32_t)j);
    }
}

bool weight_order_take(struct weight_order *order, const struct pim_instruction *instruction)
{
    if (order->piece == order->n)
        return false;
    if (instruction->detail & PIM_MATRIX_OPEN_OUTPUT) {
        order->n0 += order->tile;
        order->k0 = 0;
        if (order->n0 == order->columns) /* the next rows */
            order->n0 = 0;
    }
    order->tile = instruction->u.matrix.n;
    uint32_t rows = instruction->u.matrix.k;
    if (order->n0 + order->tile > order->columns || order->k0 + rows > order->k)
        return false;
    if (order->done == 0)
        put_tile(order, rows);
    order->k0 += rows;
    if (order->n0 + order->tile < order->columns || order->k0 < order->k)
        return true;
    order->done += instruction->u.matrix.m;
    if (order->done >= order->rows)
        begin_piece(order, order->piece + order->columns);
    return true;
}

bool weight_order_is_complete(const struct weight_order *order)
{
    return order->count == (uint64_t)order->k * order->n;
}
