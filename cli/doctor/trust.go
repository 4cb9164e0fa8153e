package doctor

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/config"
	"gcity/internal/ownership"
	"gcity/trust"
)

func checkTrust(_ context.Context, p *Subject) finding {
	if why, always := folder.Ledger().Always(p.dir); always {
		return ok("the city is trusted, because of %s", why)
	}
	err := p.grant.Err()
	if r, untrusted := errors.AsType[*trust.Refusal](err); untrusted {
		return note("`"+r.Command()+"`",
			"the city is not trusted: %s; doctor does not run them, so some checks are incomplete",
			r.Why)
	}
	if err != nil {
		return bad("repair or remove the file named in the error", "%v", err)
	}
	return ok("the city is trusted")
}

func notTested() finding {
	return note(`see the finding "trust"`, "not checked: the city is not trusted")
}

func checkOwner(_ context.Context, p *Subject) finding {
	paths := []string{p.dir, filepath.Join(p.dir, config.FileName)}
	if p.config != nil {
		paths = append(paths, p.config.Sources...)
		for _, q := range folder.ProgramsOf(p.config) {
			paths = append(paths, q.Files...)
		}
	}
	if home, err := env.Home(p.env); err == nil {
		paths = append(paths, home.Registry(), home.Settings())
	}
	if f, err := env.PrefsFiles(p.env); err == nil {
		paths = append(paths, f.Config)
	}
	var faults, fixes []string
	seen := map[string]bool{}
	for _, path := range paths {
		f, is := errors.AsType[*ownership.Fault](ownership.Check(path))
		if is && !seen[f.Path] {
			seen[f.Path] = true
			faults, fixes = append(faults, f.Error()), append(fixes, f.Fix)
		}
	}
	if len(faults) > 0 {
		return bad(strings.Join(fixes, "; "), "%s", strings.Join(faults, "\n"))
	}
	if p.config == nil {
		return note(`see the finding "configuration"`,
			"only city.toml was checked: the configuration is invalid")
	}
	return ok("only you and root can change the configuration")
}
