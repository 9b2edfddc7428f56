-- A machine on an image outside the lab.
-- guilty: machine: image: '../13-who-gets-large-folios/plain.img.xz:note', expected NAME.img.xz:PATH, a file of an image in the lab's folder, or the one --image names
return {
	guilty = function(try, knobs)
		fl.machine { image = "../13-who-gets-large-folios/plain.img.xz:note" }
	end,
}
