"""MCP servers: tools of other programs, offered to the agents of a project.

A project's owner adds a server by its address. Its tools are listed (`connection.py`, over `sdk.py`) and kept as they
were described (`definitions.py`). A tool is offered to agents once an owner has allowed exactly this description;
if the server changes the tool, it is withheld until it is allowed again. `tools.py` makes a `Tool` of each allowed one:
people read its name as `linear.create_issue`, models as `linear__create_issue`.
"""
