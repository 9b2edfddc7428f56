-- A student who is a table.
-- file: student is a table, expected a string of 1 to 127 printable bytes
return { student = {} }
