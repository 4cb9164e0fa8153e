package exit

import (
	"errors"

	"gcity/api/client"
	"gcity/beads"
	"gcity/city"
	"gcity/controller"
	"gcity/supervisor"
)

// IsStopped reports whether err means that the city is not running.
func IsStopped(err error) bool {
	code, _ := Verdict(err)
	return code == CodeNotRunning
}

// IsNotFound reports whether err means that an object or a bead does not exist.
func IsNotFound(err error) bool {
	return city.HasCode(err, city.NotFound) || errors.Is(err, beads.ErrNotFound)
}

// IsNotRunning reports whether err means that no controller is running.
func IsNotRunning(err error) bool { return errors.Is(err, client.ErrNotRunning) }

// IsInterrupted reports whether err means that the controller exited before it finished a command.
func IsInterrupted(err error) bool {
	problem, ok := errors.AsType[*city.Error](err)
	return errors.Is(err, client.ErrEnded) || ok && (problem.Details == city.Ended ||
		problem.Code == city.Unavailable && problem.Details == nil && endsStream(problem.Message))
}

// endsStream reports whether older versions, which send no details, end a stream with this message.
func endsStream(message string) bool {
	return message == "the city's controller has stopped" || message == "the supervisor has stopped"
}

// IsSilent reports whether err means that the controller accepts connections but does not respond.
func IsSilent(err error) bool { return errors.Is(err, client.ErrUnresponsive) }

// AlreadyRunning reports whether err means that another controller holds the city's lock, or that another supervisor is
// running.
func AlreadyRunning(err error) bool {
	var r *controller.RunningError
	var s *supervisor.RunningError
	return errors.As(err, &r) || errors.As(err, &s)
}
