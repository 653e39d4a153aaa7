"""What the `page` agent is made of: the `prompt` it is given (`context` is what the person's message is surrounded by,
`html_budget` cuts large pages), the lines it writes (`line_handler`), the work before its first turn
(`start_stages`) and after its last (`checks`), what is written when its run is settled (`finisher`), and its modules:
announced, tried out (`outlast_sandbox/module_imports`), published (`publish_module`). `agent` puts it together.

A *line* is one JSON object of the agent's answer: patches, a whole page, stats, modules or a summary; any other line is
prose, which people read in the thread.
"""
