#include "tools/command/noc/traffic.h"

#include "tools/command/command.h"
#include "tools/command/noc/classes.h"
#include "tools/command/noc/request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CYCLES_MOST (UINT64_C(1) << 40)

/* Marks the options that say something of synthetic traffic. */
static void mark_synthetic(struct option_rule *rules, size_t count, struct noc_request *request)
{
    const struct {
        const char *name, **given;
    } marks[] = {{"rate", &request->synthetic},     {"rate-unit", &request->synthetic},
                 {"sizes", &request->synthetic},    {"on-off", &request->synthetic},
                 {"hotspots", &request->synthetic}, {"sweep-rate", &request->synthetic},
                 {"seed", &request->synthetic},     {"latency-limit", &request->limited},
                 {"warm-up", &request->measured},   {"sample", &request->measured},
                 {"samples", &request->measured},   {"precision", &request->precise}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        options_watch(rules, count, marks[i].name, marks[i].given);
}

/* An option of synthetic traffic that is given, or NULL. */
static const char *synthetic_option(const struct noc_request *request)
{
    const char *const given[] = {request->synthetic, request->limited, request->measured, request->precise};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
        if (given[i])
            return given[i];
    return NULL;
}

/* The same of traffic that waits. */
static enum pim_status check_waiting(const struct noc_request *request, struct pim_error *error)
{
    const struct noc_requests *requests = &request->requests;
    bool batch = requests->rules.batch > 0;
    const struct {
        bool wrong;
        const char *text;
    } rules[] = {
        {!isnan(requests->writes) && !requests->messages, "--writes goes with --messages"},
        {requests->rules.outstanding > 0 && !batch, "--outstanding goes with --batch"},
        {requests->rules.batches > 0 && !batch, "--batches goes with --batch"},
        {noc_request_waits(request) && request->booksim,
         "--booksim says all of the traffic: not with --messages or --batch"},
        {noc_request_waits(request) &&
             (request->classes.count > 0 || request->matrix || request->sweep || request->on_off),
         "--messages and --batch go with --packets or --traffic, not with --class, --matrix, --sweep-rate or "
         "--on-off"},
        {batch && request->rate_unit != RATE_IN_NO_UNIT,
         "--rate-unit does not go with --batch: a terminal sends when it may"},
        {requests->messages && request->rate_unit == RATE_IN_FLITS,
         "with --messages --rate counts requests: --rate-unit does not go with it"},
        {!isnan(requests->writes) && request->packets,
         "--writes goes with requests that are drawn: those of --packets say what they are"},
        {noc_request_waits(request) && request->precise,
         "--precision does not go with --messages or --batch: all samples are taken"},
        {batch && request->measured,
         "--warm-up, --sample and --samples do not go with --batch: all of its packets count"},
        {batch && request->limited,
         "--latency-limit does not go with --batch, which has no rate at which the network could be "
         "saturated"},
        {requests->messages && request->sizes, "--messages says all sizes: not with --sizes"},
        {batch && !isnan(request->rate), "--rate does not go with --batch: a terminal sends when it may"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong)
            return pim_fail(error, PIM_USAGE, "%s", rules[i].text);
    return PIM_OK;
}

/* Options that contradict each other, or would do nothing. */
static enum pim_status check_request(const struct noc_request *request, struct pim_error *error)
{
    bool rate = !isnan(request->rate);
    if (check_waiting(request, error) != PIM_OK)
        return error->status;
    int modes = (request->packets != NULL) + (request->matrix != NULL) + (request->pattern != PIM_PATTERNS) +
                (request->classes.count > 0);
    bool configured = request->common.hardware.count > 0 || request->common.sets.count > 0;
    if (request->booksim && configured)
        return pim_fail(error, PIM_USAGE, "--booksim says all of the network: not with --config or --set");
    if (request->booksim && (modes > (request->packets != NULL) || synthetic_option(request)))
        return pim_fail(error, PIM_USAGE,
                        "--booksim goes with --packets, or with the traffic of its file, and no other");
    if (request->booksim && request->packets && strcmp(request->booksim, "-") == 0 &&
        strcmp(request->packets, "-") == 0)
        return pim_fail(error, PIM_USAGE, "--booksim and --packets would both read standard input");
    if (request->fixed_draws && !request->booksim)
        return pim_fail(error, PIM_USAGE,
                        "--fixed-draws goes with --booksim: other networks have noc.routing_draws");
    if (modes != 1 && !request->booksim)
        return pim_fail(error, PIM_USAGE,
                        "%s --packets FILE, --traffic PATTERN, --class TEXT and --matrix FILE %s",
                        modes == 0 ? "one of" : "only one of", modes == 0 ? "is needed" : "at a time");
    if (request->pattern != PIM_PATTERNS && !rate && !request->sweep && request->requests.rules.batch == 0)
        return pim_fail(error, PIM_USAGE, "--traffic needs --rate R or --sweep-rate FROM:TO:STEP");
    if (request->packets && synthetic_option(request))
        return pim_fail(error, PIM_USAGE, "--%s goes with synthetic traffic, not with --packets",
                        synthetic_option(request));
    if (request->sweep && rate)
        return pim_fail(error, PIM_USAGE, "--rate and --sweep-rate: only one of them");
    if ((request->watch_log == NULL) != (request->watched == UINT64_MAX))
        return pim_fail(error, PIM_USAGE, "--watch N and --watch-log FILE go together");
    if (request->watch_log && (!request->packets || noc_request_waits(request)))
        return pim_fail(error, PIM_USAGE, "--watch goes with --packets, and not with --messages or --batch");
    if (request->log && !request->packets && !noc_request_waits(request) && !request->booksim)
        return pim_fail(error, PIM_USAGE, "--log goes with --packets, --messages or --batch");
    return PIM_OK;
}

static struct noc_request defaults(void)
{
    return (struct noc_request){.stats = "-",
                                .rate = (double)NAN,
                                .precision = 0.005,
                                .latency_limit = 500,
                                .seed = 1,
                                .warm_up = 3000,
                                .sample = 2000,
                                .samples = 50,
                                .watched = UINT64_MAX,
                                .rate_unit = RATE_IN_NO_UNIT,
                                .requests = {.writes = (double)NAN},
                                .pattern = PIM_PATTERNS};
}

static int run_and_finish(struct noc_request *request, const char *name)
{
    struct pim_error error = {0};
    enum pim_status status = check_request(request, &error);
    if (status == PIM_OK)
        status = noc_run(request, &error);
    int code = status == PIM_OK ? 0 : command_fail(name, &error);
    text_list_terminate(&request->classes);
    common_terminate(&request->common);
    return command_finish(name, code);
}

/* What the network and its traffic are. */
#define OPTIONS_OF_TRAFFIC(request)                                                                          \
    OPTION_SET((request).common),                                                                            \
        {.name = "config",                                                                                   \
         .kind = OPTION_LIST,                                                                                \
         .target = &(request).common.hardware,                                                               \
         .argument = "FILE",                                                                                 \
         .help = "Configuration of the network (libconfig, keys noc.*)"},                                    \
        RULE_TEXT(                                                                                           \
            "booksim", (request).booksim, "FILE",                                                            \
            "Network, and traffic without --packets, of a BookSim 2 configuration; keys that cannot be "     \
            "honoured are refused"),                                                                         \
        RULE_FLAG(                                                                                           \
            "fixed-draws", (request).fixed_draws,                                                            \
            "With --booksim: what its routing draws follows from a packet's number, or its destination "     \
            "in a fat tree"),                                                                                \
        OPTION_QUIET((request).common),                                                                      \
        RULE_TEXT("packets", (request).packets, "FILE",                                                      \
                  "Replays a packet list: cycle,source,destination,flits[,class][,task]"),                   \
        RULE_OUTPUT("log", (request).log, WRITES_TEXT,                                                       \
                    "With --packets: writes when each packet was injected and arrived"),                     \
        RULE_UNSIGNED(                                                                                       \
            "watch", (request).watched, "N", 0, UINT64_MAX - 1,                                              \
            "With --packets and --watch-log: the packet that is watched, a row of the list from 0 on"),      \
        RULE_OUTPUT("watch-log", (request).watch_log, WRITES_TEXT,                                           \
                    "Writes a row for what each flit of that packet does in a cycle, or what it waits for"), \
        RULE_CHOICE("traffic", (request).pattern, "PATTERN", NOC_PATTERNS, "Synthetic traffic"),             \
        {.name = "class",                                                                                    \
         .kind = OPTION_LIST,                                                                                \
         .target = &(request).classes,                                                                       \
         .argument = "TEXT",                                                                                 \
         .help =                                                                                             \
             "A class of traffic, to be repeated: \"traffic=PATTERN rate=RATE [unit=packets] [sizes=LIST] "  \
             "[on-off=ON:OFF] [hotspots=NODES] [class=N]\""},                                                \
        RULE_REAL("rate", (request).rate, "RATE", 0, 1e9,                                                    \
                  "Flits per node and cycle; scales the rates of --class and --matrix to this sum"),         \
        RULE_CHOICE("rate-unit", (request).rate_unit, "UNIT", "flits|packets",                               \
                    "What --rate and --sweep-rate count", .standard = "flits"),                              \
        RULE_TEXT("sizes", (request).sizes, "LIST",                                                          \
                  "Packet sizes in flits: 5, or 1,5, or 1:0.8,5:0.2 with weights", .standard = "1"),         \
        RULE_TEXT("on-off", (request).on_off, "ON:OFF",                                                      \
                  "Bursts: probabilities of turning on and off in a cycle; the rate stays the mean"),        \
        RULE_TEXT("hotspots", (request).hotspots, "NODES", "Nodes of hotspot traffic"),                      \
        RULE_TEXT("matrix", (request).matrix, "FILE",                                                        \
                  "Rates per pair: source,destination,rate in flits per cycle")

/* Traffic that waits. */
#define OPTIONS_OF_WAITING(request, batches, outstanding)                                                    \
    RULE_TEXT("messages", (request).requests.messages, "FLITS",                                              \
              "Requests that are answered where they arrive: flits of read requests, read replies, write "   \
              "requests, write replies; --rate counts requests"),                                            \
        RULE_REAL("writes", (request).requests.writes, "SHARE", 0, 1,                                        \
                  "With --messages: requests that write, as a share", .standard = "0.5"),                    \
        RULE_UNSIGNED("batch", (request).requests.rules.batch, "N", 1, UINT32_MAX,                           \
                      "Each node sends N packets one after another, as fast as it may"),                     \
        RULE_UNSIGNED("batches", batches, "COUNT", 1, PIM_BATCHES_MOST,                                      \
                      "With --batch: so many batches, each when all of the one before has arrived",          \
                      .standard = "1"),                                                                      \
        RULE_UNSIGNED("outstanding", outstanding, "N", 1, UINT32_MAX,                                        \
                      "With --batch: most requests of a node that are under way or not answered"),           \
        RULE_TEXT("sweep-rate", (request).sweep, "FROM:TO:STEP",                                             \
                  "Latency-throughput curve up to saturation")

/* What is measured, and written. */
#define OPTIONS_OF_MEASURING(request)                                                                        \
    RULE_UNSIGNED("seed", (request).seed, "N", 0, UINT64_MAX, "Seed of the traffic"),                        \
        RULE_UNSIGNED("warm-up", (request).warm_up, "CYCLES", 0, CYCLES_MOST, "Cycles before measuring"),    \
        RULE_UNSIGNED("sample", (request).sample, "CYCLES", 1, CYCLES_MOST, "Cycles of a sample"),           \
        RULE_UNSIGNED(                                                                                       \
            "samples", (request).samples, "N", 1, 1000,                                                      \
            "Most samples. At least 5 are taken, and no more once the mean latency is precise enough"),      \
        RULE_REAL("precision", (request).precision, "SHARE", 1e-9, 1,                                        \
                  "95 % confidence at which to stop, as a share of the mean latency"),                       \
        RULE_REAL("latency-limit", (request).latency_limit, "CYCLES", 1, 1e12,                               \
                  "Mean latency beyond which the network counts as saturated"),                              \
        RULE_FLAG("check", (request).check,                                                                  \
                  "Verifies flits, credits and owners of virtual channels on the way and at the end"),       \
        RULE_OUTPUT("stats", (request).stats, WRITES_TEXT, "Where to write the results"),                    \
        OPTION_FORMAT((request).format, "text|json|csv"),                                                    \
        RULE_FLAG("reproducible", (request).reproducible,                                                    \
                  "Leaves out what differs from run to run: host seconds and memory")

int noc_traffic(int argument_count, char **arguments)
{
    struct noc_request request = defaults();
    uint64_t outstanding = 0, batches = 0;
    struct option_rule rules[] = {
        OPTIONS_OF_TRAFFIC(request),
        OPTIONS_OF_WAITING(request, batches, outstanding),
        OPTIONS_OF_MEASURING(request),
    };
    mark_synthetic(rules, sizeof rules / sizeof rules[0], &request);
    const struct option_usage usage = OPTION_USAGE(
        "", "Simulates the network alone: a packet list, synthetic traffic, or a curve over rates.", rules, 0,
        0);
    options_parse(&usage, argument_count, arguments, NULL);
    request.requests.rules.batches = (uint32_t)batches;
    request.requests.rules.outstanding = (uint32_t)outstanding;
    return run_and_finish(&request, arguments[0]);
}
