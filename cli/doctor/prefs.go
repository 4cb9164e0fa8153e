package doctor

import (
	"context"
	"strings"

	"gcity/cli/env"
)

// checkPrefs reports where the preferences are, and errors in them. Errors never prevent work.
func checkPrefs(_ context.Context, p *Patient) finding {
	e := p.env
	f, err := env.PrefsFiles(e)
	if err != nil {
		return note("set HOME", "%v", err)
	}
	if wrong := env.BadPrefs(e); len(wrong) > 0 {
		return note("the valid part applies; correct what is named here", "%s",
			strings.Join(wrong, "\n"))
	}
	return ok("%s", f.Config)
}
