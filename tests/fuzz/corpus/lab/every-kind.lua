return lab { title = "Fuzz", summary = "Every kind.", minutes = 1, steps = {
 step { id = "one", title = "One", brief = "{{n}} and {{s.n}}", prepare = function(s) s.n = 4 end,
  run = function(s) local m = fl.machine { size = "1m" } m:read(4096) print(m:stats()) end,
  questions = {
   ask.number { id = "n", points = 1, text = "{{n}}?", unit = "k", percent = 5, answer = function(s) return s.n end },
   ask.list { id = "l", points = 1, text = "?", answer = function(s) return { 1, 2 } end },
   ask.choice { id = "c", points = 1, text = "?", keep = true, options = { "a", "b" }, answer = function(s) return 1 end },
   ask.order { id = "o", points = 1, text = "?", items = { "a", "b", "c" }, answer = function(s) return { 3, 1, 2 } end },
   ask.func { id = "f", points = 1, text = "?", budget = 9, check = function(s, f) return f(3) == 4 end },
   ask.workload { id = "w", points = 1, max_ops = 4, text = "?", check = function(s, w) return true end },
  } } } }
