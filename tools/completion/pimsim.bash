# Bash completion of the pimsim command. Commands and options are asked of the command itself, so they are never stale.

# _pimsim_words PROGRAM [COMMAND...] KIND: the commands, or the long options, that the help of these words lists.
_pimsim_words()
{
    local kind=${*: -1}
    local help
    help=$("${@:1:$#-1}" --help 2> /dev/null) || return
    if [ "$kind" = commands ]; then
        sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' <<< "$help"
    else
        sed -n 's/^ *\(-[a-zA-Z?], *\)\{0,1\}\(--[a-z][a-z-]*\).*/\2/p' <<< "$help"
    fi
}

_pimsim()
{
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words='' i
    local path=("${COMP_WORDS[0]}")
    COMPREPLY=()
    case $previous in
        --noc) words='configured ideal analytic flit' ;;
        --format) words='text json csv' ;;
        --schema) words='hardware network' ;;
        --export) words='csv json' ;;
        --partition | -p) words='auto branch patch head' ;;
        --set | --vary)
            # Keys of hardware and networks, with the sign behind which the value goes.
            if [[ $word != *=* ]]; then
                compopt -o nospace 2> /dev/null
                mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" explain --keys 2> /dev/null)" -S = -- "$word")
            fi
            return ;;
        --ring | --until | --unit | --timeline-units | --timeline-window) return ;;
    esac
    if [ -z "$words" ]; then
        # The commands typed so far: words before the first option or file.
        for ((i = 1; i < COMP_CWORD; i++)); do
            _pimsim_words "${path[@]}" commands | grep -qxF -e "${COMP_WORDS[i]}" || break
            path+=("${COMP_WORDS[i]}")
        done
        if [[ $word == -* ]]; then
            words=$(_pimsim_words "${path[@]}" options)
        elif [ "${path[1]-}" = explain ]; then
            words=$("${path[0]}" explain --keys 2> /dev/null; "${path[0]}" explain --figures 2> /dev/null)
        elif [ "${#path[@]}" -eq "$COMP_CWORD" ]; then
            words=$(_pimsim_words "${path[@]}" commands)
        fi
    fi
    # Without words for this place, a file (the complete command below asks for that).
    [ -z "$words" ] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _pimsim pimsim
