"""The rules of CONTRIBUTING.md that a machine can check."""

import re
import subprocess
import sys
from pathlib import Path

import headway
from headway.cli.main import COMMANDS
from headway.cli.reference import drifted

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def test_the_reference_pages_say_what_the_tables_say():
    assert drifted() == []


def test_every_command_is_in_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"headway {name}" not in readme] == []


def test_the_lock_names_no_index():
    assert "://" not in (ROOT / "requirements" / "dev.lock").read_text(encoding="utf-8")


def test_no_room_has_an_empty_name():
    banned = {"utils", "helpers", "common", "manager", "handler", "misc"}
    assert [path for path in SOURCES if path.stem in banned] == []


def test_every_module_opens_with_its_contract():
    assert [path for path in SOURCES if not path.read_text(encoding="utf-8").startswith(('"""', 'r"""'))] == []


def test_nothing_swallows_every_exception():
    broad = re.compile(r"except (Base)?Exception|except:")
    assert [path for path in SOURCES if broad.search(path.read_text(encoding="utf-8"))] == []


def test_the_version_is_written_once():
    assert f'version = "{headway.__version__}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_importing_headway_is_light():
    code = "import sys; import headway; print(len(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 250


def test_help_loads_no_command():
    code = (
        "import sys; from headway.cli.main import main; main(['--help']);"
        "heavy = ('headway.wire', 'headway.recovery', 'asyncio', 'ssl', 'http');"
        "bad = [m for m in sys.modules if m.startswith(heavy)];"
        "sys.exit(repr(bad) if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "explain" in done.stdout
