/*
 * Any bytes as the weights of estimators. What is refused must have a message; what is accepted is written
 * and read back the same.
 */
#include "mappers/conflict/estimators/weights.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what, const struct pim_error *error)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, error->text);
    abort();
}

/* Writes the weights, reads them back, and writes them again. */
static void hold_round_trip(const struct pim_tile_weights *weights)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_tile_weights again;
    char *text[2] = {NULL, NULL};
    size_t length[2];
    json_t *root;
    FILE *file = open_memstream(&text[0], &length[0]);
    require(file && pim_tile_weights_print(weights, file, &error) == PIM_OK, "not written", &error);
    (void)fclose(file);
    require(pim_json_parse("again", text[0], length[0], &root, &error) == PIM_OK &&
                pim_tile_weights_take(&again, root, &error) == PIM_OK,
            "not read back", &error);
    file = open_memstream(&text[1], &length[1]);
    require(file && pim_tile_weights_print(&again, file, &error) == PIM_OK, "not written again", &error);
    (void)fclose(file);
    require(length[0] == length[1] && memcmp(text[0], text[1], length[0]) == 0, "not the same", &error);
    pim_tile_weights_terminate(&again);
    json_decref(root);
    free(text[0]);
    free(text[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_tile_weights weights;
    json_t *root;
    if (pim_json_parse("fuzz.json", (const char *)data, size, &root, &error) != PIM_OK)
        return 0;
    if (pim_tile_weights_take(&weights, root, &error) == PIM_OK)
        hold_round_trip(&weights);
    else
        require(error.text[0] != '\0', "refused without a message", &error);
    pim_tile_weights_terminate(&weights);
    json_decref(root);
    return 0;
}
