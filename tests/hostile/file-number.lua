-- No table.
-- file: returns a number, expected 'return \{ \.\.\. \}'
return 56
