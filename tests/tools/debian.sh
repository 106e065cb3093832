#!/usr/bin/env bash
# debian.sh SOURCE VERSION LIBRARY: debian/ says of the project what the project says of itself. The
# packages are built by `make deb`; here is what can go stale, for nothing but a look.
set -euo pipefail

source=$1
version=$2
library=$3
cd "$source"

fail() {
    echo "debian.sh: $*" >&2
    exit 1
}

said=$(sed -n '1s/^tilewright (\(.*\)-[^-]*) .*/\1/p' debian/changelog)
[ "$said" = "$version" ] || fail "debian/changelog has version $said, CMakeLists.txt $version"

soname=$(readelf -dW "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
package=libtilewright${soname#libtilewright.so.}
grep -qx "Package: $package" debian/control || fail "debian/control has no $package for $soname"
symbols=debian/$package.symbols
[ -e "$symbols" ] || fail "no $symbols"
[ "$(head -n 1 "$symbols")" = "$soname $package #MINVER#" ] || fail "$symbols begins with another library"
[ "$(sed -n 2p "$symbols")" = "* Build-Depends-Package: libtilewright-dev" ] || fail "$symbols does not name the package to build with"
! sed 1,2d "$symbols" | grep -vE "^ (tw_[a-z0-9_]+@Base|\(symver\)TILEWRIGHT_PRIVATE_$version) [0-9.]+\$" || fail "$symbols has lines that are no symbols"
diff <(sed -n 's/^ \(.*\)@Base .*/\1/p' "$symbols") \
    <(nm -D --defined-only --format=posix "$library" | sed 's/ .*//' | grep -v '@@TILEWRIGHT_PRIVATE_\|^TILEWRIGHT_PRIVATE_' |
        LC_ALL=C sort) ||
    fail "$symbols (<) is not what the library gives out (>): tools/renew-abi renews it"

least=$(sed -n 's/^cmake_minimum_required(VERSION \(.*\))/\1/p' CMakeLists.txt)
grep -q "^ cmake (>= $least)," debian/control || fail "debian/control needs another CMake than $least"

# What is installed is in one package and in one only.
for script in docs/*.bash docs/*.zsh docs/*.fish docs/*.1; do
    name=$(basename "$script")
    case $name in
    *.bash) file=bash-completion/completions/${name%.bash} ;;
    *.zsh) file=zsh/vendor-completions/_${name%.zsh} ;;
    *.fish) file=fish/vendor_completions.d/$name ;;
    *) file=man/man1/$name ;;
    esac
    wanted=1
    if [ "${name%.*}" = tilewright-mpi ] && grep -q TW_MPI=OFF debian/rules; then
        wanted=0
    fi
    [ "$(cat debian/*.install | grep -cx "usr/share/$file")" -eq $wanted ] ||
        fail "usr/share/$file is to be in as many packages as $wanted"
done
