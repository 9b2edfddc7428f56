-- An error that is a table.
-- guilty: error object: table
return {
	guilty = function(try, knobs)
		error({})
	end,
}
