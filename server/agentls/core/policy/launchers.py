"""Programs that run other programs or text as a program: what a rule for them has to name.

Invariant: a rule for one of these covers nothing until it names what is run.
"""

from __future__ import annotations

import re

from .tables import sequences

# Options between the program and its first argument that change nothing about what it does.
BETWEEN = {
    "git": re.compile(
        "--no-pager|-P|--no-optional-locks|--literal-pathspecs|--no-replace-objects|--no-advice"
    ),
    "npm": re.compile("--silent|-s|--no-color|--loglevel=[a-z]+"),
    "pnpm": re.compile(
        r"--silent|-s|--no-color|-r|--recursive|-w|--workspace-root|--filter=@?\w[\w/.-]*"
    ),
    "yarn": re.compile("--silent|-s"),
    "make": re.compile(r"-j\d*|-s|--silent|-k|--no-print-directory|-n|--dry-run"),
    "cargo": re.compile("-q|--quiet|--offline|--locked|--frozen|--color=[a-z]+"),
    "python": re.compile("-[uBIEsO]+"),
    "docker": re.compile("--no-color"),
}

# The same with a word after them, which names a part of the project.
BETWEEN_WITH_PART = {"pnpm": frozenset({"--filter", "-F"}), "yarn": frozenset({"workspace"})}
PART = re.compile(r"@?\w[\w/.-]*")

INTERPRETERS = re.compile(
    r"(?:python|pypy|perl|ruby|php|lua|node|tclsh|java|guile)[0-9.]*w?|nodejs|luajit|Rscript|julia|wish"
    r"|expect|osascript|groovy|scala|kotlin|racket|sbcl|clojure|clj|bb|elixir|iex|erl|escript"
    r"|runghc"
    r"|ghci|ocaml|swipl|octave|(?:ba|da|z|k|mk|c|tc|fi|a|pw|ya)?sh|rbash|powershell|cmd|nu|xonsh"
    r"|elvish|ts-node|tsx|babel-node|coffee|jshell|i?pythonw?|bpython|jython|irb|nim|crystal|rdmd"
)
VERSION_FLAGS = frozenset({"--version", "-V", "-v", "-version", "--help", "-h"})

# Programs that run the program named next; a rule for them has to name that too.
LAUNCHERS = sequences(
    """
    sudo, doas, setsid, strace, ltrace, valgrind, fakeroot, caffeinate, chronic, unbuffer
    xvfb-run, dbus-run-session, rlwrap, busybox, toybox, proxychains, catchsegv, nocache, eatmydata
    npx, npm exec, npm x, pnpx, pnpm exec, pnpm dlx, pnpm x, yarn exec, yarn dlx, lerna exec
    bunx, bun run, bun x, deno run, uvx, uv run, uv tool run, poetry run, pipenv run, pdm run
    rye run, hatch run, pixi run, pipx run, coverage run, coverage run -m, bundle exec
    go run, go tool, dotnet exec, dotnet run, nix run, direnv exec
    mise exec, mise x, mise run, asdf exec, rbenv exec, pyenv exec
    """
)

# Programs that run what they are given as text, or that a rule cannot bind to anything less than
# the whole command; the words that lead there.
WHOLE = sequences(
    """
    xargs, env, command, timeout, gtimeout, nice, ionice, stdbuf, nohup, time
    su, runuser, pkexec, gosu, su-exec, run0, chroot, unshare, nsenter, setpriv, capsh
    chrt, taskset, numactl, prlimit, cgexec, firejail, bwrap, proot, flock, script, openvt
    systemd-run, start-stop-daemon, daemonize, run-parts, at, batch, crontab, launchctl, defaults
    watch, parallel, entr, rush, watchexec, nodemon, hyperfine, perf, gdb, lldb, rr, conda run
    tmux, screen, zellij, tmate, ttyd, xdotool, dbus-send, gdbus, busctl, osascript, expect, tclsh
    ssh, scp, sftp, mosh, telnet, nc, ncat, netcat, socat, ftp, lftp, vagrant
    ansible, ansible-playbook, nix-shell, nix-build
    vi, vim, nvim, view, ex, ed, red, gvim, vimdiff, emacs, emacsclient, nano, pico, joe, micro
    hx, helix, kak, code, cursor, subl, zed, open, xdg-open, start, explorer
    sqlite3, psql, mysql, mariadb, mongo, mongosh, redis-cli, duckdb, dc, m4, gnuplot, exiftool
    patch, ldd, ld, as, ld.gold, lld, gold, install_name_tool
    timeit, cProfile, profile, pdb, trace, runpy, idlelib, pudb
    docker run, docker exec, docker cp, docker create, docker commit, docker load, docker save
    docker compose run, docker compose exec, docker compose cp, docker compose -f, docker buildx
    docker plugin, docker-compose run, docker-compose exec, docker-compose -f
    podman run, podman exec, podman cp, podman unshare, podman machine
    kubectl exec, kubectl run, kubectl attach, kubectl debug, kubectl cp, kubectl edit
    kubectl proxy, kubectl plugin, kubectl config, helm plugin
    gh alias, gh extension, gh codespace, gh config
    npm config, npm set, npm explore, npm edit, npm init, npm create, yarn create, yarn config
    pnpm create, pnpm config, deno eval, deno repl, deno install, bun create
    go generate, go install, cargo install, dotnet tool, dotnet script
    git filter-branch, git send-email, git imap-send, git shell, git daemon, git hook
    git upload-pack, git upload-archive, git receive-pack, git http-backend, git remote-ext
    git remote-fd, git for-each-repo, git instaweb, git web--browse, git credential
    git maintenance, git p4, git svn, git mergetool, git difftool--helper
    """
)
