"""Polls: a question, an agent that finds the answers to choose from, and members who vote."""

from outlast.kernel.cli.command_group import WORK, CommandGroup

COMMANDS = (CommandGroup("polls", f"{__name__}.commands", "Questions that members vote on", WORK),)
