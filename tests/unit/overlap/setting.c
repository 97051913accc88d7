#include "tests/unit/overlap/setting.h"

#include "mappers/mappers.h"
#include "models/system/schema.h"
#include "tests/unit/test_main.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t used(const struct pim_nest *nest, unsigned level)
{
    uint64_t product = 1;
    for (uint32_t i = 0; i < nest->loops; i++)
        product *= nest->loop[i].spatial && nest->loop[i].level == level ? nest->loop[i].count : 1;
    return product;
}

struct pim_network *network(const char *name)
{
    char path[PATH_MAX], relative[128];
    struct pim_network *result = NULL;
    struct pim_error error = {PIM_OK, ""};
    (void)snprintf(relative, sizeof relative, "configs/networks/%s.cfg", name);
    ck_assert_msg(
        pim_network_read(pimsim_source_path(path, sizeof path, relative), NULL, 0, &result, &error) == PIM_OK,
        "%s", error.text);
    return result;
}

void set_up(struct setting *setting, const char *name, const char *set)
{
    char path[PATH_MAX];
    struct pim_error error = {PIM_OK, ""};
    setting->network = network(name);
    ck_assert(pim_configuration_create(&pim_hardware_schema, &setting->configuration, &error) == PIM_OK);
    ck_assert_msg(pim_configuration_read_file(
                      setting->configuration,
                      pimsim_source_path(path, sizeof path, "configs/hardware/fast-overlapim-hbm2.cfg"),
                      &error) == PIM_OK,
                  "%s", error.text);
    if (set)
        ck_assert_msg(pim_configuration_set(setting->configuration, set, &error) == PIM_OK, "%s", error.text);
    setting->text = pim_configuration_write(setting->configuration, false);
    setting->inputs = (struct pim_mapper_inputs){.network = setting->network,
                                                 .configuration = setting->configuration,
                                                 .configuration_text = setting->text};
}

void tear_down(struct setting *setting)
{
    pim_configuration_destroy(setting->configuration);
    free(setting->text);
    pim_network_destroy(setting->network);
}

struct pim_overlapim_options options_of(unsigned order, uint64_t threads)
{
    struct pim_overlapim_options options;
    memcpy(&options, pim_overlapim_mapper.options.defaults, sizeof options);
    options.order = order;
    options.search.steps = 40;
    options.search.threads = threads;
    return options;
}
