package doctor

import (
	"context"
	"strings"

	"gcity/cli/env"
)

// checkPrefs says where the preferences are, and what is wrong in them. They never keep anything from working.
func checkPrefs(_ context.Context, p *Patient) finding {
	e := p.env
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
