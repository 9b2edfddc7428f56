-- Fields a grader might read.
-- guilty: guilty: a boolean, expected a function
return { score = 56, points = 56, right = true, guilty = true, expect = { score = 56 } }
