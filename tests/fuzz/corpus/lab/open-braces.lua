lab { title = "A", summary = "B.", minutes = 1, steps = { step { id = "x", title = "X", brief = "{{", questions = {} } } }
