package exit

import (
	"errors"

	"gcity/api/client"
	"gcity/beads"
	"gcity/city"
	"gcity/controller"
	"gcity/supervisor"
)

// IsStill recognises the error that the city is not running.
func IsStill(err error) bool {
	code, _ := Verdict(err)
	return code == CodeNotRunning
}

func IsNotFound(err error) bool {
	return HasCode(err, city.NotFound) || errors.Is(err, beads.ErrNotFound)
}

// IsNotRunning recognises the error that no controller responds.
func IsNotRunning(err error) bool { return errors.Is(err, client.ErrNotRunning) }

// IsCut recognises the error that the controller exited before it carried a command out.
func IsCut(err error) bool {
	problem, ok := errors.AsType[*city.Error](err)
	return errors.Is(err, client.ErrEnded) || ok && problem.Details == city.Ended
}

// IsSilent recognises the error that the controller accepts connections but does not respond.
func IsSilent(err error) bool { return errors.Is(err, client.ErrSilent) }

// AlreadyRunning recognises the error that another controller holds the city.
func AlreadyRunning(err error) bool {
	var r *controller.RunningError
	var s *supervisor.RunningError
	return errors.As(err, &r) || errors.As(err, &s)
}
