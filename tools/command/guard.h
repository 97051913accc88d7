/*
 * What stands between the files of a command line: no output is an input, no two outputs are one file, and a
 * file of another kind than the one written is replaced only with --force. Checked once for every command,
 * when its options are parsed, before anything is read or written.
 */
#ifndef PIMSIM_TOOLS_COMMAND_GUARD_H
#define PIMSIM_TOOLS_COMMAND_GUARD_H

#include "sim/status.h"
#include "tools/command/option_rules.h"

/*
 * `files`: the arguments that are no options, all of them inputs; may be NULL. An input is every other text
 * on the command line that names a file, and of a configuration or specification (.cfg) what it names in
 * quotes: what it includes, the networks and hardware of a sweep. Files are the same when device and inode
 * are. PIM_USAGE: what would be destroyed, and by which option.
 */
enum pim_status guard_files(const struct option_usage *usage, const struct text_list *files, bool force,
                            struct pim_error *error);

#endif
