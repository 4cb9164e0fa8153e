package pool

// Standing is the state of one possible member, as input of Choose.
type Standing struct {
	In      bool // the member is currently wanted
	Alive   bool // its session is alive, and it has not reported that it has finished
	Leaving bool // its session is alive, and it was asked to finish
	Working bool // work in progress is assigned to it
}

// nearness ranks members that are not wanted. Members with a lower rank return first.
func (s Standing) nearness() int {
	switch {
	case s.Alive && !s.Leaving:
		return 0
	case s.Alive:
		return 1
	}
	return 2
}

// departure ranks wanted members. Members with a lower rank leave first.
func (s Standing) departure() int {
	switch {
	case s.Leaving:
		return 0
	case !s.Working:
		return 1
	}
	return 2
}

// Choose changes In so that n members are wanted. all[i-1] is the member with number i. If members must leave,
// they leave in this order: members that are already leaving, members without work, the others; among equals, the
// highest numbers first. If members must return, live members come first, and among them those that are not leaving.
// Among equals, those with work come first, then those with the lowest numbers.
func Choose(all []Standing, n int) {
	have := 0
	for i := range all {
		if all[i].In {
			have++
		}
	}
	for rank := range 3 {
		for i := len(all) - 1; i >= 0 && have > n; i-- {
			if s := &all[i]; s.In && s.departure() == rank {
				s.In = false
				have--
			}
		}
	}
	for near := range 3 {
		for _, working := range [...]bool{true, false} {
			for i := 0; i < len(all) && have < n; i++ {
				if s := &all[i]; !s.In && s.nearness() == near && s.Working == working {
					s.In = true
					have++
				}
			}
		}
	}
}
