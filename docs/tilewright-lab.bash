# Bash completion for tilewright-lab, printed by 'tilewright-lab --completion'.
_tilewright_lab()
{
    local word=${COMP_WORDS[COMP_CWORD]} words=''
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W 'list show diff run report compare help --help --version' -- "$word"))
        return
    fi
    case ${COMP_WORDS[1]} in
    list) words='--help' ;;
    show) words='--help' ;;
    diff) words='--help' ;;
    run) words='--n --rungs --repeat --budget --turns --published --counters --once --seed --out --threads --memory --device-memory --quiet --no-progress --help' ;;
    report) words='--out --plots --help' ;;
    compare) words='--help' ;;
    esac
    case $word in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _tilewright_lab tilewright-lab
