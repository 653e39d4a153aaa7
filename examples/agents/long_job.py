"""A long job: each page is one step, so a crash costs one page and not the night."""

from outlast import Context, flow

PAGES = 5
PAUSE_S = 1.0  # an archive that may be asked once a second


def page_of(number: int) -> dict[str, int]:
    return {"page": number, "words": 100 + number * 7}  # a download takes this place


@flow("archive", title="Read the archive", description="Counts the words of all pages, slowly.", icon="🗄️")
async def archive(ctx: Context) -> str:
    words = 0
    for number in range(1, PAGES + 1):
        page = await ctx.step(f"page {number}", page_of, number)
        words += page["words"]
        ctx.show(f"Page {number} of {PAGES}: {page['words']} words.")
        await ctx.sleep(PAUSE_S)
    return f"{PAGES} pages with {words} words."
