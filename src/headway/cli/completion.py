"""`headway completion`: the script by which a shell completes commands, options and what they take."""

import click
from click.shell_completion import ShellComplete, get_completion_class

VARIABLE = "_HEADWAY_COMPLETE"
EPILOG = """
\b
To have it in every shell:
  bash  echo 'eval "$(headway completion bash)"' >> ~/.bashrc
  zsh   echo 'eval "$(headway completion zsh)"' >> ~/.zshrc
  fish  headway completion fish > ~/.config/fish/completions/headway.fish

Nothing is asked over the network: names come from the settings and the store.
"""


@click.command(epilog=EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the script that completes commands in a SHELL."""
    from headway.cli.main import cli  # which itself imports commands, when they are asked for

    kind = get_completion_class(shell)
    assert kind is not None, "click has these three"
    # The source itself: click's own way to it starts a shell first, to see how old it is.
    click.echo(ShellComplete.source(kind(cli, {}, "headway", VARIABLE)), nl=False)
    return 0
