"""A network of two agents: an executor works, a reviewer looks at it, until the reviewer is content."""

from pydantic import BaseModel, Field

from outlast import Agent, Context, flow

ROUNDS = 3


class Review(BaseModel):
    approved: bool
    remarks: str = Field("", description="What has to change. Empty if it is approved.")


executor = Agent(
    "executor",
    description="Does a task with code and files.",
    instructions="Do the task. Run what you write before you say that it works, and quote its output.",
    sandbox=True,
    listed=False,
)
reviewer = Agent(
    "reviewer",
    description="Reviews the work of the executor.",
    instructions="Review the work against its task. Approve only what does the task and was shown to work.",
    output=Review,
    sandbox=True,
    listed=False,
)


@flow("reviewed-work", title="Reviewed work", description="Does a task, and has it reviewed.", icon="🔍")
async def reviewed_work(ctx: Context) -> str:
    task, work = ctx.message, ""
    for _ in range(ROUNDS):
        work = await ctx.run(executor, task)
        review = await ctx.run(reviewer, f"The task:\n{ctx.message}\n\nThe work:\n{work}")
        if review.approved:
            return work
        task = f"{ctx.message}\n\nYour work so far:\n{work}\n\nThe reviewer asks for:\n{review.remarks}"
    return f"{work}\n\n*The reviewer did not approve this within {ROUNDS} rounds.*"
