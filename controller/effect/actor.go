package effect

// These are values of an event's actor.
const (
	ActorController = "controller"
	ActorOperator   = "operator"
)
