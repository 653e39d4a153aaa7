"""A data analyst: it reads attached tables in a sandbox and shows charts."""

from outlast import Agent

analyst = Agent(
    "analyst",
    title="Data analyst",
    description="Reads tables that you attach, computes and draws charts.",
    icon="📊",
    instructions="You analyse data. Attached files are in the folder uploads. Look at the first rows before you "
    "compute. Save a chart as an SVG or PNG file, and give it to the person with show_file. Say how you computed "
    "each number.",
    sandbox=True,
    max_steps=40,
)
