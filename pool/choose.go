package pool

// Candidate is the state of one possible member, an input to Choose.
type Candidate struct {
	In      bool // the member is currently wanted
	Alive   bool // its session is alive, and it has not reported that it has finished
	Leaving bool // its session is alive, and it was asked to finish
	Working bool // work in progress is assigned to it
}

// addRank ranks members that are not wanted. Choose adds members with a lower rank first.
func (s Candidate) addRank() int {
	switch {
	case s.Alive && !s.Leaving:
		return 0
	case s.Alive:
		return 1
	}
	return 2
}

// removeRank ranks wanted members. Choose removes members with a lower rank first.
func (s Candidate) removeRank() int {
	switch {
	case s.Leaving:
		return 0
	case !s.Working:
		return 1
	}
	return 2
}

// Choose changes In so that n members are wanted. all[i-1] is the member with number i. To shrink the pool, Choose
// first removes members that are already leaving, then members without work, then other members. Among equals, it
// removes the highest numbers first. To grow the pool, it adds live members first, and among them members that are
// not leaving. Among equals, members with work come first, then the lowest numbers.
func Choose(all []Candidate, n int) {
	have := 0
	for i := range all {
		if all[i].In {
			have++
		}
	}
	for rank := range 3 {
		for i := len(all) - 1; i >= 0 && have > n; i-- {
			if s := &all[i]; s.In && s.removeRank() == rank {
				s.In = false
				have--
			}
		}
	}
	for near := range 3 {
		for _, working := range [...]bool{true, false} {
			for i := 0; i < len(all) && have < n; i++ {
				if s := &all[i]; !s.In && s.addRank() == near && s.Working == working {
					s.In = true
					have++
				}
			}
		}
	}
}
