"""A chat without `async`. Ctrl-C ends an answer, not the chat. Give it the session that it prints to go on with it."""

import sys

import headway


def answer(agent: headway.SyncAgent, words: str) -> None:
    try:
        for item in agent.turn(words):
            if isinstance(item, headway.TextDelta):
                print(item.text, end="", flush=True)
        print()
    except KeyboardInterrupt:
        print(" …")
    except headway.HeadwayError as failed:
        print(f"\n[{failed}]")


def main(session: str = "") -> None:
    with headway.SyncHeadway(store="sqlite:chat.db") as hw:
        agent = hw.agent(system="You are a friendly companion.", session=session)
        while True:
            try:
                words = input("> ")
            except (EOFError, KeyboardInterrupt):
                break
            if words.strip():
                answer(agent, words)
        print(f"\nTo go on: python chat.py {agent.session}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
