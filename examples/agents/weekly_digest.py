"""A flow: plain Python that sorts letters side by side, asks a person, and lets another agent write."""

from outlast import Agent, Context, flow

from .triage import Verdict, triage

LETTERS = [
    "My brakes do not work since your repair on Monday.",
    "When does order B-18 arrive?",
    "Do you sell bells?",
]  # your mailbox takes this place


def last_week() -> list[str]:
    return LETTERS


writer = Agent(
    "digest-writer",
    description="Writes a digest of sorted letters.",
    instructions="Write a digest of these letters for the team: one line each, urgent ones first.",
    listed=False,
)


@flow("weekly-digest", title="Weekly digest", description="Sorts last week's letters and writes a digest.", icon="🗞️")
async def digest(ctx: Context) -> str:
    letters = await ctx.step("letters", last_week)
    verdicts: list[Verdict] = await ctx.gather(
        *(ctx.run(triage, letter, key=str(number)) for number, letter in enumerate(letters))
    )
    urgent = sum(verdict.urgent for verdict in verdicts)
    if urgent and await ctx.ask(f"Urgent letters: {urgent}. Write the digest now?", ["yes", "no"]) == "no":
        return "No digest was written."
    return str(await ctx.run(writer, "Write the digest.", context=verdicts))
