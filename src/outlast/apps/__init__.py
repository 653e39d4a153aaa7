"""The apps: each is one folder with its tables, rules, store, actions, agent, routes and commands."""
