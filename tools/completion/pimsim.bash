# Bash completion of the pimsim command.

# Prints the options of the command whose words are given.
_pimsim_options()
{
    local replay='--hardware --set --noc --until --stats --format --timeline --timeline-units --timeline-window'
    case $1 in
        map) echo "--network --hardware --output --partition --set" ;;
        run | validate) echo "$replay" ;;
        trace) [ "${2-}" = asm ] && echo "--output" ;;
        config) echo "--set" ;;
    esac
    echo "--help"
}

_pimsim()
{
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]-} words=
    COMPREPLY=()
    case $previous in
        --noc) words='ideal analytic flit' ;;
        --format) words='json csv text' ;;
        --partition) words='B P AH' ;;
        --set | --until | --timeline-units | --timeline-window) return ;;
    esac
    if [ -z "$words" ]; then
        if [ "$COMP_CWORD" -eq 1 ]; then
            words='map run validate trace config network --help --version'
        elif [[ $word == -* ]]; then
            words=$(_pimsim_options "$command" "${COMP_WORDS[2]-}")
        elif [ "$COMP_CWORD" -eq 2 ]; then
            case $command in
                map) words=allspark ;;
                trace) words='info dump asm check stat' ;;
                config) words='show check schema' ;;
                network) words=show ;;
            esac
        fi
    fi
    # Without words for this place, a file (the complete command below asks for that).
    [ -z "$words" ] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _pimsim pimsim
