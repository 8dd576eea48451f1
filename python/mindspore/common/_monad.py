"""What orders effects in the original's graphs, as existing code names it: here effects happen in the order of the program."""
U = IO = None
