"""The same kills for Outlast and for another maker's server, each as two servers on one PostgreSQL and one Redis."""
