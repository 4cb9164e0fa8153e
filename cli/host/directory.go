package host

import (
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
)

// OpenDirectory opens the list of the cities that the supervisor keeps. nil without an error: no supervisor runs.
// closeIt is never nil where there is no error.
func OpenDirectory(e *env.Env) (d city.Directory, closeIt func(), err error) {
	f, _, err := DialSupervisor(e)
	if exit.IsStill(err) {
		return nil, func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}
