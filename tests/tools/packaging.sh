#!/usr/bin/env bash
# packaging.sh SOURCE COMPILER: what packagers and whoever adds this folder to a build ask of CMake, as
# far as configuring shows it: nothing is compiled here but what CMake tries.
set -euo pipefail

source=$1
compiler=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset CFLAGS LDFLAGS MAKEFLAGS MAKELEVEL

fail() {
    echo "packaging.sh: $*" >&2
    exit 1
}

configure() { # configure NAME OPTION...: into $scratch/NAME, its words in $said
    local name=$1
    shift
    said=$(cmake -S "$source" -B "$scratch/$name" -G "Unix Makefiles" -DCMAKE_C_COMPILER="$compiler" \
        -DTW_PNG=OFF -DTW_TIFF=OFF -DTW_METIS=OFF -DTW_GPU=OFF "$@" 2>&1) || fail "$name: $said"
    targets=$(make -C "$scratch/$name" help)
}

has() { # has WHAT...: these targets
    for target in "$@"; do
        grep -qx "\.\.\. $target" <<<"$targets" || fail "no target $target"
    done
}

lacks() {
    for target in "$@"; do
        ! grep -qx "\.\.\. $target" <<<"$targets" || fail "a target $target, which was not asked for"
    done
}

# Without cmocka: everything but the tests, and that is said.
PKG_CONFIG_LIBDIR=$scratch configure plain
has tilewright_shared tilewright_static tilewright tilewright-lab uninstall
lacks test_apsp
grep -q "The tests are not built: they need cmocka" <<<"$said" || fail "nothing is said of tests: $said"

# The flags of whoever builds stay as they are.
configure flags -DTW_TESTS=OFF -DTW_CLI=OFF -DTW_LAB=OFF -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_C_FLAGS_RELEASE="-O1 -DOUR_PACKAGE"
has tilewright_static
lacks tilewright_shared tilewright tilewright-lab
grep -q -- "-O1 -DOUR_PACKAGE" "$scratch/flags/compile_commands.json" || fail "flags were lost"
! grep -q -- "-O3" "$scratch/flags/compile_commands.json" || fail "flags were added: -O3"
# Kernels alone go beyond -O2.
configure kernels -DTW_TESTS=OFF -DTW_CLI=OFF -DTW_LAB=OFF -DCMAKE_C_FLAGS_RELEASE="-O2"
grep -q -- "-O2 .*-O3 .*minplus_kernel.c" "$scratch/kernels/compile_commands.json" || fail "kernels are compiled with -O2"
! grep -q -- "-O3 .*src/graph/build.c" "$scratch/kernels/compile_commands.json" || fail "all is compiled with -O3"
# The same for each of the types that share a build folder.
if command -v ninja >"$scratch/ninja"; then
    cmake -S "$source" -B "$scratch/types" -G "Ninja Multi-Config" -DCMAKE_C_COMPILER="$compiler" -DTW_PNG=OFF -DTW_TIFF=OFF -DTW_METIS=OFF \
        -DTW_GPU=OFF -DTW_TESTS=OFF -DTW_CLI=OFF -DTW_LAB=OFF -DCMAKE_CONFIGURATION_TYPES="Debug;Release;RelWithDebInfo" \
        -DCMAKE_C_FLAGS_RELEASE="-O1" >"$scratch/said" 2>&1 || fail "types: $(cat "$scratch/said")"
    for type in Debug Release RelWithDebInfo; do
        ninja -C "$scratch/types" -f "build-$type.ninja" -t commands "$(ninja -C "$scratch/types" -f "build-$type.ninja" -t targets all |
            sed -n "s/^\(.*minplus_kernel_scalar.dir\/$type\/.*minplus_kernel.c.o\):.*/\1/p")" >"$scratch/kernel-$type"
        grep -q "minplus_kernel.c" "$scratch/kernel-$type" || fail "$type has no kernel"
    done
    grep -q -- "-O2 .*-O3 " "$scratch/kernel-RelWithDebInfo" || fail "kernels are compiled with -O2 in RelWithDebInfo"
    ! grep -q -- "-O3 " "$scratch/kernel-Debug" "$scratch/kernel-Release" || fail "flags were added to a type that has no -O2: -O3"
fi
grep -q "^Libs:.* -lm" "$scratch/flags/tilewright.pc" || fail "who links the static library alone needs -lm"

# Folders that do not lie below the prefix.
configure folders -DTW_TESTS=OFF -DTW_CLI=OFF -DTW_LAB=OFF -DCMAKE_INSTALL_PREFIX=/one \
    -DCMAKE_INSTALL_LIBDIR=lib/here -DCMAKE_INSTALL_INCLUDEDIR=/other/include
grep -qx "libdir=\${prefix}/lib/here" "$scratch/folders/tilewright.pc" || fail "pkg-config looks elsewhere"
grep -qx "includedir=/other/include" "$scratch/folders/tilewright.pc" || fail "pkg-config looks elsewhere"

# As a part of another build, by the names of the installed package; its tests are not its user's.
mkdir "$scratch/user"
cat >"$scratch/user/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.21)
project(user LANGUAGES C)
add_subdirectory($source tilewright)
add_executable(uses_shared $source/examples/1-distances.c)
target_link_libraries(uses_shared PRIVATE tilewright::tilewright)
add_executable(uses_static $source/examples/1-distances.c)
target_link_libraries(uses_static PRIVATE tilewright::static)
END
source=$scratch/user configure part -DTW_CLI=OFF -DTW_LAB=OFF -DBUILD_SHARED_LIBS=ON
has uses_shared uses_static tilewright_shared
lacks test_apsp uninstall

# Canaries and checked copies are those of CFLAGS, if it has some.
flags_of() { cat "$scratch/$1/src/CMakeFiles/tw_objects.dir/flags.make"; }
configure hard -DCMAKE_BUILD_TYPE=Release -DTW_TESTS=OFF
flags_of hard | grep -q -- '-D_FORTIFY_SOURCE=2 -fstack-protector-strong' || fail "a Release build is not hardened"
configure own -DCMAKE_BUILD_TYPE=Release -DTW_TESTS=OFF -DCMAKE_C_FLAGS='-D_FORTIFY_SOURCE=3 -fno-stack-protector'
! flags_of own | grep -qE -- '-U_FORTIFY_SOURCE|_FORTIFY_SOURCE=2|-fstack-protector-strong' || fail "the flags given are overridden"
flags_of own | grep -q -- '-D_FORTIFY_SOURCE=3' || fail "the flags given are lost"

# One minimum version, said everywhere.
least=$(sed -n 's/^cmake_minimum_required(VERSION \(.*\))/\1/p' "$source/CMakeLists.txt")
grep -q "VERSION $least)" "$source/tests/consumer/CMakeLists.txt" || fail "tests/consumer has another minimum"
grep -q "cmake.version = \">=$least\"" "$source/pyproject.toml" || fail "pyproject.toml has another minimum"
grep -q "\"minor\": ${least#*.}," "$source/CMakePresets.json" || fail "CMakePresets.json has another minimum"

# Nothing is installed on the machine but by who asks for it.
said=$(make -C "$source" -n test)
grep -q tools/setup <<<"$said" || fail "make test does not set up: $said"
said=$(make -C "$source" -n build install uninstall)
! grep -qE "tools/setup|apt|sudo" <<<"$said" || fail "make install sets up: $said"

# What is removed is what was installed, and nothing else.
mkdir -p "$scratch/prefix/share/tilewright" "$scratch/prefix/lib"
touch "$scratch/prefix/share/tilewright/ours" "$scratch/prefix/lib/ours" "$scratch/prefix/lib/theirs"
ln -s ours "$scratch/prefix/lib/link"
printf '/share/tilewright/ours\n/lib/ours\n/lib/link\n/lib/gone' >"$scratch/manifest"
! said=$(TW_PREFIX=/share DESTDIR=$scratch/prefix cmake -DMANIFEST="$scratch/manifest" -P "$source/cmake/uninstall.cmake" 2>&1) ||
    fail "another prefix than that of the installation is taken"
grep -q "was not into /share: it has /lib/ours" <<<"$said" || fail "the prefix is not named: $said"
[ -e "$scratch/prefix/share/tilewright/ours" ] || fail "files were removed before the prefix was looked at"
grep -q "TW_PREFIX='/a b'" <<<"$(make -C "$source" -n uninstall PREFIX='/a b')" || fail "make uninstall ignores PREFIX"
grep -q "TW_PREFIX=''" <<<"$(make -C "$source" -n uninstall)" || fail "make uninstall without PREFIX names one"
DESTDIR=$scratch/prefix cmake -DMANIFEST="$scratch/manifest" -P "$source/cmake/uninstall.cmake" >/dev/null 2>&1
[ "$(find "$scratch/prefix" -mindepth 1 | sort | tr '\n' ' ')" = "$scratch/prefix/lib $scratch/prefix/lib/theirs $scratch/prefix/share " ] ||
    fail "uninstall left or took: $(find "$scratch/prefix")"
