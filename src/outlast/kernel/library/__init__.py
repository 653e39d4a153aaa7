"""What agents look things up in: documentation, modules that they saved, and what earlier runs did. The kernel has the
ports and their shapes; an app implements them."""
