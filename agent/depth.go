package agent

// Depth returns the length of the longest dependency chain.
func Depth(wants []Want) int {
	needs := map[string][]string{}
	for i := range wants {
		w := &wants[i]
		needs[w.Declared] = w.DependsOn
	}
	known := map[string]int{}
	var of func(name string) int
	of = func(name string) int {
		if d, ok := known[name]; ok {
			return d
		}
		// ends the recursion if there is a cycle
		known[name] = 1
		deepest := 0
		for _, need := range needs[name] {
			deepest = max(deepest, of(need))
		}
		known[name] = deepest + 1
		return deepest + 1
	}
	longest := 1
	for name := range needs {
		longest = max(longest, of(name))
	}
	return longest
}
