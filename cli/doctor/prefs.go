package doctor

import (
	"strings"

	"gcity/cli/env"
)

// doctorPrefs says where the preferences are, and what is wrong in them. They never keep anything from working.
func doctorPrefs(e *env.Env) finding {
	f, err := env.PrefsFiles(e)
	if err != nil {
		return note("set HOME", "%v", err)
	}
	if wrong := env.BadPrefs(e); len(wrong) > 0 {
		return note("the rest of it counts; change what is named here", "%s",
			strings.Join(wrong, "\n"))
	}
	return ok("%s", f.Config)
}
