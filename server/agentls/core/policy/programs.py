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
tree: -o -R | LPI
file: -C --compile | mfFPe
nm objdump size strings readelf addr2line: --plugin @*
rg: -z --pre --hostname-bin --search-zip | ABCEMTdefgjmrt
fd fdfind: -x -X --exec --exec-batch | eEtdS
ag ack: --pager --ackrc
bat batcat: --pager --generate-config-file
less more most: -o -O -k -K --log-file --lesskey-file --lesskey-src --lesskey-content +*
man: -P -H -C -l -X -T -Z --pager --html --gxditview --config-file --local-file | sSeMmLErpR
info: -o --output
diff3 sdiff: -o --output --diff-program
ss: -K -D --kill --diag
lsof: -D
tcpdump: -w -z -Z | ciFrsn
journalctl: -D --vacuum-size --vacuum-time --vacuum-files --rotate --flush --cursor-file --root
yq: -i -s --inplace --split-exp --security-* --from-file
xmllint: -o --output --shell
pandoc: -o -F -L -d --output --filter --lua-filter --defaults --pdf-engine --extract-media --log
cloc: --config --out --report-file --extract-with --force-lang-def --read-lang-def
  --write-lang-def --sum-reports
fzf: --preview --bind --listen --history --execute --become
zip: -T -TT -O --unzip-command --out --test
gpg: -o --output --exec-path --photo-viewer --homedir --options --agent-program
  --gpgconf-program
shfmt: -w --write
gofmt: -w -cpuprofile
rustfmt: --config --config-path --backup
clang-format: -i
pytest py.test: -p -c -o --rootdir --config-file --override-ini --confcutdir --basetemp --pyargs
  --pdbcls --import-mode --junitxml --junit-xml --log-file --report-log --html --cov-config
  --cov-report --debug --pastebin --trace --pdb --resultlog --json-report-file --plugins --ds
  --dc = --co --cov --cov-branch --cov-report=term --cov-report=term-missing --collect-only
  --log-cli-level | kmnrW
ruff: -o --config --fix --fix-only --unsafe-fixes --add-noqa --output-file --cache-dir
black: --config --code --required-version
isort: --settings-path --settings-file --sp --config-root
flake8 pycodestyle pydocstyle: --config --append-config --output-file --tee --enable-extensions
  --require-plugins
pylint: --load-plugins --init-hook --rcfile --output --import-graph --ext-import-graph
  --int-import-graph --generate-toml-config --pylint-home = --output-format -f
mypy dmypy: --python-executable --config-file --install-types --cache-dir --junit-xml
  --any-exprs-report --cobertura-xml-report --html-report --linecount-report
  --linecoverage-report --lineprecision-report --txt-report --xml-report --xslt-html-report
  --xslt-txt-report --shadow-file --custom-typeshed-dir --custom-typing-module --timing-stats
  --line-checking-stats | mpc
pyright basedpyright: -p --project --pythonpath --createstub --venvpath --typeshedpath
  --writebaseline
eslint: -c -o -f --config --rulesdir --plugin --parser --resolve-plugins-relative-to --format
  --output-file --fix --init --cache-location --cache-file --inspect-config --mcp = --cache
prettier: -w --write --plugin --plugin-search-dir --config = --config-precedence
stylelint: -o --fix --custom-syntax --custom-formatter --formatter --config --config-basedir
  --output-file --plugins
jest: -c --config --rootDir --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv
  --testRunner --runner --reporters --resolver --transform --testEnvironment --env
  --coverageDirectory --outputFile --cacheDirectory --watchPlugins --testSequencer
  --snapshotResolver --preset --projects --roots --filter --testResultsProcessor --prettierPath
  --dependencyExtractor --haste --globals --init --modulePaths --coverageProvider =
  --runTestsByPath --run --coverage --test --watch
vitest: -c -r --config --root --globalSetup --reporter --outputFile --environment --coverage.*
  --api --browser --pool --execArgv --runner --sequence.* --poolOptions.* --diff
  --attachmentsDir --mergeReports --ui = --run --coverage --reporter=verbose --reporter=dot
  --reporter=json --reporter=default
mocha: -r -R -u -n -O --require --import --reporter --ui --config --package --file --loader
  --node-option --opts --experimental-loader
npm pnpm yarn: -C -c -g --prefix --dir --cwd --script-shell --shell --node-options --userconfig
  --globalconfig --registry --init-module --global --editor --viewer --browser --git --cache
  --call --location --modules-folder --use-yarnrc --node-arg --globalDir --store-dir
  --onload-script --package = --no-fund --color
cargo: -Z -C --config --manifest-path --target-dir --out-dir --artifact-dir --fix --root --path
  --git --index --registry --lockfile-path --force +* = --target
pip pip3: -t -i -f --target --prefix --root --index-url --extra-index-url --trusted-host
  --find-links --log --report --global-option --config-settings --python --proxy --cert --src
  --cache-dir --break-system-packages --install-option --build-option
  --keyring-provider = --pre | rce
uv poetry pdm pipenv: -C -P --directory --project --config-file --config-settings --index-url
  --extra-index-url --default-index --target --prefix --env-file --python --with --with-editable
  --with-requirements --find-links --output-file --cache-dir -o
docker podman nerdctl: -v -H -o --volume --mount --privileged --device --pid --network --net
  --env-file --entrypoint --cap-add --security-opt --userns --config --context --host --output
  --secret --ssh --iidfile --metadata-file --cidfile --allow --build-context --file
  --project-directory --volumes-from --ipc --uts --cgroup-parent --gpus --plugin
kubectl oc: -s --kubeconfig --as --as-group --as-uid --token --server --context --cluster --user
  --cache-dir --certificate-authority --profile --profile-output --insecure-skip-tls-verify
  --output-directory --kustomize --edit --replace --force
helm: --kubeconfig --kube-* --post-renderer --post-renderer-args --output-dir --plugin
  --registry-config --repository-cache --repository-config
gh glab: -X -f -F --method --field --raw-field --input --body-file --web --editor
  --template-file --hostname --config-dir -w --ssh
cmake: -P -E -C -D -T --toolchain --graphviz --trace-redirect --profiling-output --debugger
  --install --prefix --install-prefix
ctest: -S -D -O --script --dashboard --build-and-test --output-log --output-junit
  --build-makeprogram --test-command --extra-submit --overwrite
ninja: -C -f
just: -f -d -c -e --justfile --working-directory --shell --shell-arg --shell-command --set
  --command --edit --choose --chooser --dotenv-path --dotenv-filename --init --fmt --tempdir
rake: -e -E -f -r -R -p -I --execute --execute-print --execute-continue --rakefile --require
  --rakelib --libdir --system
gradle gradlew: -I -b -c -p -g -D -P -M --init-script --build-file --settings-file --project-dir
  --gradle-user-home --include-build --project-cache-dir --system-prop --project-prop
mvn mvnw: -f -s -g -t -D -l -b --file --settings --global-settings --toolchains --define
  --log-file --builder = -DskipTests -DskipTests=true
phpunit pest: -c -d --configuration --bootstrap --log-junit --log-events-text --log-teamcity
  --testdox-html --testdox-text --coverage-* --cache-directory --extension --printer
  --include-path --generate-configuration = --coverage-text
rspec: -r -I -o -O --require --options --out --default-path --drb --init
rubocop: -r -a -A -o -c --require --autocorrect --auto-correct --autocorrect-all
  --auto-correct-all --fix-layout --out --config --plugin --auto-gen-config --server
rustc: -o -C -Z -L --out-dir --emit --codegen --sysroot --extern @*
javac: -d -s -h -J* -processor* --processor* @*
coverage: -d -o --rcfile --directory --data-file --debug
bandit: -o -c --output --configfile --ini
tox: -c -x --conf --workdir --root --result-json --override --hashseed
nox: -f --noxfile --envdir
systemctl: -H -M --host --machine --root --image --force
brew: --HEAD --debug --git --interactive
deno: -A -c -r -o --allow-* --config --import-map --preload --import --require --unstable*
  --cert --v8-flags --output --coverage --junit-path --lock --env-file --location --inspect*
  --reload
bun: -e -p -r -c --eval --print --preload --require --import --config --cwd --env-file --define
  --loader --outfile --outdir --coverage-dir --reporter-outfile --inspect*
gem bundle bundler: -i -n --gemfile --config-file --path --install-dir --bindir --binstubs
  --source --plugin
"""
# The same for options with one dash and a long name.
_RISKY_ONE_DASH = """
go: -exec -toolexec -o -overlay -modfile -C -pkgdir -vettool -ldflags -gcflags -asmflags
  -gccgoflags -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace
  -outputdir -c -w -u -fuzzcachedir -gocoverdir -workfile -modcacherw = -cover -count -race -run
  -v -short
terraform tofu: -out -chdir -plugin-dir -backend-config -state-out -backup -generate-config-out
  -from-module -auto-approve -config -replace -destroy
tsc: -p -b --project --build --outDir --outFile --out --declarationDir --tsBuildInfoFile
  --generateTrace --generateCpuProfile --init --rootDir --plugins --typeRoots @*
gcc g++ cc c++ clang clang++ gfortran: -o* -wrapper -B* -specs* -fplugin* -Wl,* -Wa,* -Wp,* -X*
  -T -dumpbase -dumpdir -MF -MD -MMD -MJ -save-temps* -fdump* -aux-info @* -load -iplugindir*
  -fuse-ld* --ld-path* -fpass-plugin* -dynamiclib --config* -serialize-diagnostics*
  -ftime-trace* -fprofile* --sysroot* -isysroot* -L* = -c -E -S -g -O -O1 -O2 -O3 -Wall -Wextra
  -pedantic -D -I -l -MM -M
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
npm pnpm yarn: ls list ll la view info show outdated why explain test t run run-script fund ping
  --version -v help prefix root bin
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
