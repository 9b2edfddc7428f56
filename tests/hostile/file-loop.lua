-- A file that never returns.
-- file: limit instructions:
while true do end
