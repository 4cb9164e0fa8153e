package effect

// Values of the actor of an event.
const (
	ActorController = "controller"
	ActorOperator   = "operator"
)
