"""Projects: who works together, and who may do what.

A *member* has one role: a *viewer* reads and follows, an *editor* does everything but members, plan and deletion, an
*owner* all (`rules.py` is the table). `permissions.py` is the one place that decides: every action starts there.
To a stranger a project does not exist; a member without the right gets an error that names the role. An *invitation* is
a secret link that makes the first who opens it a member. Every user has a *default project*, used if a call names none.
"""
