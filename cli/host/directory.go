package host

import (
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
)

// OpenDirectory opens the list of the cities of the supervisor. It returns nil without an error if no supervisor is
// running. Without an error closeIt is never nil.
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
