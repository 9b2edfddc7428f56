lab(lab)
