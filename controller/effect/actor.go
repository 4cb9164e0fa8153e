package effect

// Actors of events.
const (
	ActorController = "controller"
	ActorOperator   = "operator"
)
