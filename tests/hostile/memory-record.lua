-- A recording of a billion events.
-- guilty: bad argument #1 to 'record' \(1 to 4194304 slots expected\)
return {
	guilty = function(try, knobs)
		local m = fl.machine {}
		m:record(1 << 40)
	end,
}
