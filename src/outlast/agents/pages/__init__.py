"""What the `page` agent is made of: the `prompt` it is given (`context` is what the person's message is surrounded by,
`html_budget` cuts large pages), the `lines` it writes, the work before its first turn (`opening`) and after its last
(`checking`), what is written when its run is settled (`finishing`), and its `modules`: announced, verified, published.

A *line* is one JSON object of the agent's answer: patches, a whole page, stats, modules or a summary; any other line is
prose, which people read in the thread.
"""
