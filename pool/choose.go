package pool

// Standing is how a possible member stands, as far as it matters for who leaves and who comes back.
type Standing struct {
	In      bool // it is one of those that are wanted
	Alive   bool // its session lives and has not finished
	Leaving bool // it lives, and has been told to finish
	Working bool // work in progress is assigned to it
}

// nearness orders those who are not wanted: whoever is nearest to going on comes back first.
func (s Standing) nearness() int {
	switch {
	case s.Alive && !s.Leaving:
		return 0
	case s.Alive:
		return 1
	}
	return 2
}

// Choose settles which members are wanted, where that has to be n of them; all[i-1] is the i-th. Whoever is In stays so
// if there is room. Those without work leave first, and of these the highest numbers. Who lives comes back first,
// and first of all who was not told to finish; then who has work to go on with; then the lowest numbers.
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
