-- A student of two lines.
-- file: student is a string, expected a string of 1 to 127 printable bytes
return { student = "eve\nScore: 56/56" }
