# Bash completion for tilewright, printed by 'tilewright --completion'.
_tilewright()
{
    local word=${COMP_WORDS[COMP_CWORD]} words=''
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W 'apsp path summary reach entropy map convert compare generate devices selftest bench help --help --version' -- "$word"))
        return
    fi
    case ${COMP_WORDS[1]} in
    apsp) words='--in-format --directed --undirected --unweighted --from --to --weight --ids --header --no-header --no-edge --type --sources --targets --cutoff --predecessors --output --out-format --long --labels --summary --verify --histogram --plot --eccentricity --closeness --closeness-as --harmonic --sum --reached --nearest --farthest --count --explain --method --work-type --block --no-cache --checkpoint --every --threads --memory --device-memory --device --isa --json --quiet --no-progress --help' ;;
    path) words='--in-format --directed --undirected --unweighted --from --to --weight --ids --header --no-header --no-edge --type --dist-format --threads --memory --json --quiet --no-progress --help' ;;
    summary) words='--type --in-format --labels --histogram --plot --eccentricity --closeness --closeness-as --harmonic --sum --reached --nearest --farthest --count --threads --memory --json --quiet --no-progress --help' ;;
    reach) words='--in-format --directed --undirected --unweighted --from --to --weight --ids --header --no-header --no-edge --sources --bits --output --out-format --counts --components --condensation --threads --memory --device-memory --device --isa --json --quiet --no-progress --help' ;;
    entropy) words='--window --radius --footprint --anchor --border --levels --range --mask --no-data --skip-nan --base --type --plane --grey --output --out-dir --compression --tiff --out-type --verify --explain --preview --in-format --out-format --device --isa --threads --memory --device-memory --json --quiet --no-progress --help' ;;
    map) words='--set --repeat --no-data --plane --grey --out-type --compute --fast --verify --explain --output --out-dir --compression --tiff --in-format --out-format --device --isa --threads --memory --device-memory --json --quiet --no-progress --help' ;;
    convert) words='--graph --matrix --output --out-format --labels --type --raw-type --in-format --directed --undirected --unweighted --from --to --weight --ids --header --no-header --no-edge --threads --memory --json --quiet --no-progress --help' ;;
    compare) words='--tolerance --numbers --type --in-format --threads --memory --json --quiet --no-progress --help' ;;
    generate) words='--vertices --degree --density --rows --cols --levels --directed --undirected --weights --weight-type --seed --output --out-format --threads --memory --json --quiet --no-progress --help' ;;
    devices) words='--no-measure --threads --device --isa --json --quiet --help' ;;
    selftest) words='--verbose --seed --device --threads --memory --device-memory --json --quiet --no-progress --help' ;;
    bench) words='--n --types --threads --undirected --repeat --memory --device-memory --device --isa --json --quiet --no-progress --help' ;;
    esac
    case $word in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _tilewright tilewright
