package env

import "gcity/supervisor"

// SupervisorHome is the folder of the supervisor's files and socket.
type SupervisorHome = supervisor.Home

// Home returns the supervisor's folder for this environment.
func Home(e *Env) (SupervisorHome, error) { return supervisor.FindHome(e.Getenv) }

// HomeDir returns the path of the supervisor's folder for this environment.
func HomeDir(e *Env) (string, error) {
	h, err := Home(e)
	return h.Dir, err
}
