"""Search services, one adapter each. The results are at most as many as asked for, best first."""
