0 1 inf
1 2 1e309
