"""What runs a plan: the C compiler and its cache, memory, threads, and the executors."""
