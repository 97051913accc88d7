# Bash completion of the pimsim command. Commands, options and what they allow are asked of the command itself, so they are never stale.

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

# _pimsim_choices PROGRAM [COMMAND...] OPTION: the values that the help of an option lists, "[a, b; default: a]" behind its text.
_pimsim_choices()
{
    "${@:1:$#-1}" --help 2> /dev/null | sed -n "/^ *\(-., *\)\{0,1\}${*: -1}=/,/^ *\(-., *\)\{0,1\}--/p" |
        sed -e '1s/.*=[^ ]* *//' -e '1!{/^ *\(-., *\)\{0,1\}--/d}' | tr -s '\n ' '  ' |
        sed -n 's/.*\[\([a-zA-Z0-9_-]*\(, [a-zA-Z0-9_-]*\)\{1,\}\)\(; [^]]*\)\{0,1\}\] *$/\1/p' | tr -d ','
}

# _pimsim_values PROGRAM KEY: the values of a key that is not a number.
_pimsim_values()
{
    "$1" explain "$2" 2> /dev/null | sed -n '/^  allowed/,/^  [a-z]/{/^  \(allowed\|  \)/p;}' |
        grep -oE '"[^"]*"|\<(true|false)\>' | tr -d '"' | awk '!seen[$0]++'
}

# _pimsim_setting PROGRAM WORD GLUE: KEY=VALUE behind --set and --vary. GLUE is what of WORD the answers begin with.
_pimsim_setting()
{
    if [[ $2 == *=* ]]; then
        mapfile -t COMPREPLY < <(compgen -P "$3" -W "$(_pimsim_values "$1" "${2%%=*}")" -- "${2#*=}")
    else # the sign behind which the value goes
        compopt -o nospace 2> /dev/null
        mapfile -t COMPREPLY < <(compgen -W "$("$1" explain --keys 2> /dev/null)" -S = -- "$2")
    fi
}

_pimsim()
{
    local at=$COMP_CWORD word=${COMP_WORDS[COMP_CWORD]} words='' i previous glue
    local program=${COMP_WORDS[0]} path=("${COMP_WORDS[0]}")
    COMPREPLY=()
    # Readline takes "=" as a word of its own: OPTION = VALUE, OPTION KEY = VALUE, OPTION = KEY = VALUE.
    glue=${word%%=*}=
    if [ "$at" -ge 2 ] && [ "$word" = = ]; then
        word='' glue=''
        at=$((at - 1))
    elif [ "$at" -ge 3 ] && [ "${COMP_WORDS[at - 1]}" = = ]; then
        glue=''
        at=$((at - 2))
    fi
    if [ -z "$glue" ] && [[ ${COMP_WORDS[at]} != --* ]]; then
        word=${COMP_WORDS[at]}=$word
        [ "${COMP_WORDS[at - 1]}" != = ] || at=$((at - 1))
    elif [ -z "$glue" ]; then
        at=$((at + 1))
    elif [[ $word == --*=* ]]; then
        return
    fi
    previous=${COMP_WORDS[at - 1]}
    # The commands typed so far: words before the first option or file.
    for ((i = 1; i < at; i++)); do
        _pimsim_words "${path[@]}" commands | grep -qxF -e "${COMP_WORDS[i]}" || break
        path+=("${COMP_WORDS[i]}")
    done
    case $previous in
        --partition | -p) words='auto branch patch head' ;;
        --systems) words=$("$program" systems --list 2> /dev/null | sed 's/ .*//') ;;
        --set | --vary)
            _pimsim_setting "$program" "$word" "$glue"
            return ;;
        --*)
            words=$(_pimsim_choices "${path[@]}" "$previous")
            # Another option with a value: a number or a file.
            [ -n "$words" ] || ! "${path[@]}" --help 2> /dev/null | grep -q -e "$previous=" || return ;;
    esac
    if [ -z "$words" ]; then
        if [[ $word == -* ]]; then
            words=$(_pimsim_words "${path[@]}" options)
        elif [ "${path[1]-}" = explain ]; then
            words=$("$program" explain --keys 2> /dev/null; "$program" explain --figures 2> /dev/null)
        elif [ "${#path[@]}" -eq "$at" ]; then
            words=$(_pimsim_words "${path[@]}" commands)
        fi
    fi
    # Without words for this place, a file (the complete command below asks for that).
    [ -z "$words" ] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _pimsim pimsim
