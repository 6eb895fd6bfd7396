"""The product's first handshake: `make demo` after its set-up."""

import subprocess
import sys


def test_the_demo_survives_its_playlist_and_the_page_is_whole(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "headway", "demo", "--keep", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\n11 faults, " in done.stdout, "each of the playlist struck"
    assert "write_file ran 1 time." in done.stdout
    assert "The file is whole" in done.stdout
    assert "Traceback" not in done.stderr
    assert (tmp_path / "index.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
