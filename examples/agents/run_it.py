"""Runs programs: a flow works in the sandbox of its run, as the tools of an agent do."""

from outlast import Context, flow


@flow("run-it", title="Run it", description="Runs the Python program that you send.", icon="▶️", sandbox=True)
async def run_it(ctx: Context) -> str:
    await ctx.sandbox.write("program.py", ctx.message)
    result = await ctx.sandbox.run("python3 program.py", timeout_s=60)
    return f"{result.output}\nIt ended with exit code {result.exit_code}."
