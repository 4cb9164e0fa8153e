package doctor

import (
	"context"
	"strings"

	"gcity/cli/env"
)

// checkPrefs only warns, because gcity runs without the invalid preferences.
func checkPrefs(_ context.Context, p *Subject) finding {
	e := p.env
	f, err := env.PrefsFiles(e)
	if err != nil {
		return note("set HOME", "%v", err)
	}
	if wrong := env.BadPrefs(e); len(wrong) > 0 {
		return note("fix the lines listed here; all other preferences apply", "%s",
			strings.Join(wrong, "\n"))
	}
	if !env.HasPrefs(f) {
		return ok("%s does not exist; the defaults apply", f.Config)
	}
	return ok("%s", f.Config)
}
