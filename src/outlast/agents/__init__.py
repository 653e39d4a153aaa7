"""Agent profiles: how each agent behaves. `profiles/` holds one file a profile, `tools/` one file a tool, `context`
turns a thread's history into what a model is told, `workspaces` finds the sandbox a run works in. Registered in
`app.py`.
"""
