"""The gateways, each started as its users start it, between the load and the upstream."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import create_server
from urllib.error import URLError
from urllib.request import urlopen

from msgspec import Struct

from benchmarks.gateway_parts.processes import Cost, cost_of
from benchmarks.peers.running import OWN_PYTHON, PEERS_FOLDER, make_environment

PATIENCE_SECONDS = 180.0
HEADWAY, LITELLM, NGINX = "headway", "litellm", "nginx"

HEADWAY_TOML = """
[providers.up]
wire = "chat"
base_url = "http://127.0.0.1:{upstream}/v1"

[routes.default]
chain = ["up/model-1"]

[gateway]
listen = "127.0.0.1:{port}"
log = "off"
"""
LITELLM_YAML = """
model_list:
  - model_name: bench
    litellm_params:
      model: openai/model-1
      api_base: http://127.0.0.1:{upstream}/v1
      api_key: x
litellm_settings:
  num_retries: 0
  telemetry: false
general_settings:
  dangerously_permit_weak_or_unset_master_key: true
"""
NGINX_CONF = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  upstream up {{ server 127.0.0.1:{upstream}; keepalive 512; }}
  server {{
    listen 127.0.0.1:{port} backlog=2048;
    location = /health/live {{ return 200; }}
    location / {{
      proxy_pass http://up;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }}
  }}
}}
"""


class Running(Struct, frozen=True):
    """A gateway that answers."""

    name: str
    port: int
    pid: int
    start_seconds: float

    def cost(self) -> Cost:
        return cost_of(self.pid)

    def megabytes(self) -> float:
        return self.cost().resident_bytes / 2**20


class CannotRun(RuntimeError):
    """A gateway that cannot be had here."""


@contextmanager
def running(name: str, upstream: int) -> Iterator[Running]:
    """Start a gateway and wait until it answers; raises `CannotRun`."""
    with tempfile.TemporaryDirectory(prefix=f"headway-bench-{name}-") as given:
        folder, port = Path(given), free_port()
        command, health, environment = COMMANDS[name](folder, port, upstream)
        log = folder / "log"
        with log.open("wb") as out:
            began = time.perf_counter()
            process = subprocess.Popen(command, stdout=out, stderr=out, cwd=folder, env=environment)
        try:
            wait_for(f"http://127.0.0.1:{port}{health}", process, log)
            yield Running(name, port, process.pid, time.perf_counter() - began)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait for a first answer."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urlopen(url, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.005)
    said = log.read_text(errors="replace").strip().splitlines()[-1:]
    raise CannotRun(f"it did not start: {' '.join(said) or 'it said nothing'}")


def _headway(folder: Path, port: int, upstream: int) -> tuple[list[str | Path], str, dict[str, str]]:
    config = folder / "headway.toml"
    config.write_text(HEADWAY_TOML.format(port=port, upstream=upstream))
    homes = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
    command = [OWN_PYTHON, "-m", "headway", "serve", "--config", config]
    return command, "/health/live", {"PATH": "/usr/bin:/bin", "HOME": str(folder), **homes}


def _litellm(folder: Path, port: int, upstream: int) -> tuple[list[str | Path], str, dict[str, str]]:
    make_environment()
    program = PEERS_FOLDER / "bin" / "litellm"
    if not program.exists():
        raise CannotRun("requirements/bench.in could not be installed")
    config = folder / "litellm.yaml"
    config.write_text(LITELLM_YAML.format(upstream=upstream))
    known = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"}  # it would fetch its prices at start
    known |= {"AIOHTTP_CONNECTOR_LIMIT": "4096", "AIOHTTP_CONNECTOR_LIMIT_PER_HOST": "4096"}  # else 500 streams at most
    paths = {"PATH": f"{PEERS_FOLDER / 'bin'}:/usr/bin:/bin", "HOME": str(folder)}
    command = [program, "--config", config, "--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"]
    return command, "/health/liveliness", known | paths


def _nginx(folder: Path, port: int, upstream: int) -> tuple[list[str | Path], str, dict[str, str]]:
    config = folder / "nginx.conf"
    config.write_text(NGINX_CONF.format(folder=folder, port=port, upstream=upstream))
    return [nginx(), "-p", folder, "-c", config, "-e", folder / "error.log"], "/health/live", {"PATH": "/usr/bin:/bin"}


COMMANDS = {HEADWAY: _headway, LITELLM: _litellm, NGINX: _nginx}


def nginx() -> Path:
    """Return the program: the system's, or Debian's package unpacked beside the peers, which installs nothing."""
    known = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    own = PEERS_FOLDER / "nginx" / "usr" / "sbin" / "nginx"
    if known is not None or own.exists():
        return Path(known or own)
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        raise CannotRun("it is not installed, and there is no apt-get to fetch it by")
    with tempfile.TemporaryDirectory() as folder:
        fetched = subprocess.run(
            ["apt-get", "download", "nginx"], cwd=folder, capture_output=True, text=True, check=False
        )
        for package in Path(folder).glob("nginx_*.deb"):
            subprocess.run(["dpkg", "-x", package, PEERS_FOLDER / "nginx"], check=True)
    if not own.exists():
        raise CannotRun(f"apt-get: {' '.join(fetched.stderr.strip().splitlines()[-1:])}")
    return own


def free_port() -> int:
    with create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


def leave_out(name: str, why: object) -> None:
    """Say, so that nobody overlooks it, that a gateway is not measured."""
    print(f"!! {name} IS LEFT OUT: {why}", file=sys.stderr, flush=True)
