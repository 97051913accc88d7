/* Express links, links that differ and tables of ways, for the nets of the oracle (net.h). */
#include "tests/unit/noc_oracle/net.h"

#include "tests/unit/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_list(const char *path)
{
    FILE *file = fopen(path, "r");
    char header[128];
    if (!file || !fgets(header, sizeof header, file))
        ck_abort_msg("cannot read %s", path);
    return file;
}

/* 32, 12.5 or 100/3. */
static struct pim_noc_bits bits_of(const char *text)
{
    char *end;
    struct pim_noc_bits bits = {(uint32_t)strtoul(text, &end, 10), 1};
    if (*end == '/')
        bits.denominator = (uint32_t)strtoul(end + 1, NULL, 10);
    else if (*end == '.')
        for (end++; *end >= '0' && *end <= '9'; end++) {
            bits.numerator = 10 * bits.numerator + (uint32_t)(*end - '0');
            bits.denominator *= 10;
        }
    return bits;
}

static const char *behind_comma(const char *text)
{
    const char *comma = text ? strchr(text, ',') : NULL;
    return comma ? comma + 1 : NULL;
}

/* from,to,latency,bits_per_cycle; what is missing or empty stays as it is. */
static void read_link(const char *line, int *from, int *to, uint32_t *latency, struct pim_noc_bits *bits)
{
    const char *second = behind_comma(line), *third = behind_comma(second), *fourth = behind_comma(third);
    *from = atoi(line);
    *to = atoi(second);
    if (third && *third >= '0' && *third <= '9')
        *latency = (uint32_t)strtoul(third, NULL, 10);
    if (fourth && *fourth >= '0' && *fourth <= '9')
        *bits = bits_of(fourth);
}

static int port_to(const struct net *net, int from, int to)
{
    for (int port = 0; port < net->ports[from]; port++)
        if (net->out[from * PORTS + port].router == to)
            return port;
    ck_abort_msg("no link leads from router %d to %d", from, to);
}

static void set_link(struct net *net, int from, int port, uint32_t latency, struct pim_noc_bits bits)
{
    struct end *out = &net->out[from * PORTS + port], *in = &net->in[out->router * PORTS + out->port];
    out->latency = in->latency = latency;
    out->bits = in->bits = bits;
}

void net_add_express(struct net *net)
{
    if (!net->is->express_list[0])
        return;
    FILE *file = open_list(net->is->express_list);
    int *leave = zeros((size_t)net->routers, sizeof *leave),
        *arrive = zeros((size_t)net->routers, sizeof *arrive);
    for (char line[128]; fgets(line, sizeof line, file);) {
        int from, to;
        uint32_t latency = net->is->link_latency;
        struct pim_noc_bits bits = net->is->link_bits;
        read_link(line, &from, &to, &latency, &bits);
        int port = net->express + leave[from]++, at = net->express + arrive[to]++;
        net_link(net, from, port, to, at, latency);
        set_link(net, from, port, latency, bits);
        net->ports[from] = net->ports[from] > port ? net->ports[from] : port + 1;
        net->ports[to] = net->ports[to] > at ? net->ports[to] : at + 1;
    }
    free(leave);
    free(arrive);
    fclose(file);
}

void net_change_links(struct net *net)
{
    if (!net->is->link_list[0])
        return;
    FILE *file = open_list(net->is->link_list);
    for (char line[128]; fgets(line, sizeof line, file);) {
        int from = atoi(line), to = atoi(behind_comma(line)), port = port_to(net, from, to);
        struct end link = net->out[from * PORTS + port];
        read_link(line, &from, &to, &link.latency, &link.bits);
        set_link(net, from, port, link.latency, link.bits);
    }
    fclose(file);
}

void net_read_table(struct net *net)
{
    FILE *file = open_list(net->is->route_table);
    net->next = zeros((size_t)net->routers * (size_t)net->routers, sizeof *net->next);
    for (char line[128]; fgets(line, sizeof line, file);) {
        const char *second = behind_comma(line);
        int router = atoi(line), next = atoi(behind_comma(second));
        net->next[router * net->routers + atoi(second)] = port_to(net, router, next);
    }
    fclose(file);
}
