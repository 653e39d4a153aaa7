"""Knowledge of agents: documentation, modules that they saved, and memories of earlier runs. The kernel has the ports
and their shapes; an app implements them."""
