"""A gateway that is started as people start it takes as many clients as the machine allows, not as the shell does."""

import socket
import subprocess
import sys

import pytest

FEW, MANY = 40, 80
ASK = b"GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n"
SETTINGS = """
[providers.p1]
wire = "chat"
base_url = "http://127.0.0.1:9/v1"
keys = []
[routes.default]
chain = ["p1/any"]
[gateway]
listen = "127.0.0.1:0"
"""


@pytest.fixture
def port(tmp_path):
    config = tmp_path / "headway.toml"
    config.write_text(SETTINGS)
    shell = f'ulimit -S -n {FEW}; exec "$@"'
    process = subprocess.Popen(
        ["/bin/sh", "-c", shell, "sh", sys.executable, "-m", "headway", "serve", "--config", config],
        stderr=subprocess.PIPE,
        text=True,
        env={"HOME": str(tmp_path)},
    )
    try:
        line = process.stderr.readline()
        assert "listening on" in line, line
        yield int(line.partition("127.0.0.1:")[2].split()[0])
    finally:
        process.terminate()
        process.wait(10)
        process.stderr.close()


def test_a_low_limit_of_open_files_does_not_turn_clients_away(port):
    clients = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(MANY)]
    try:
        for client in clients:
            client.sendall(ASK)
        assert all(client.recv(4096).startswith(b"HTTP/1.1 200") for client in clients)
    finally:
        for client in clients:
            client.close()
