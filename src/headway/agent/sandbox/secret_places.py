"""Where people keep secrets: keys, passwords, sessions of browsers and of other programs. Data only."""

from collections.abc import Iterator
from pathlib import Path

IN_HOME = (
    ".ssh .gnupg .pki .password-store .local/share/keyrings .local/share/kwalletd",
    ".aws .azure .config/gcloud .oci .kube .config/doctl .config/hcloud",
    ".terraform.d/credentials.tfrc.json .vault-token .config/rclone .s3cfg .boto .config/op .config/Bitwarden",
    ".netrc _netrc .authinfo .authinfo.gpg .pgpass .my.cnf .mylogin.cnf .git-credentials .config/git/credentials",
    ".docker/config.json .config/containers/auth.json .config/gh .config/hub .config/glab-cli",
    ".npmrc .yarnrc.yml .pypirc .config/pip/pip.conf .cargo/credentials .cargo/credentials.toml .gem/credentials",
    ".m2/settings.xml .gradle/gradle.properties",
    ".mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware .config/microsoft-edge",
    ".claude/.credentials.json .claude.json .codex/auth.json .gemini .local/share/opencode/auth.json .aider.conf.yml",
    ".bash_history .zsh_history .python_history .psql_history .mysql_history .local/share/fish/fish_history",
    "Library/Keychains Library/Cookies",
)
IN_SYSTEM = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private", "/var/lib/sss")
HOST_KEYS = "/etc/ssh"


def secret_places(home: Path) -> Iterator[Path]:
    """Return the places, whether they are there or not."""
    yield from (home / name for line in IN_HOME for name in line.split())
    yield from map(Path, IN_SYSTEM)
    yield from Path(HOST_KEYS).glob("ssh_host_*_key")
