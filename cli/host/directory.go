package host

import (
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
)

// OpenDirectory opens the supervisor's list of cities. If no supervisor is running, d and err are nil. closeIt is nil
// only after an error.
func OpenDirectory(e *env.Env) (d city.Directory, closeIt func(), err error) {
	f, _, err := DialSupervisor(e)
	if exit.IsStopped(err) {
		return nil, func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}
