0 1 2
0 2 heavy
