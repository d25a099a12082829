"""What is known of programs that only read, and of options that make others write or run.

Invariant: a program is a reader only if none of its options writes a file or runs a program, on
Linux and on macOS. In doubt it is left out, and the general caution for unknown programs holds.
"""

from __future__ import annotations

from .options import parse
from .tables import entries, names

READERS = names(
    "b2sum basename bc bzcat cal cat cksum clear cmp column comm cut df diff dig dirname du echo"
    " egrep exa expand expr eza factor false fgrep fmt fold free getconf getent ggrep grep groups"
    " hd head hexdump host id join jq last locale look ls lsblk lscpu lsd lspci lsusb md5"
    " md5sum nl nproc numfmt od paste pgrep pidof ping ping6 pr printenv ps pwd readlink realpath"
    " rev seq sha1sum sha224sum sha256sum sha384sum sha512sum shasum shellcheck sleep stat sum"
    " sw_vers tac tail tr true tsort tty type uname unexpand uptime vm_stat w wc whereis which who"
    " whoami xzcat yamllint yes zcat"
)

# Options | letters that take a value; after `=` what looks risky and is not.
_RISKY = """
sort: -o -T --output --compress-program --temporary-directory | kSt
shuf: -o --output | in
iconv: -o --output | ft
base64: -o --output | wb
base32: -o --output | w
tree: -o -R --output
file: -C --compile | mfFPe
nm objdump size strings readelf addr2line: --plugin @*
rg: -z --pre --hostname-bin --search-zip = --files --files-with-matches --files-without-match
  --file --regexp --replace | ABCEMTdefgjmrt
fd fdfind: -x -X --exec --exec-batch | eEtdS
ag ack: --pager --ackrc
bat batcat: --pager --generate-config-file
less more most: -o -O -k -K -p -P -t -T -D --log-file --lesskey-file --lesskey-src
  --lesskey-content --pattern --prompt --tag --tag-file +* = --no-init --quit-if-one-screen
man: -P -H -C -l -X -T -Z -r --prompt --pager --html --gxditview --config-file --local-file |
  sSeMmLEpR
info: -o --output --dribble --restore
diff3 sdiff: -o --output --diff-program
ss: -K -D --kill --diag
lsof: -D
tcpdump: -w -z -Z -W -C -G | ciFrs
journalctl: -D --vacuum-size --vacuum-time --vacuum-files --rotate --flush --cursor-file --root
yq: -i -s --inplace --split-exp --security-* --from-file
pandoc: -o -F -L -d -H -A -B --output --filter --lua-filter --defaults --pdf-engine --extract-media
  --log
cloc: --config --out --report-file --extract-with --force-lang-def --read-lang-def
  --write-lang-def --sum-reports --vcs --counted --ignored --found --categorized --sql --unpack
fzf: --preview --bind --listen --history --execute --become
zip: -T -TT -O --unzip-command --out --test
shfmt: -w --write
rustfmt: --config --config-path --backup --print-config
ctags etags: -f -o -L --options --extra-options
bison yacc flex: -o -d -H -g -x -t --output --file-prefix --name-prefix --defines --header --graph
pytest py.test: -p -c -o -d --rootdir --config-file --override-ini --confcutdir --basetemp --pyargs
  --pdbcls --import-mode --tx --px --rsyncdir --rsync --testrunuid --junitxml --junit-xml
  --log-file --report-log --html --cov-config --benchmark-json --benchmark-save --benchmark-storage
  --alluredir --md --durations-path --store-durations --profile-svg --pstats-dir
  --cov-report --debug --pastebin --trace --pdb --resultlog --json-report-file --plugins --ds
  --dc = --co --cov --cov-branch --cov-report=term --cov-report=term-missing --collect-only
  --log-cli-level --runslow --run-slow --log-level --run --capture --no-cov --import-mode=importlib
  --strict-config --fixtures --setup-show --setup-only --setup-plan --failed-first --ff --lf --nf
  --sw --pdb-cls --show-capture --durations --durations-min | kmnrW
ruff: -o --config --fix --fix-only --unsafe-fixes --add-noqa --output-file --cache-dir
black: --config --code --required-version
isort: --settings-path --settings-file --sp --config-root
flake8 pycodestyle pydocstyle: --config --append-config --output-file --tee --enable-extensions
  --require-plugins
pylint: --load-plugins --init-hook --rcfile --output --import-graph --ext-import-graph
  --int-import-graph --generate-toml-config --pylint-home -f --output-format =
  --output-format=text --output-format=json --output-format=colorized --output-format=parseable
  --output-format=json2
mypy dmypy: --python-executable --config-file --install-types --cache-dir --junit-xml
  --any-exprs-report --cobertura-xml-report --html-report --linecount-report
  --linecoverage-report --lineprecision-report --txt-report --xml-report --xslt-html-report
  --xslt-txt-report --shadow-file --custom-typeshed-dir --custom-typing-module --timing-stats
  --line-checking-stats | mpc
pyright basedpyright: -p --project --pythonpath --createstub --venvpath --typeshedpath
  --writebaseline
eslint: -c -o -f --config --rulesdir --plugin --parser --resolve-plugins-relative-to --format
  --output-file --fix --init --cache-location --cache-file --inspect-config --mcp --suppress-all
  --suppress-rule --prune-suppressions --suppressions-location --flag = --cache
prettier: -w --write --plugin --plugin-search-dir --config --cache-location --parser =
  --config-precedence --no-config --ignore-path --stdin-filepath --cache --log-level
stylelint: -o --fix --custom-syntax --custom-formatter --formatter --config --config-basedir
  --output-file --plugins
jest: -c --config --rootDir --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv
  --testRunner --runner --reporters --resolver --transform --testEnvironment --env
  --coverageDirectory --outputFile --cacheDirectory --watchPlugins --testSequencer
  --snapshotResolver --preset --projects --roots --filter --testResultsProcessor --prettierPath
  --dependencyExtractor --haste --globals --init --modulePaths --coverageProvider =
  --runTestsByPath --run --coverage --test --watch --runInBand --forceExit --testPathPattern
  --testPathPatterns --testNamePattern --collectCoverageFrom --findRelatedTests --logHeapUsage
vitest: -c -r --config --root --globalSetup --reporter --outputFile --environment --coverage.*
  --api --browser --pool --execArgv --runner --sequence.* --poolOptions.* --diff
  --attachmentsDir --mergeReports --ui = --run --coverage --reporter=verbose --reporter=dot
  --reporter=json --reporter=default
mocha: -r -R -u -n -O --require --import --reporter --ui --config --package --file --loader
  --node-option --opts --experimental-loader
npm pnpm yarn: -C -c -g --prefix --dir --cwd --script-shell --shell --node-options --userconfig
  --globalconfig --registry --init-module --global --editor --viewer --browser --git --cache
  --call --location --modules-folder --use-yarnrc --node-arg --globalDir --store-dir
  --onload-script --package --logs-dir --config --script* = --no-fund --color
cargo: -Z -C --config --manifest-path --target-dir --out-dir --artifact-dir --fix --root --path
  --git --index --registry --lockfile-path --force +* = --target --lib --no-run --run-ignored
  --test-threads --message-format --exclude
pip pip3: -t -i -f --target --prefix --root --index-url --extra-index-url --trusted-host
  --find-links --log --report --global-option --config-settings --python --proxy --cert --src
  --cache-dir --break-system-packages --install-option --build-option
  --local-log --keyring-provider = --pre --no-deps --requirement --constraint --editable
  --require-hashes --force-reinstall --dry-run | rce
uv poetry pdm pipenv: -C -P -p --directory --project --config-file --config-settings --index-url
  --extra-index-url --default-index --target --prefix --env-file --python --with --with-editable
  --with-requirements --find-links --output-file --cache-dir -o = --all-extras --no-root --extra
  --only-dev --no-install-project
docker podman nerdctl: -v -H -o --volume --mount --privileged --device --pid --network --net
  --env-file --entrypoint --cap-add --security-opt --userns --config --context --host --output
  --secret --ssh --iidfile --metadata-file --cidfile --allow --build-context --file
  --project-directory --volumes-from --ipc --uts --cgroup-parent --gpus --plugin = --target
  --force-recreate --remove-orphans --force-rm
kubectl oc: -s -k --kubeconfig --as --as-group --as-uid --token --server --context --cluster --user
  --cache-dir --certificate-authority --profile --profile-output --insecure-skip-tls-verify
  --output-directory --kustomize --edit --replace --force = --output --all-namespaces --show-labels
  --since-time --log-flush-frequency
helm: --kubeconfig --kube-* --post-renderer --post-renderer-args --output-dir --plugin
  --registry-config --repository-cache --repository-config
gh glab: -X -f -F --method --field --raw-field --input --body-file --web --editor
  --template-file --hostname --config-dir -w --ssh = --log --log-failed --template
ctest: -S -D -O --script --dashboard --build-and-test --output-log --output-junit
  --build-makeprogram --test-command --extra-submit --overwrite = --output-on-failure
  --test-dir --build-config --tests-regex --exclude-regex --rerun-failed --test-output-size-passed
phpunit pest: -c -d --configuration --bootstrap --log-junit --log-events-text --log-teamcity
  --testdox-html --testdox-text --coverage-* --cache-directory --extension --printer
  --include-path --generate-configuration = --coverage-text
rspec: -r -I -o -O --require --options --out --default-path --drb --init
rubocop: -r -a -A -o -c -x --require --autocorrect --auto-correct --autocorrect-all
  --auto-correct-all --fix-layout --out --config --plugin --auto-gen-config --server
rustc: -o -C -Z -L --print --out-dir --emit --codegen --sysroot --extern @*
javac: -d -s -h -J* -processor* --processor* @* -cp* -classpath* --class-path* -p* --module*
  -A* -Xplugin* -endorseddirs* -extdirs* -bootclasspath* --source-path* -sourcepath*
bazel bazelisk: --run_under --bazelrc --output_base --output_user_root --override_repository
  --override_module --action_env --repo_env --host_jvm_args --workspace_status_command
  --build_event*
  --experimental* --profile --shell_executable --symlink_prefix --define = --test_output
  --test_filter --config
coverage: -d -o --rcfile --directory --data-file --debug
bandit: -o -c --output --configfile --ini
tox: -c -x --conf --workdir --root --result-json --override --hashseed --runner = --recreate
  --run-parallel --skip-pkg-install
nox: -f --noxfile --envdir
hg: -R --repository --cwd --config --tool --editor
jj: -R --repository --config --config-file --config-toml --tool --editor
svn: --config-dir --config-option --diff-cmd --diff3-cmd --editor-cmd
systemctl: -H -M --host --machine --root --image --force
brew: --HEAD --debug --git --interactive
deno: -A -c -r -o -R -W -N -E -S -I --allow-* --config --import-map --preload --import --require
  --unstable*
  --cert --v8-flags --output --coverage --junit-path --lock --env-file --location --inspect*
  --reload
bun: -e -p -r -c --eval --print --preload --require --import --config --cwd --env-file --define
  --loader --outfile --outdir --coverage-dir --reporter-outfile --inspect*
gem bundle bundler: -i -n --gemfile --config-file --path --install-dir --bindir --binstubs
  --source --plugin
"""
# The same for options with one dash and a long name.
_RISKY_ONE_DASH = """
go: -test.* --test.* -exec -toolexec -o -overlay -modfile -C -pkgdir -vettool -ldflags -gcflags
  -asmflags
  -gccgoflags -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace
  -outputdir -c -w -u -fuzzcachedir -gocoverdir -workfile -modcacherw -args = -cover -count -race
  -run -v -short -a -p -n -m -t -e -l -d -s -f -r -bench -benchmem -tags -timeout -json -mod -g -i
terraform tofu: -out -chdir -plugin-dir -backend-config -state-out -backup -generate-config-out
  -from-module -auto-approve -config -replace -destroy
tsc: -p -b --project --build --outDir --outFile --out --declarationDir --tsBuildInfoFile
  --generateTrace --generateCpuProfile --init --rootDir --plugins --typeRoots @* = --skipLibCheck
  --listFiles --showConfig --module --moduleResolution --target --lib --esModuleInterop
gofmt goimports: -w -cpuprofile
clang-format: -i
xmllint: -o -output -shell -c14n-out
"""

RISKY = {name: parse(text) for name, text in entries(_RISKY)} | {
    name: parse(text, one_dash=True) for name, text in entries(_RISKY_ONE_DASH)
}

# What a rule that names only the program covers, where the program does very different things.
_HARMLESS_USES = """
git: status log diff show blame rev-parse ls-files ls-tree describe shortlog cat-file grep
  rev-list merge-base for-each-ref show-ref name-rev count-objects whatchanged cherry range-diff
  check-ignore check-attr diff-tree diff-index diff-files show-branch branch tag add version
  --version help remote stash config reflog worktree submodule var
npm: ls list ll la view info show outdated why explain test t run run-script fund ping
  --version -v help prefix root bin
pnpm yarn: ls list ll la view info show outdated why explain test t run run-script fund ping
  --version -v help prefix root bin build lint typecheck type-check check-types compile test:unit
  test:e2e test:integration lint:check format:check
cargo: build b check c test t clippy fmt doc d bench tree metadata version search --version -V
  help
go: build test vet list version doc fmt env help
docker podman nerdctl: ps images logs inspect version info stats top port history diff search
  --version
kubectl oc: get describe logs version cluster-info top explain api-resources api-versions
helm: list ls status history version search show
pip pip3: list show freeze check help --version -V
uv: tree version help --version -V
poetry pdm pipenv: show check version about --version graph
brew: list info search outdated deps uses doctor config leaves --version help
apt apt-get apt-cache dnf yum: list search show policy depends rdepends info
systemctl: status list-units list-unit-files list-timers show cat is-active is-enabled is-failed
terraform tofu: validate version show output graph fmt
gh glab: status --version version
gem bundle bundler: list info show outdated check which --version environment help
rustup: show which --version
conda mamba micromamba: list info search --version
deno: lint check test fmt doc info bench --version
bun: test --version
dotnet: build test --info --version list
aws gcloud az heroku fly vercel netlify firebase: version --version help info
hg svn jj: status st log diff show info blame annotate cat help version --version
composer: show list validate outdated licenses --version
openssl: version x509 s_client dgst verify
"""
HARMLESS_USES = {name: names(uses) for name, uses in entries(_HARMLESS_USES)}
