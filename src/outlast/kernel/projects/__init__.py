"""Projects: members and their rights.

A *member* has one role: a *viewer* reads and follows, an *editor* does everything but members, plan and deletion, an
*owner* everything (`rules.py` is the table). `permissions.py` is the one place that decides: every action starts there.
For a stranger a project does not exist; a member without the right gets an error that names the role. An *invitation*
is a secret link that makes its first user a member. Every user has a *default project*, used if a call names none.
"""
