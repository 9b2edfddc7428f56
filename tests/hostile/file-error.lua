-- An error before anything else.
-- file: oops
error("oops")
