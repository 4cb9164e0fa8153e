package beads

// ClosedError is the error of a store that failed repeatedly and is not called before its next probe.
type ClosedError struct {
	Text string
	Why  error
}

func (e *ClosedError) Error() string { return e.Text }

func (e *ClosedError) Unwrap() error { return e.Why }

// ScopeTitle returns how messages call the owner of a store: "" is the city, anything else a rig.
func ScopeTitle(scope string) string {
	if scope == "" {
		return "the city"
	}
	return "rig " + scope
}
