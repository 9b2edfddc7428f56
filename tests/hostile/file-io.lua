-- A file that reads another.
-- file: attempt to index a nil value \(global 'io'\)
local f = io.open("/etc/passwd")
return { guilty = f }
