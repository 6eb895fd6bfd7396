"""Programs that run what they are given, and programs that never do. Data, and how to read a few special cases.

A rule that denies a command cannot see into a text that another program will run. So what can run such a text is named
here, as is what cannot, where an argument is never more than an argument. All else may run its arguments.
"""

import re
from collections.abc import Sequence
from itertools import pairwise


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHELLS = _words(
    "sh bash dash zsh ksh ksh93 mksh rbash fish ash csh tcsh nu elvish xonsh su ssh xargs parallel flock runuser"
)
"""What takes a script as one word: the script is looked into, too. So it is for these, where a command is expected:"""
BUILTIN_SHELLS = _words("eval source . exec trap env watch script")
RUN_ANYTHING = SHELLS | _words(
    # languages, databases and editors with a way to the shell
    "nodejs deno php lua luajit tclsh wish pwsh powershell julia guile sbcl clisp racket ghci runghc scala groovy "
    "jshell elixir iex erl escript ocaml osascript rscript gnuplot octave awk gawk mawk nawk vi vim nvim emacs "
    "sqlite3 psql mysql mariadb mongosh redis-cli gdb lldb sftp telnet "
    # what starts things elsewhere, later or for others
    "crontab tmux dtach socat ncat netcat systemd-run start-stop-daemon run-parts docker podman nerdctl kubectl lxc "
    "chpst capsh busybox toybox rlwrap unbuffer logrotate tcpdump nmap"
)
RUN_ANYTHING_AT_FIRST = BUILTIN_SHELLS | _words(
    "alias builtin mapfile readarray compgen complete bind fc enable hash shopt coproc "
    "at batch ed ex view nano expect screen dc m4 node bun nc ftp sg r"
)
"""Words that are common among arguments, and mean this only where a command is expected."""
_LANGUAGE = re.compile(
    r"(?:python|pypy|perl|ruby|php|lua|tclsh|bash|zsh|node|guile|irb|wish)[\d.-]+$|python$|perl$|ruby$"
)
PREFIXERS = _words(
    "if then else elif while until do ! { time command builtin exec coproc sudo doas nice nohup timeout stdbuf setsid "
    "ionice taskset chrt setarch linux32 linux64 prlimit setpriv strace ltrace valgrind catchsegv faketime "
    "xvfb-run env"
)
"""What runs the words behind it, which begin with a command."""
WRAPPERS = PREFIXERS | _words(
    "chroot unshare nsenter perf find fd xargs numactl cgexec firejail bwrap dbus-run-session parallel"
)
"""What runs some of the words behind it."""
ONLY_DATA = _words(
    "echo printf grep egrep fgrep cat ls head tail wc cut uniq tr diff cmp comm test [ true false pwd cd mkdir "
    "touch chmod basename dirname realpath readlink date stat file du df which type whoami id sleep seq read tee "
    "md5sum sha1sum sha256sum column fold nl tac paste"
)
"""What takes its words for text or for names of files, and never runs them."""
BIN = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/", "/opt/", "/nix/store/")
"""Where programs come from that nobody but the system has put there."""
DECLARES = frozenset({"export", "declare", "typeset", "readonly", "local", "env"})
CHANGES_MEANING = re.compile(
    r"(?:(?!PYTHON)\w*PATH|IFS|ENV|BASH_\w*|LD_\w*|\w*PAGER|\w*EDITOR|\w*COMMAND\w*|SHELL\w*|GIT_\w*|PS\d|\w*OPT(?:S|IONS)|"
    r"RUSTC\w*|XDG_\w*|CC|CXX|MAKEFLAGS|HOME|CDPATH|GLOBIGNORE)(?:\[[^]]*\])?\+?="
)
"""An assignment after which the next words may mean something else."""
_OPTIONS = {
    "tar": r"--checkpoint-a.*|--to-c.*|-I.*|--use-c.*|--rsh.*|-F.*|--\w*-script.*",
    "rsync": r"-\w*e.*|--rsh.*|--rsync-path.*",
    "make": r"--eval.*|-\w*f.*|--file.*|--makefile.*|SHELL=.*|-",
    "gmake": r"--eval.*|-\w*f.*|--file.*|--makefile.*|SHELL=.*|-",
    "split": r"--filter.*",
    "sort": r"--co.*",
    "wget": r"--use-askpass.*",
    "curl": r"-K.*|--config.*",
    "ssh-keygen": r"-D.*",
    "man": r"-P.*|--pager.*|-H.*",
    "npm": r"exec|x|-c|--call.*|--script-shell.*",
    "rg": r"--pre.*|--hostname-bin.*",
    "zip": r"-\w*T.*|--unzip-command.*",
}
RISKY = frozenset({"git", "find", "fd", "sed", "gsed", *_OPTIONS})
"""Programs that are harmless but for some of their options."""
_GIT_BEFORE = re.compile(r"-c|--config-env.*|--exec-path=.*")
_GIT_BEHIND = re.compile(
    r"-x.*|--ex.*|--upl.*|--receive-p.*|--textc.*|--pager.*|--open-f.*|-O.*|"
    r"config|bisect|filter-branch|foreach|difftool|mergetool|instaweb|ext::.*|alias|send-email|p4|svn"
)
_SED_RUNS = re.compile(r"(?:^|[;{}\n$!/\d])\s*e(?:\s|;|\}|$)|[^\w\s][gpiImM\d]*e[gpiImM\d]*(?:w|\s*(?:[;}\n]|$))")


def is_of_the_system(path: str) -> bool:
    """Say whether a program is where only the system puts programs."""
    return path.startswith(BIN) and "/../" not in path


def runs_anything(name: str, *, is_first: bool) -> bool:
    """Say whether a program, or a builtin where a command is expected, can run whatever it is told."""
    return name in RUN_ANYTHING or _LANGUAGE.match(name) is not None or (is_first and name in RUN_ANYTHING_AT_FIRST)


def takes_script(name: str, *, is_first: bool) -> bool:
    """Say whether a word that it gets can be a whole script."""
    return name in SHELLS or (is_first and name in BUILTIN_SHELLS)


def risky_options(name: str, words: Sequence[str]) -> str:
    """Return the option by which a program that is harmless otherwise runs something; empty if it has none."""
    match name:
        case "git":
            return _git(words)
        case "find" | "fd":
            return next((one for one, then in pairwise(words) if _runs_found(one, then)), "")
        case "sed" | "gsed":
            return next((one for one in words if _sed_runs(one)), "")
        case _:
            known = _OPTIONS.get(name)
            return next((one for one in words if known is not None and re.fullmatch(known, one)), "")


def _runs_found(option: str, then: str) -> bool:
    """Say whether find would run what it finds: the name of the program is not in the text."""
    return option in {"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec"} and "{}" in then


def _git(words: Sequence[str]) -> str:
    rest = iter(words)
    for word in rest:
        if _GIT_BEFORE.fullmatch(word):
            return word
        if word in {"-C", "--git-dir", "--work-tree", "--namespace"}:
            next(rest, None)
        elif not word.startswith("-"):
            return next((one for one in (word, *rest) if _GIT_BEHIND.fullmatch(one)), "")
    return ""


def _sed_runs(word: str) -> bool:
    """Say whether a word of sed's runs something: as a script, one glued to its option, or one in a file."""
    script = word
    if word.startswith("--"):
        options, _, script = word.partition("=")
        if options.startswith("--fi"):
            return True
    elif word.startswith("-"):
        options, _, script = word.partition("e")
        if "f" in options:
            return True
    return bool(script) and _SED_RUNS.search(script) is not None
