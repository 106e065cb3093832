Creator "a program"
graph
[
  node [ id 1 ]
]
