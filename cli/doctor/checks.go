package doctor

import "context"

// check is one check of doctor.
type check struct {
	// title of the check's finding, or "" if each finding has its own title
	title string
	run   func(ctx context.Context, p *Subject) []finding // run must not change anything
	// fix returns the problems that --fix can repair; it is nil if none can be repaired
	fix func(dir string) []repair
}

// one adapts a check that returns a single finding.
func one(look func(ctx context.Context, p *Subject) finding) func(context.Context,
	*Subject) []finding {
	return func(ctx context.Context, p *Subject) []finding { return []finding{look(ctx, p)} }
}

// checks returns all checks in the order of the report.
func checks() []check {
	return []check{
		{"configuration", one(checkCity), nil},
		{"trust", one(checkTrust), nil},
		{"agents", one(checkAgents), nil},
		{"programs", one(checkPrograms), nil},
		{"rigs", one(checkRigs), nil},
		{"automations", one(checkAutomations), nil},
		{"formulas", one(checkFormulas), nil},
		{"overrides", one(checkOverrides), nil},
		{"folder .gc", one(checkFolder), openFolder},
		{"leftovers", one(checkLeftovers), leftovers},
		{"controller", one(checkController), nil},
		{"versions", one(checkVersions), nil},
		{"API", one(checkAPI), nil},
		{"sessions", one(checkSessions), nil},
		{"crashes", one(checkQuarantine), nil},
		{"stray processes", one(checkStrays), nil},
		{"waiting work", one(CheckStranded), nil},
		{"event log", one(checkLog), nil},
		{"event script", one(checkMirror), nil},
		{"bd server", one(checkDolt), nil},
		{"file system", one(checkFileSystem), nil},
		{"disk space", one(checkSpace), nil},
		{"clock", one(checkClock), nil},
		{"git", one(checkGit), nil},
		{"terminals", one(checkTerminals), nil},
		{"open files", one(checkFiles), nil},
		{"processes", one(checkTasks), nil},
		{"inotify", one(checkInotify), nil},
		{"logout", one(checkLinger), nil},
		{"owners", one(checkOwner), nil},
		{"", checkServices, nil},
		{"", checkProviders, nil},
		{"", checkStores, nil},
		{"preferences", one(checkPrefs), nil},
		{"supervisor", one(checkSupervisor), nil},
	}
}

// examine runs all checks.
func examine(ctx context.Context, p *Subject) []finding {
	var found []finding
	for _, c := range checks() {
		for _, f := range c.run(ctx, p) {
			if c.title != "" {
				f.Check = c.title
			}
			found = append(found, f)
		}
	}
	return found
}

// allRepairs returns the problems in a city's folder that --fix can repair.
func allRepairs(dir string) []repair {
	var out []repair
	for _, c := range checks() {
		if c.fix != nil {
			out = append(out, c.fix(dir)...)
		}
	}
	return out
}
