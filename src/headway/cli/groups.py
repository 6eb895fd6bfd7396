"""Groups of commands: a name that is none of theirs is answered with the one that was probably meant."""

import click


class Group(click.Group):
    """A group that helps with misspelt names, at any version of click."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; refuse what is none."""
        name, known = args[0], self.list_commands(ctx)
        if name in known or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        raise click.UsageError(f"No such command {name[:80]!r}.{_meant(name, known)}", ctx)


def _meant(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name.lower()[:80], known, n=1)
    return f" Did you mean {near[0]!r}?" if near else f" There is: {', '.join(known)}."
