# Bash completion for tilewright-mpi, printed by 'tilewright-mpi --completion'.
_tilewright_mpi()
{
    local word=${COMP_WORDS[COMP_CWORD]} words=''
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W 'apsp help --help --version' -- "$word"))
        return
    fi
    case ${COMP_WORDS[1]} in
    apsp) words='--in-format --directed --undirected --unweighted --from --to --weight --ids --header --no-header --no-edge --type --sources --targets --cutoff --predecessors --output --out-format --long --labels --verify --summary --histogram --plot --eccentricity --closeness --closeness-as --harmonic --sum --reached --nearest --farthest --count --method --work-type --block --no-cache --checkpoint --every --explain --ranks --vertices --rate --link --latency --threads --memory --device-memory --device --isa --json --quiet --no-progress --help' ;;
    esac
    case $word in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _tilewright_mpi tilewright-mpi
