package env

import "gcity/supervisor"

// SupervisorHome is the folder of a supervisor's files, with its socket.
type SupervisorHome = supervisor.Home

// Home returns where the cities of this environment are registered.
func Home(e *Env) (SupervisorHome, error) { return supervisor.FindHome(e.Getenv) }

// HomeDir returns the folder of Home.
func HomeDir(e *Env) (string, error) {
	h, err := Home(e)
	return h.Dir, err
}
