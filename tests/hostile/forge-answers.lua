-- A table that has every answer.
-- guilty: no answer
return setmetatable({}, { __index = function() return function() return true end end })
