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
    "pnpm": re.compile("--silent|-s|--no-color"),
    "yarn": re.compile("--silent|-s"),
    "make": re.compile(r"-j\d*|-s|--silent|-k|--no-print-directory|-n|--dry-run"),
    "cargo": re.compile("-q|--quiet|--offline|--locked|--frozen|--color=[a-z]+"),
    "python": re.compile("-[uBIEsO]+"),
    "docker": re.compile("--no-color"),
}

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
    "sudo, doas, setsid, npx, bunx, uvx, pnpx, strace, ltrace, valgrind, fakeroot, caffeinate,"
    " chronic, unbuffer, xvfb-run, dbus-run-session, rlwrap, busybox, toybox, proxychains,"
    " catchsegv, nocache, eatmydata, uv run, uv tool run, poetry run, pipenv run, pdm run, rye"
    " run, hatch run, pixi run, bundle exec, npm exec, npm x, pnpm exec, pnpm dlx, pnpm x, yarn"
    " exec, yarn dlx, bun run, bun x, deno run, go run, go tool, pipx run, mise exec, mise x,"
    " asdf exec, rbenv exec, pyenv exec, nix run, coverage run, coverage run -m, dotnet exec,"
    " dotnet run, lerna exec, direnv exec, mise run"
)

# Programs that run what they are given as text, or that a rule cannot bind to anything less than
# the whole command; the words that lead there.
WHOLE = sequences(
    "ssh, scp, sftp, mosh, telnet, nc, ncat, netcat, socat, ftp, lftp, su, runuser, pkexec,"
    " gosu, su-exec, run0, chroot, unshare, nsenter, setpriv, capsh, chrt, taskset, numactl,"
    " prlimit, cgexec, firejail, bwrap, proot, systemd-run, start-stop-daemon, daemonize,"
    " run-parts, flock, watch, parallel, entr, rush, watchexec, nodemon, hyperfine, script,"
    " perf, gdb, lldb, rr, tmux, screen, zellij, at, batch, crontab, xargs, env, command,"
    " timeout, nice, ionice, stdbuf, nohup, time, gtimeout, vi, vim, nvim, view, ex, ed, red,"
    " emacs, emacsclient, nano, pico, joe, micro, hx, helix, kak, code, cursor, subl, zed, gvim,"
    " vimdiff, patch, sqlite3, psql, mysql, mariadb, mongo, mongosh, redis-cli, duckdb, dc, m4,"
    " gnuplot, exiftool, open, xdg-open, start, explorer, ldd, ld, as, ld.gold, lld, gold,"
    " install_name_tool, make-kpkg, nix-shell, nix-build, osascript, launchctl, defaults,"
    " dbus-send, gdbus, busctl, vagrant, ansible, ansible-playbook, expect, tclsh, timeit,"
    " cProfile, profile, pdb, trace, runpy, idlelib, pudb, xdotool, tmate, ttyd, openvt, docker"
    " run, docker exec, docker cp, docker compose run, docker compose exec, docker buildx,"
    " docker commit, docker load, docker save, docker plugin, docker create, podman run, podman"
    " exec, podman cp, podman unshare, podman machine, kubectl exec, kubectl run, kubectl"
    " attach, kubectl debug, kubectl cp, kubectl edit, kubectl proxy, kubectl plugin, kubectl"
    " config, helm plugin, gh alias, gh extension, gh codespace, gh config, npm config, npm set,"
    " npm explore, npm edit, npm init, npm create, yarn create, yarn config, pnpm create, pnpm"
    " config, deno eval, deno repl, deno install, bun create, go generate, go install, cargo"
    " install, cargo run-script, conda run, dotnet tool, dotnet script, docker-compose run,"
    " docker-compose exec, git filter-branch, git send-email, git shell, git daemon, git hook,"
    " git upload-pack, git receive-pack, git remote-ext, git remote-fd, git for-each-repo, git"
    " upload-archive, git instaweb, git web--browse, git credential, git maintenance, git"
    " http-backend, git p4, git svn, git imap-send, git mergetool, git difftool--helper"
)
