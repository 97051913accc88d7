/* Messages and subjects that pimsim explain knows. */
#include "tools/command/explain.h"

#include <ctype.h>
#include <string.h>

enum { PART_LEAST = 5 }; /* letters of a word that is a part of a message */

static const struct explained_message messages[] = {
    {"would be written over an input|over an input",
     "An output of the command is a file that it also reads, perhaps under another name.",
     "Give the output another name; --force does not help, because the input would be gone."},
    {"would both be written to|would both go to standard output",
     "Two outputs of the command have the same name: one would replace the other.",
     "Give each a file of its own."},
    {"is there and is|is there and does not look",
     "The output exists and holds another kind of file than the one to be written.",
     "Give another name, or --force when the old content is not needed any more."},
    {"unknown key|no key of the", "No configuration has a key of this name; the nearest one is named.",
     "`pimsim config schema` lists all, `pimsim explain --keys` their names, `pimsim explain KEY` describes "
     "one."},
    {"unknown command|unrecognized option", "The command line has a word that is none of pimsim's.",
     "The nearest one is named; `pimsim --help` lists commands, `pimsim COMMAND --help` their options."},
    {"required, not given|must be given", "A key without a default is missing in the configuration.",
     "`pimsim config check FILE` names all that are missing, `pimsim explain KEY` what a key means."},
    {"an integer from|one of the values|allowed are", "A value is outside of what its key or option takes.",
     "The message says what is allowed and in which file and line the value stands; `pimsim config show "
     "FILE` shows where each value comes from."},
    {"would change nothing|does nothing|do nothing",
     "A key or option was set that counts for other hardware, or beside other values, alone: the result "
     "would be that without it, and look as if it had been tried.",
     "Leave it out, or set what the message names as well. A configuration file may hold such keys."},
    {"row_compute has taken its place",
     "The trace has an instruction of an earlier form of the trace format, which nothing executes any more.",
     "Map the network again."},
    {"this hardware has no engine for it",
     "The trace was made for units of another kind than the hardware has (array.kind).",
     "Run it on hardware of the kind that the message names, or map the network again for this one."},
    {"carries no hardware configuration|carries no hardware",
     "The trace was made without a hardware, so it cannot be replayed by itself.",
     "Name one with --hardware FILE; configs/hardware has some."},
    {"of another hardware",
     "The mapper made its estimates for the hardware of the trace; --set or --hardware changed it.",
     "--network FILE of run and validate maps the network anew, for the hardware that is simulated: "
     "estimates and cycles are then both of that. --mapper \"MAPPER OPTION...\" says the options of its "
     "mapper, where it had any."},
    {"its mapper without options makes",
     "A trace does not hold the options that its mapper had. Without them the mapper makes another job of "
     "the network: another mode, image, batch or partition.",
     "--mapper \"MAPPER OPTION...\" with the options of the `pimsim map` that made the trace, for example "
     "--mapper \"pimcomp --mode ll\"."},
    {"is mapped already|set array.width and array.height, or map again",
     "A trace holds programs for one shape of hardware: keys of the network, or of what the programs are "
     "laid out for, change nothing in it or do not fit.",
     "Map again: run --network FILE (with the mapper's options in --mapper), or a sweep over networks and "
     "mappers instead of traces."},
    {"can deadlock on",
     "The routing has a circle of virtual channels that can wait for each other on this topology; the "
     "message shows it.",
     "More virtual channels (noc.virtual_channels), another routing (noc.routing), or noc.may_deadlock = "
     "true to run it nevertheless. docs/models/noc-routing.md tells how the circle is found."},
    {"deadlock|waits for|wait for each other",
     "A deadlock (exit code 3): units wait for each other, and nothing can happen any more.",
     "The lines say who waits for which instruction, peer and tag. `pimsim trace check` finds without timing "
     "whether the trace can complete; small receive queues or windows (noc.*, core.window, tile.*) can be "
     "the cause too."},
    {"does not fit|do not fit|than the memory has|more than a bank has",
     "The network, or a part of it, needs more memory, arrays or rows than the hardware has.",
     "A larger hardware (the message names what is short), a smaller input or fewer bits; `pimsim systems` "
     "tells which systems take a network."},
    {"operator|is not supported|cannot be mapped",
     "The network has a layer that this mapper has no programs for.",
     "`pimsim network show FILE` lists the layers, docs/your-network.md what each mapper takes."},
    {"cannot be opened|cannot read|cannot open|cannot be read",
     "The system did not give the file: its reason stands behind the name.",
     "Check the name and the rights; `-` is standard input where a command takes it."},
    {"cannot be written|writing failed|standard output",
     "The output could not be written whole: no space, no rights, or nobody reads. Files are renamed into "
     "place at the end, so an old one is still as it was.",
     "Make room or write to another folder."},
    {"holds results of another sweep|another sweep",
     "The file has points of a sweep that this one has not grown from.",
     "What differs is named. Values, axes, traces and repeats may be added with --resume; else choose "
     "another file."},
    {"points done: the same command with --resume|results of a sweep: --resume",
     "A sweep is not finished, or was interrupted: its points are kept.",
     "The same command with --resume does what is missing, `pimsim sweep --status FILE` says how far it is, "
     "--force begins anew."},
    {"points failed", "Some points of a sweep ended with an error; the others have their results.",
     "`pimsim sweep --status FILE` lists them with their messages; --retry does them again where the cause "
     "is gone."},
    {"another process writes results", "A sweep runs on that file, perhaps on another terminal.",
     "`pimsim sweep --status FILE` shows how far it is."},
    {"is damaged|checksum", "A checksum or an index does not fit: the file is not what pimsim wrote.",
     "Restore it from a copy, or make it again; nothing of it is shown, because it could be wrong."},
    {"stopped before its end|stopped before the end|stopped by --until",
     "The run was ended by --until: its figures cover the part before.",
     "Run without --until to compare or to hold it against estimates."},
    {"estimates that are off|off by a factor|estimate of the run",
     "The mapper's closed form and the simulated cycles differ by more than the warning allows.",
     "`pimsim validate` shows phase by phase what the difference is made of (queues, rows, refresh, "
     "waiting); docs/models/estimate.md says what the closed forms leave out."},
    {"saturated|saturation",
     "The network on chip accepts less than is offered: queues grow, and latency without bound.",
     "Latencies at that rate are those of the packets that were measured; the last bounded rate is the "
     "figure to quote. docs/models/noc.md tells how it is found."},
    {"n/a|not modelled",
     "The figure is not modelled for this hardware, or its energy is 0 in the configuration: it is never "
     "shown as 0.",
     "`pimsim config show` shows the keys; energy.* keys switch components on."},
    {"built without the page", "pimsim report needs a page that is bundled when pimsim is built, by node.",
     "Install Debian's nodejs and npm, and configure and build again; the message says what was missing."},
    {"out of memory|no memory", "The system gave no more memory.",
     "Sweeps: fewer threads (-j). Runs: `ulimit -v` or the limits of the container may be lower than the "
     "machine."},
    {"is a newer|use a newer one", "The file was written by a newer pimsim.",
     "Use that version, or make the file again with this one."},
    {"stalled",
     "A stalled engine has work that it cannot begin: the text of a run says for what it waits (vector, "
     "matrix, memory, buffer, network, peer). An idle one has no work.",
     "`pimsim explain units[].stall_cycles.pe` and the pages of docs/models tell when each begins and ends."},
};

const struct explained_message explained_codes[] = {
    {"0", "Done.", ""},
    {"1",
     "Bad input: a file, a value, or that they do not fit each other; no memory; an input or output failed.",
     "The message names file, line and what would be right."},
    {"2", "Wrong usage of the command line.", "`pimsim COMMAND --help` lists its options."},
    {"3", "Deadlock: work is left, and nothing can happen any more.", "The message says who waits for what."},
    {"4", "Internal: pimsim itself is wrong.", "Please report it, with the command and its inputs."},
};
const size_t explained_code_count = sizeof explained_codes / sizeof explained_codes[0];

/* Whether `length` bytes of `word` stand in the text, in upper or lower case. */
static bool contains(const char *text, size_t text_length, const char *word, size_t length)
{
    for (size_t at = 0; at + length <= text_length; at++) {
        size_t same = 0;
        while (same < length && tolower((unsigned char)text[at + same]) == tolower((unsigned char)word[same]))
            same++;
        if (same == length)
            return true;
    }
    return false;
}

bool explained_contains(const char *text, const char *word)
{
    return contains(text, strlen(text), word, strlen(word));
}

/* Whether a word is one of the parts (whole), or has one in it or is itself in one. */
static bool has_part(const char *part, const char *wanted, bool whole)
{
    size_t length = strlen(wanted);
    while (*part) {
        size_t bytes = strcspn(part, "|");
        bool within = contains(wanted, length, part, bytes);
        if (whole ? within && length == bytes
                  : within || (length >= PART_LEAST && contains(part, bytes, wanted, length)))
            return true;
        part += bytes + (part[bytes] == '|');
    }
    return false;
}

const struct explained_message *explained_message_of(const char *wanted)
{
    for (unsigned whole = 2; whole-- > 0;)
        for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
            if (has_part(messages[i].parts, wanted, whole == 1))
                return &messages[i];
    return NULL;
}
