"""Scenario files: the ones that come with Headway, and what is said about wrong ones."""

from pathlib import Path

import pytest

from headway.failure import InvalidInput
from headway.sim import Call, Final, Habits, Loop, Pace, Say, Think, WriteFile, load_script, read_script, scenarios
from headway.sim.fault import name_of
from headway.sim.faults.silence import Stall
from headway.sim.filler import text_of

GOOD = """
about = "A test."
keys = ["k"]
models = ["m"]
prefill = true

[task]
prompt = "Go."
afterwards = "Gone."

[[steps]]
think = "Hm."

[[steps]]
say = { size = 300 }

[[steps]]
write_file = "a.html"
size = 700
path_as = "file_path"

[[steps]]
call = "shell"
arguments = { command = "ls" }
parallel = true

[[steps]]
loop = [{ call = "read_file", arguments = { path = "a" } }]
until = "stop"

[[steps]]
final = "Done."

[[faults]]
fault = "stall"
at = "call+100"
first = 2

[pace]
characters = 5

[habits]
overlap = 20
offset = "as_told"
"""


def test_a_file_says_everything_about_a_provider() -> None:
    script = read_script(GOOD, "good.toml")
    assert script.steps == (
        Think("Hm."),
        Say(text_of(300)),
        WriteFile("a.html", text_of(700, "a.html"), path_as="file_path"),
        Call("shell", {"command": "ls"}, parallel=True),
        Loop((Call("read_file", {"path": "a"}),), until="stop"),
        Final("Done."),
    )
    assert script.faults == (Stall(at="call+100", first=2),)
    assert (script.pace, script.habits) == (Pace(characters=5), Habits(overlap=20, offset="as_told"))
    assert (script.name, script.about, script.prompt, script.afterwards) == ("good", "A test.", "Go.", "Gone.")
    assert (script.keys, script.models, script.prefill, script.strict) == (("k",), ("m",), True, True)


def test_a_file_on_disk_may_take_its_content_from_another(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text("Words.")
    (tmp_path / "mine.toml").write_text('[[steps]]\nwrite_file = "p"\nfile = "page.txt"\n')
    assert load_script(tmp_path / "mine.toml").steps == (WriteFile("p", "Words."),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("about = ", "it is no TOML"),
        ("abuot = 'x'", "bad: key 'abuot': there is no such thing. Did you mean 'about'?"),
        ("about = 3", "bad: Expected `str`, got `int` for `about`"),
        ("[task]\npromt = 'x'", "bad: task: key 'promt': there is no such thing. Did you mean 'prompt'?"),
        ("task = 3", "bad: task: it is int, not a table"),
        ("[[faults]]\nfault = 'stal'", "bad: faults[1]: fault 'stal': there is no such thing. Did you mean 'stall'?"),
        ("[[faults]]\nfault = 'stall'\nsecnds = 3", "Did you mean 'seconds'?"),
        (
            "[[faults]]\nfault = 'stall'\nseconds = 'x'",
            "bad: faults[1]: stall: Expected `float`, got `str` for `seconds`",
        ),
        (
            "[[faults]]\nfault = 'stall'\nat = 'nowhere'",
            "bad: faults[1]: stall: at = 'nowhere': it is no place in a reply",
        ),
        ("[[faults]]\nat = 3", "it does not say which fault it is"),
        ("[[faults]]\nfault = 'rst'\nmatching = '('", "it is no regular expression"),
        ("[[faults]]\nfault = 'stream_error'\nlike = 'opennai'", "Did you mean 'openai'?"),
        ("[[faults]]\nfault = 'wrong_status'\nlike = 'nginx502'", "Did you mean 'nginx_502'?"),
        ("[[faults]]\nfault = 'content_filter'\nshows = 'nothing'", "Invalid enum value 'nothing'"),
        ("faults = 3", "bad: faults: it is no list"),
        ("[[steps]]\nsay = 'a'\nfinal = 'b'", "bad: steps[1]: a step is one thing"),
        ("[[steps]]\nwrite_file = 'a'", "bad: steps[1]: it needs words"),
        ("[[steps]]\nwrite_file = 'a'\nsize = 'b'", "is no number of characters"),
        ("[[steps]]\nwrite_file = 'a'\nfile = 'b'", "names no files"),
        ("[[steps]]\ncall = 'a'\nargumnets = {}", "Did you mean 'arguments'?"),
        ("[[steps]]\nloop = []", "a loop is made of calls"),
        ("[[steps]]\nloop = [{ say = 'x' }]", "a loop is made of calls"),
        ("[pace]\nsecond = 3", "bad: pace: 'second': there is no such thing. Did you mean 'seconds'?"),
        ("[habits]\noffset = 'true'", "bad: habits: Invalid enum value 'true'"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_place_and_what_would_be_right(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_script(text, "bad")
    assert said in str(caught.value)


def test_a_scenario_that_does_not_exist_is_named_with_the_nearest_that_does(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="Did you mean 'pings_only'"):
        load_script("ping_only")
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_script(tmp_path / "none.toml")


def test_the_scenarios_that_come_with_headway_are_described_and_named_by_symptom() -> None:
    known = scenarios()
    assert len(known) >= 12
    assert {"stale_stream_in_a_large_call", "new_sensitive_1027", "output_limit_in_arguments", "pings_only"} <= set(
        known
    )
    assert all(about.endswith(".") for about in known.values())


def test_a_fault_is_known_by_its_class_name_in_small_letters() -> None:
    assert name_of(Stall) == "stall"
