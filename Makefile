# Names for what the CMake presets and the scripts in tools/ do. `make help` lists them.
#
# PRESET chooses the build of demo, build, test and install: release (the default) or dev, which
# is the same with warnings as errors; CMakePresets.json has the others.
PRESET ?= release
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 20
HERE := $(shell uname -m)
FOREIGN := $(if $(filter aarch64 arm64,$(HERE)),x86_64,aarch64)

# $(call configure,PRESET[,OPTION...]): quietly, by COMPILER where it is given.
configure = cmake --preset $(1) $(if $(COMPILER),-DCMAKE_C_COMPILER=$(COMPILER)) $(2) >build/$(1).log 2>&1 || \
                { cat build/$(1).log; echo "('make setup' installs what this needs)"; exit 1; }

# $(call compile,PRESET[,TARGET]): configure, then build all or one target.
compile = $(call configure,$(1)); cmake --build --preset $(1) -j $(JOBS) $(if $(2),--target $(2))

# The tests that match ONLY and not WITHOUT, where they are given.
chosen = $(if $(WITHOUT),-E "$(WITHOUT)") $(if $(ONLY),-R "$(ONLY)")

# $(call build-tests,PRESET): of a configured one, all, or what the chosen tests need.
build-tests = $(if $(ONLY)$(WITHOUT),tools/build-tests $(1) $(JOBS) $(chosen),cmake --build --preset $(1) -j $(JOBS))

# $(call tested,PRESET): run its chosen tests.
tested = tools/run-tests $(1) $(chosen)

# $(call given,NAME[,PREFIX]): as TW_NAME, or PREFIX_NAME, what the caller says, else the default: not what
# the cache keeps of another call.
given = $(if $($(1)),-D$(or $(2),TW)_$(1)=$($(1)),-U$(or $(2),TW)_$(1))

.DEFAULT_GOAL := build
.PHONY: help setup demo build test lint clang no-openmp mpi cuda hip asan tsan fuzz coverage cross consumer bench \
        bench-setup python-setup mpich mpi-asan strangers bench-python \
        wheel deb install uninstall clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | \
	    while IFS='|' read -r name what; do printf '  make %-12s %s\n' "$$name" "$$what"; done

setup: ## install what building and testing need, with apt (demo and test do it by themselves)
	@tools/setup build test

demo: | build/ ## generate a graph, solve it, verify it, and show the answer; on an NVIDIA card too
	@tools/setup build
	@$(call compile,$(PRESET),tilewright)
	@tools/demo build/$(PRESET)
	@tools/demo-gpu

build: | build/ ## all that is installed and, where cmocka is found, the tests, in build/release or the PRESET given; installs nothing
	@$(call compile,$(PRESET))

test: | build/ ## build and run every test
	@tools/setup build test
	@$(call compile,$(PRESET))
	@$(call tested,$(PRESET))

lint: | build/ ## formatting, clang-tidy, shellcheck, who may include whom (CHECKS=quick: no analyzer)
	@tools/setup build test lint clang
	@cmake --preset clang -B build/lint >build/lint.log 2>&1 || { cat build/lint.log; exit 1; }
	@tools/lint build/lint $(CHECKS)

# (Types and functions in the library are for the test abi, which is for gcc.)
clang no-openmp: | build/ ## the same tests built by clang, or without OpenMP
	@tools/setup build test clang
	@$(call configure,$@,$(if $(filter clang,$(COMPILER)),-DTW_DEBUG_INFO=OFF))
	@$(call build-tests,$@)
	@$(call tested,$@)

mpi: | build/ ## the closure over MPI, tested on 1 to 9 ranks (installs Open MPI if there is none)
	@tools/setup build test mpi
	@$(call compile,$(PRESET))
	@tools/run-tests $(PRESET) -R '$(or $(ONLY),^mpi_)'

cuda: | build/ ## the same with CUDA (CUDA_ARCHITECTURES=90: for one kind of card; faster to build)
	@tools/setup build test
	@$(call configure,cuda,$(call given,CUDA_ARCHITECTURES,CMAKE))
	@$(call build-tests,cuda)
	@$(call tested,cuda)

hip: | build/ ## the same with HIP (HIP_OPTIMISATION=-O1, HIP_ARCHITECTURES=gfx90a, TARGETS=...: faster to build)
	@tools/setup build test hip
	@cmake --preset hip $(call given,HIP_OPTIMISATION) $(call given,HIP_ARCHITECTURES) \
	    >build/hip.log 2>&1 || { cat build/hip.log; exit 1; }
	@cmake --build --preset hip -j $(JOBS) $(if $(TARGETS),--target $(TARGETS))
	@$(call tested,hip)

asan: | build/ ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer (SANITIZE_WITHOUT=null,...: without some checks)
	@tools/setup build test
	@$(call configure,asan,$(call given,SANITIZE_WITHOUT))
	@$(call build-tests,asan)
	@$(call tested,asan)

tsan: | build/ ## the threaded tests under ThreadSanitizer
	@tools/setup build test clang
	@$(call configure,tsan)
	@$(call build-tests,tsan)
	@$(call tested,tsan)

fuzz: | build/ ## each reader's fuzz target for FUZZ_SECONDS
	@tools/setup build test clang
	@$(call compile,fuzz,fuzz_targets)
	@tools/fuzz build/fuzz $(FUZZ_SECONDS)

coverage: | build/ ## the share of the library's lines that the tests run
	@tools/setup build test
	@$(call compile,coverage)
	@tools/coverage build/coverage

cross: | build/ ## the tests for the other architecture, under qemu (SIZES=all: the large ones too)
	@tools/setup build test cross
	@$(call compile,cross-$(FOREIGN))
	@$(call tested,cross-$(FOREIGN)$(if $(filter all,$(SIZES)),-all))

consumer: | build/ ## install to a scratch folder and build against it, as a user would
	@tools/setup build test
	@$(call compile,$(PRESET))
	@tools/consumer build/$(PRESET)

bench: build ## side by side with the peers found here (SciPy, igraph, NetworkX, Boost, scikit-image)
	@tools/setup bench
	@bench/peers.py --build build/$(PRESET)

bench-setup: | build/ ## a virtual environment with the Python peers, in build/bench
	@tools/setup bench
	python3 -m venv build/bench
	build/bench/bin/pip install --quiet numpy scipy networkx igraph scikit-image numexpr

python-setup: | build/ ## a virtual environment with what the tests of the Python package need
	@tools/setup python
	@[ -x build/python/bin/python ] || python3 -m venv build/python
	build/python/bin/pip install --quiet numpy scipy networkx numexpr scikit-image hypothesis pytest mypy rasterio pillow mpi4py

mpich: | build/ ## the tests over ranks with MPICH, beside whatever MPI the other builds have
	@tests/mpi/mpich

mpi-asan: | build/ ## the tests over ranks under AddressSanitizer and UndefinedBehaviorSanitizer
	@tests/mpi/sanitized

strangers: build ## NetworkX's whole suite through our backend (a part of it is in every make test)
	@tests/python/run networkx-all build/$(PRESET)/tests/python/libtw_counting.so build/strangers

bench-python: build ## the Python package beside SciPy, NetworkX, numexpr and scikit-image
	@build/python/bin/python bench/python.py --build build/$(PRESET)

wheel: | build/ ## the Python package for any Linux of this architecture, in build/wheel
	@tools/setup build python
	@tools/wheel

deb: ## Debian packages, in build/deb, and what lintian says of them (CHROOT=1: built in a clean Debian)
	@tools/setup deb $(if $(CHROOT),chroot)
	@CHROOT=$(CHROOT) tools/deb

install: build ## into PREFIX (DESTDIR is honoured)
	cmake --install build/$(PRESET) --prefix $(PREFIX)

uninstall: ## what the last install put there (DESTDIR is honoured; a PREFIX must be that of install)
	@TW_PREFIX='$(if $(filter file,$(origin PREFIX)),,$(PREFIX))' cmake --build build/$(PRESET) --target uninstall

clean: ## remove every build
	rm -rf build

build/:
	@mkdir -p build
