-- A machine on a host file.
-- guilty: machine: file: '/etc/passwd', expected a file in the lab's folder, or the one --file names
return {
	guilty = function(try, knobs)
		fl.machine { file = "/etc/passwd" }
	end,
}
