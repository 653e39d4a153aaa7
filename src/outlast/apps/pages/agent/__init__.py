"""The parts of the `page` agent: its `prompt` (`context` has the text around the person's message,
`html_budget` cuts large pages), the lines it writes (`line_handler`), the work before its first turn
(`start_stages`) and after its last (`checks`), the writes when its run is settled (`finisher`), and its modules:
announced, tried out (`outlast_sandbox/module_imports`), published (`publish_module`). `agent` assembles it.

A *line* is one JSON object of the agent's answer: patches, a whole page, stats, modules or a summary; any other line is
prose, which people read in the thread.
"""
