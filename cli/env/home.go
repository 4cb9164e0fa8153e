package env

import "gcity/supervisor"

// SupervisorHome says where a supervisor keeps its files and where it is found.
type SupervisorHome = supervisor.Home

// Home says where cities of this environment are registered.
func Home(e *Env) (SupervisorHome, error) { return supervisor.FindHome(e.Getenv) }

// HomeDir is its folder.
func HomeDir(e *Env) (string, error) {
	h, err := Home(e)
	return h.Dir, err
}
