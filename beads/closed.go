package beads

// ClosedError means that a store has failed repeatedly. gcity does not call it until the next probe.
type ClosedError struct {
	Text string
	Why  error
}

func (e *ClosedError) Error() string { return e.Text }

func (e *ClosedError) Unwrap() error { return e.Why }

// ScopeTitle returns the name of a scope for messages. The scope "" is the city; any other scope is a rig.
func ScopeTitle(scope string) string {
	if scope == "" {
		return "the city"
	}
	return "rig " + scope
}
