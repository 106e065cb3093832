M 2|M 2
M 2|M 1
