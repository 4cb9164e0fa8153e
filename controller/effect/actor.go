package effect

// These are values for the actor of an event.
const (
	ActorController = "controller"
	ActorOperator   = "operator"
)
