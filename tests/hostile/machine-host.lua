-- A machine on the host's disk.
-- guilty: machine: --disk: disk host without a file, expected --file PATH
return {
	guilty = function(try, knobs)
		fl.machine { fs = "hostfs", disk = "host" }
	end,
}
