package cli

import (
	"gcity/city"
	"gcity/cli/exit"
)

// As in wire.go: how the cities of this machine are reached.

// openDirectory opens the list of the cities that the supervisor keeps. nil without an error: no supervisor runs. closeIt is
// never nil where there is no error.
func (a *app) openDirectory() (d city.Directory, closeIt func(), err error) {
	f, _, err := a.dialSupervisor()
	if exit.IsStill(err) {
		return nil, func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}
