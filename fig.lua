figure("a", plot.bars{ title = "t", values = { x = 1, y = 3 } })
