"""The manual page has every command and option, and is roff that no line of help can break."""

import re

import click

from headway.cli.main import COMMANDS, cli
from headway.cli.man_page import man_page

PAGE = man_page()
REQUESTS = {".TH", ".SH", ".SS", ".B", ".TP", ".PP", ".nf", ".fi", '.\\"'}


def test_every_command_and_option_is_there():
    for name in COMMANDS:
        assert f'.SS "headway {name}"'.replace("-", "\\-") in PAGE
        command = cli.get_command(click.Context(cli), name)
        for parameter in command.params:
            for flag in parameter.opts if isinstance(parameter, click.Option) and not parameter.hidden else ():
                assert flag.replace("-", "\\-") in PAGE, flag
    assert '.SS "headway config init"' in PAGE


def test_every_line_that_looks_like_a_request_is_one():
    for line in PAGE.splitlines():
        assert not line.startswith("'")
        assert not line.startswith(".") or line.split()[0] in REQUESTS, line


def test_it_is_plain_ascii_whose_escapes_are_known():
    assert PAGE.isascii()
    assert set(re.findall(r"\\(.)", PAGE)) <= {"-", "e", "&", "[", '"'}
