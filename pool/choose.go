package pool

// Candidate is the state of one possible member.
type Candidate struct {
	In      bool
	Alive   bool // its session is alive, and it has not reported that it has finished
	Leaving bool // its session is alive, and it was asked to finish
	Working bool
}

// Choose adds lower ranks first
func (s Candidate) addRank() int {
	switch {
	case s.Alive && !s.Leaving:
		return 0
	case s.Alive:
		return 1
	}
	return 2
}

// Choose removes lower ranks first
func (s Candidate) removeRank() int {
	switch {
	case s.Leaving:
		return 0
	case !s.Working:
		return 1
	}
	return 2
}

// Choose changes In so that it is true for n members. all[i-1] is member number i. To shrink the pool, it removes
// leaving members first, then members without work, then the highest numbers. To grow the pool, it adds live members
// first, then members with work, then the lowest numbers.
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
