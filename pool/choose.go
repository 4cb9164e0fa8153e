package pool

// Standing is the state of one possible member, as far as it matters for choosing which members leave and which
// return.
type Standing struct {
	In      bool // it is currently wanted
	Alive   bool // its session is alive and has not finished
	Leaving bool // it is alive and has been asked to finish
	Working bool // work in progress is assigned to it
}

// nearness ranks the members that are not wanted. A lower value returns first.
func (s Standing) nearness() int {
	switch {
	case s.Alive && !s.Leaving:
		return 0
	case s.Alive:
		return 1
	}
	return 2
}

// Choose changes In so that n members are wanted. all[i-1] is the i-th member. Wanted members stay wanted if there
// is room. Members without work leave first, the highest numbers before the others. Live members return first,
// those that are not leaving before those that are. Then members with work return, then the lowest numbers.
func Choose(all []Standing, n int) {
	have := 0
	for i := range all {
		if all[i].In {
			have++
		}
	}
	for _, working := range [...]bool{false, true} {
		for i := len(all) - 1; i >= 0 && have > n; i-- {
			if s := &all[i]; s.In && s.Working == working {
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
