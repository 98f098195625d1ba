# Every target works on a fresh clone with Python 3.11 (with venv), make and a C compiler; make installs other requirements
# into .venv. Repeated runs are quick: stamp files in build/ record which requirements are installed, and ninja which
# sources are compiled. Every target runs this source tree; `package` alone installs a copy, in an environment of its own.

PYTHON ?= python3
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
# meson, ninja and the tools of the venv have priority.
RUN := PATH="$(BIN):$$PATH"

# The tests start hundreds of Python processes; without stored bytecode each compiles the package again, a fifth of their time.
unexport PYTHONDONTWRITEBYTECODE

BUILD := build
# The extension without link-time optimisation, which compiles in half the time: for everything but measurements of speed.
QUICK := $(BUILD)/quick
RELEASE := $(BUILD)/release

.PHONY: demo lock quick develop test test-built test-c test-python check format asan asan-python package pgo proof shown bench fuzz monitors clean
.DEFAULT_GOAL := help

.PHONY: help
help:
	@echo "make demo     build, and compare six protocols on real algorithms: a table, three figures (40 s the first time, then 15 s); LOCK=1: with the packages of tools/lock.txt"
	@echo "make quick    build the core alone after a change of C (a few seconds; half a minute the first time)"
	@echo "make test     C tests and Python tests (420 processor seconds, three to four minutes)"
	@echo "make check    style, types, warnings as errors with every installed compiler, source rules, determinism"
	@echo "make asan     C tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make asan-python  tests of the binding and of the random tester with the extension under the same sanitizers"
	@echo "make package  the sdist, the wheel built from it, and the wheel in an environment of its own"
	@echo "make litmus   every built-in litmus test under every protocol, and the weak outcomes that must be observed"
	@echo "make proof    explore every protocol on small machines, repeat every catch of a planted bug or fault of time, litmus, fuzz briefly"
	@echo "make proof-full  explorations that take longer: complete at 2 cores, 1 line and 2 operations, then $(FULL_STATES) states; every f32"
	@echo "make pages    tables of protocols, what protocols may call, planted bugs, literal readings, states: build/pages (FOLDER=...)"
	@echo "make products  the combinations of protocols with workloads, options and seeds, and the rows of tables, that make test leaves out"
	@echo "make shown    every run of the five scorecards at scale tiny, a fortieth at small (SEED=... draws it)"
	@echo "make bench    speed of the simulator; host instructions against the stored baseline"
	@echo "make fidelity  measure the tables of docs/fidelity/PAPER.md (PAPER=tc|rcc|denovo|stc|qr SCALE=small|paper); an interrupted run continues"
	@echo "make study    the part of the study that CI repeats, compared with its stored tables (a minute); study-repeat a hundredth of the whole, study-run the whole, study-page its page"
	@echo "make dies     the comparison of protocols of dies, and its page (docs/dies.md)"
	@echo "make notebooks  execute every notebook with small inputs and store what it shows"
	@echo "make site     the documentation as a site in build/site/html, with its links checked, and pages opened in Chromium if there is one"
	@echo "make check-notebooks  execute them, and compare the texts with the stored ones"
	@echo "make monitors every workload under every protocol with --check, then ten minutes of random synthetic runs"
	@echo "make fuzz     random tester for an hour (SECONDS=..., SEED=...); failures go to build/fuzz-failures.jsonl"
	@echo "make rule-mutants  rules of the protocols' tables broken one at a time: what finds each (SEED=, N=, HOURS=, PROTOCOL=)"
	@echo "make time-mutants  operators and constants of the core replaced one at a time: what finds each (SEED=, N=, HOURS=)"
	@echo "make determinism  lock programs 200 times in other surroundings (RUNS=): hash seeds, environments, addresses, malloc, processors, load"
	@echo "make pgo      a wheel whose core is compiled by GCC's profile of the suite's workloads"
	@echo "make lock     write tools/lock.txt, the packages with which make demo LOCK=1 works, from .venv"
	@echo "make develop  make quick, with all packages that gpucoh imports; .venv/bin/gpucoh then runs this tree"
	@echo "make lines    how many lines the sources have: C, Python, tables and models that git tracks"
	@echo "make format   format C and Python sources, wrap comments and pages"
	@echo "make clean    remove build/, figures/, .venv and the extension beside its sources"

# ---- the venv, with the requirements of pyproject.toml --------------------------------------------------------------------

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gpucoh needs Python 3.11 or newer, $(PYTHON) is older: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

# The requirements of a part of gpucoh; tools/requirements.py prints them from pyproject.toml, which is their only list. Python
# compiles the modules that it imports at their first import, which are few.
$(BUILD)/.%: pyproject.toml tools/requirements.py | $(VENV)/bin/python
	@mkdir -p $(BUILD)
	$(BIN)/python tools/requirements.py $* > $(BUILD)/$*.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile $(if $(LOCK),--constraint tools/lock.txt) -r $(BUILD)/$*.txt
	@touch $@
$(BUILD)/.compare: $(BUILD)/.build
$(BUILD)/.run: $(BUILD)/.compare
$(BUILD)/.test: $(BUILD)/.run
$(BUILD)/.dev: $(BUILD)/.test
$(BUILD)/.notebooks: $(BUILD)/.run
$(BUILD)/.site: $(BUILD)/.run

# The extension beside its sources, and .venv/bin/gpucoh, which runs this tree. ninja takes all processors. In CI warnings
# are errors here, so that `make check` needs no build of its own with this compiler.
quick: $(BUILD)/.build
	$(RUN) MAKEFLAGS= sh tools/build.sh $(QUICK) core -Dlto=false $(if $(CI),-Dwerror=true)
	$(BIN)/python tools/develop.py $(QUICK)

develop: quick $(BUILD)/.run

# ---- targets for users --------------------------------------------------------------------------------------------------

demo:
	@sh tools/demo.sh "$(MAKE)"

# After the tests have passed with what .venv has.
lock: $(BUILD)/.run
	$(BIN)/python tools/lock.py > $(BUILD)/lock.txt && mv $(BUILD)/lock.txt tools/lock.txt

test: test-c test-python

# The C tests, and the extension with planted bugs.
test-built: develop
	$(RUN) sh tools/build.sh $(QUICK) 'planted meson-test-prereq'

test-c: test-built
	$(RUN) meson test -C $(QUICK) --no-rebuild --print-errorlogs --no-suite determinism

test-python: test-built $(BUILD)/.test
	$(BIN)/pytest -q -n 2 --dist loadfile

# One build for both. Always gcc: clang's library has another name and is linked statically by default.
SANITIZED = CC=gcc sh tools/build.sh $(BUILD)/asan
SANITIZERS := -Dcostly_asserts=true -Ddie_windows=true -Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debugoptimized \
    -Dwerror=true
asan: $(BUILD)/.run
	$(RUN) $(SANITIZED) meson-test-prereq $(SANITIZERS)
	$(RUN) UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1 \
	    meson test -C $(BUILD)/asan --no-rebuild --print-errorlogs --no-suite determinism --timeout-multiplier 5

# The package beside an extension with sanitizers, whose library is loaded before CPython; no leak check, since CPython leaks.
# Every protocol, not only the share of make test.
asan-python: $(BUILD)/.test
	$(RUN) $(SANITIZED) core $(SANITIZERS)
	sh tools/package_copy.sh $(BUILD)/asan
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so)" ASAN_OPTIONS=detect_leaks=0 \
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONPATH=$(CURDIR)/$(BUILD)/asan/package \
	    PRODUCTS=all $(BIN)/pytest -q -p no:cacheprovider --timeout 600 tests/core_api tests/unit/test_gpu.py tests/fuzz \
	    tests/verification/test_explored.py -m "not long" -k "not planted and (not test_explored or setting0)"

# pip builds the wheel from the sdist in isolation, as for a user. meson packs what is committed.
package: $(BUILD)/.run
	rm -rf $(BUILD)/dist $(BUILD)/clean && mkdir $(BUILD)/dist
	$(RUN) $(BIN)/python -c 'import mesonpy; mesonpy.build_sdist("$(BUILD)/dist")'
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir $(BUILD)/dist $(BUILD)/dist/*.tar.gz
	$(PYTHON) -m venv $(BUILD)/clean
	$(BUILD)/clean/bin/python -m pip install --quiet --disable-pip-version-check "$$(echo $(BUILD)/dist/*.whl)[scipy]"
	cd $(BUILD)/clean && bin/python $(CURDIR)/tools/installed.py

# build/pgo/dist has the wheel; a profile-guided build is for releases, since it takes twice as long.
pgo: $(BUILD)/.run
	$(RUN) sh tools/pgo.sh $(BUILD)/pgo

check: develop $(BUILD)/.dev
	$(RUN) BUILD=$(BUILD) sh tools/check.sh

format: $(BUILD)/.dev
	$(BIN)/python tools/wrap_comments.py
	find csrc -name '*.[ch]' | xargs $(BIN)/clang-format -i
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/python tools/wrap.py

# The part of the proofs that CI runs, in under 15 minutes on two processors: two parts at a time, the longest first. A new
# checker adds its part here.
PROOF_STATES ?= 1000000
PROOFS = proof-verify proof-long proof-products proof-sc proof-litmus proof-variants proof-planted proof-time-faults proof-cells proof-fuzz
.PHONY: proof $(PROOFS)
proof: test-built $(BUILD)/.test
	$(MAKE) --no-print-directory -k -j2 --output-sync=target $(PROOFS)
proof-verify:
	$(BIN)/gpucoh verify -p all --states $(PROOF_STATES)
proof-sc:
	$(BIN)/gpucoh verify -p all -c sc --states $(PROOF_STATES)
proof-variants:
	$(BIN)/gpucoh verify -p 'tc-weak[lifetime=0]'
	$(BIN)/gpucoh verify -p 'mesi-wt[exclusive=on]' --states $(PROOF_STATES)
	$(BIN)/gpucoh verify -p rcc-sc all
proof-planted:
	$(BIN)/python tools/planted_bugs.py --check
proof-time-faults:
	$(BIN)/python tools/time_faults.py
proof-cells:
	$(BIN)/python tools/cells.py
proof-long:
	$(BIN)/pytest -q -n 2 --dist loadfile -m long
# One in ten of the combinations and rows that make test leaves out, drawn by the commit's hash.
proof-products:
	PRODUCTS=10:$(or $(SEED),$(shell git rev-parse HEAD)) $(BIN)/pytest -q -n 1 -m product
proof-litmus:
	$(BIN)/gpucoh litmus -p all --runs $(LITMUS_RUNS)
	$(BIN)/gpucoh litmus -p 'mesi[consistency=sc],tc-strong[consistency=sc],mesi-wt[exclusive=on]' --runs $(LITMUS_RUNS)
	$(BIN)/python tools/weak_outcomes.py
proof-fuzz:
	$(BIN)/gpucoh fuzz -p all --ops 60000

# The rest: complete at two cores, one line and two operations; then the default bounds with more states (under 8 GB); and
# PTX's approximations of all 2^32 operands.
FULL_STATES ?= 4000000
.PHONY: proof-full
proof-full: test-built
	$(QUICK)/test_math everywhere
	$(BIN)/gpucoh verify -p all --cores 2 --lines 1 --ops 2 --states 20000000
	$(BIN)/gpucoh verify -p all -c sc --cores 2 --lines 1 --ops 2 --states 20000000
	$(BIN)/gpucoh verify -p all --states $(FULL_STATES)
	$(BIN)/gpucoh verify -p all -c sc --states $(FULL_STATES)

# Every combination of protocols with workloads, options and seeds, and every row of a table, that make test leaves out (tests/products.py).
.PHONY: products
products: develop $(BUILD)/.test
	$(RUN) sh tools/build.sh $(QUICK) planted
	PRODUCTS=all $(BIN)/pytest -q -n 2 -m product

# With link-time optimisation, like every stored figure of speed; debug information, which changes no instruction, names
# the files of what is inlined.
bench: $(BUILD)/.run
	$(RUN) sh tools/build.sh $(RELEASE) core -Ddebug=true
	sh tools/package_copy.sh $(RELEASE)
	PYTHONPATH=$(CURDIR)/$(RELEASE)/package $(BIN)/python benchmarks/throughput.py --cores 16,64,256 --scale small
	PYTHONPATH=$(CURDIR)/$(RELEASE)/package $(BIN)/python benchmarks/instructions.py

# Every built-in litmus test under every protocol, and the weak outcomes that protocols should show. Part of proof.
LITMUS_RUNS ?= 200
.PHONY: litmus
litmus: develop
	$(MAKE) --no-print-directory proof-litmus

# Lock programs as whole processes, in other surroundings each time: one count. Outside CI, but for 6 of them in proof.
RUNS ?= 200
.PHONY: determinism
determinism: develop
	$(BIN)/python tools/surroundings.py --runs $(RUNS)

MINUTES ?= 10

monitors: develop
	$(BIN)/python tools/shown.py --scale small
	$(BIN)/python tools/monitors.py --minutes $(MINUTES)

# What the pages show. SEED draws the part at scale small; by default the commit's hash does.
shown: develop
	$(BIN)/python tools/shown.py --scale tiny
	$(BIN)/python tools/shown.py --scale small --one-in 40 $(if $(SEED),--draw $(SEED))

# Every protocol under every rule; each failure is written to disk before the next run.
SECONDS ?= 3600
fuzz: SEED := $(or $(SEED),$(shell date +%s))
fuzz: develop
	@echo "seed $(SEED)"
	$(BIN)/gpucoh fuzz -p all --seconds $(SECONDS) --seed $(SEED) --save $(BUILD)/fuzz-failures.jsonl

# Rules of the tables broken one at a time, N drawn by SEED from all protocols or PROTOCOL, for at most HOURS of processor
# time; outside CI. An interrupted run continues: results are in build/rule-mutants/.
.PHONY: rule-mutants
rule-mutants: test-built $(BUILD)/.test
	$(BIN)/python tools/rule_mutants.py --seed $(or $(SEED),1) --number $(or $(N),132) --hours $(or $(HOURS),8) $(if $(PROTOCOL),--protocol $(PROTOCOL))

# The same for comparisons and constants that decide time: results are in build/time-mutants/.
.PHONY: time-mutants
time-mutants: test-built $(BUILD)/.test
	$(BIN)/python tools/time_mutants.py --seed $(or $(SEED),1) --number $(or $(N),150) --hours $(or $(HOURS),10)

# Pages that follow from the tree: half of the time is the states of every protocol and rule.
FOLDER ?= $(BUILD)/pages
.PHONY: pages
pages: develop
	$(RUN) sh tools/build.sh $(QUICK) planted
	$(BIN)/python tools/pages.py $(FOLDER)
	$(BIN)/python tools/verification_pages.py $(FOLDER)

# The documentation as a site, in build/site/html: sources, links and widths are checked; state diagrams need Graphviz (dot).
.PHONY: site
site: develop $(BUILD)/.site
	$(RUN) $(BIN)/python tools/site/build.py $(BUILD)/site
	$(BIN)/python tools/site/check.py $(BUILD)/site

clean:
	rm -rf $(BUILD) $(VENV) figures gpucoh/_core*.so
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +

# The part of the study that CI repeats; its tables are compared with studies/check/. The whole study is STUDY_STORE's: after
# an interruption study-run continues; study-page writes docs/study.md from it.
STUDY_STORE ?= build/ideas.parquet
.PHONY: study study-repeat study-run study-page
study: develop $(BUILD)/.run
	$(BIN)/python tools/study_check.py

# A hundredth of the study's and of the dies' stored runs, drawn by the commit's hash or by SEED.
study-repeat: develop $(BUILD)/.run
	$(BIN)/python tools/study_repeat.py ideas $(if $(SEED),--draw $(SEED))
	$(BIN)/python tools/study_repeat.py dies $(if $(SEED),--draw $(SEED))

study-run: develop $(BUILD)/.run
	$(BIN)/gpucoh study studies/ideas.toml --store $(STUDY_STORE) --jobs $(or $(JOBS),2)

study-page: develop $(BUILD)/.run
	$(BIN)/python tools/study_page.py $(STUDY_STORE)

# The comparison of protocols of dies: runs what DIES_STORE lacks, and writes docs/dies.md.
DIES_STORE ?= build/dies.parquet
.PHONY: dies
dies: develop $(BUILD)/.run
	$(BIN)/gpucoh study studies/dies.toml --store $(DIES_STORE) --jobs $(or $(JOBS),2)
	$(BIN)/python tools/dies_page.py $(DIES_STORE)

# Every notebook of notebooks/ with inputs of the scale tiny; the outputs are stored in it, or compared.
.PHONY: notebooks check-notebooks
notebooks: develop $(BUILD)/.notebooks
	$(RUN) $(BIN)/python tools/notebooks.py

check-notebooks: develop $(BUILD)/.notebooks
	$(RUN) $(BIN)/python tools/notebooks.py --check

# The size of the tree, for a change that claims to make it smaller.
.PHONY: lines
lines:
	@git ls-files '*.c' '*.h' '*.py' '*.def' '*.model' | xargs cat | wc -l | sed 's/^ */lines of .c, .h, .py, .def and .model: /'

# ---- the measured tables of docs/fidelity/ ------------------------------------------------------------------------------

# Runs are kept in build/fidelity-PAPER-SCALE.parquet as they finish: after an interruption the target continues. The extension is that with
# planted bugs: a claim of QuickRelease is about a rule that the paper refuses, which is one of them.
PAPER ?= tc
SCALE ?= small
JOBS ?= 2
.PHONY: fidelity
fidelity: develop
	$(RUN) sh tools/build.sh $(QUICK) planted
	$(RUN) PYTHONPATH=$(CURDIR) $(BIN)/python tools/mutants.py tools/fidelity.py --paper $(PAPER) --scale $(SCALE) --jobs $(JOBS)
