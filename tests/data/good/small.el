# vertices: 4
# a comment
0 1 3
0	2 8 # trailing
% another

1 2 2
2 0 7