lab { title = "A", summary = "B.", minutes = -1, steps = { 1, {}, step {} } }
