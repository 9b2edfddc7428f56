-- A machine on the lab's own text.
-- guilty: machine: file: 'lab\.lua', expected a file in the lab's folder, or the one --file names
return {
	guilty = function(try, knobs)
		fl.machine { file = "lab.lua" }
	end,
}
