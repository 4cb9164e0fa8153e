package doctor

import "context"

type check struct {
	// "" = the findings have their own titles
	title string
	run   func(ctx context.Context, p *Subject) []finding
	// nil = --fix cannot repair anything
	fix     func(dir string) []repair
	machine bool // needs no city
}

func one(look func(ctx context.Context, p *Subject) finding) func(context.Context,
	*Subject) []finding {
	return func(ctx context.Context, p *Subject) []finding { return []finding{look(ctx, p)} }
}

func checks() []check {
	return []check{
		{"configuration", one(checkCity), nil, false},
		{"trust", one(checkTrust), nil, false},
		{"agents", one(checkAgents), nil, false},
		{"programs", one(checkPrograms), nil, false},
		{"rigs", one(checkRigs), nil, false},
		{"automations", one(checkAutomations), nil, false},
		{"formulas", one(checkFormulas), nil, false},
		{"overrides", one(checkOverrides), nil, false},
		{"folder .gc", one(checkFolder), openFolder, false},
		{"leftovers", one(checkLeftovers), leftovers, false},
		{"controller", one(checkController), nil, false},
		{"versions", one(checkVersions), nil, false},
		{"API", one(checkAPI), nil, false},
		{"sessions", one(checkSessions), nil, false},
		{"crashes", one(checkQuarantine), nil, false},
		{"stray processes", one(checkStrays), nil, false},
		{"waiting work", one(CheckStranded), nil, false},
		{"event log", one(checkLog), nil, false},
		{"event script", one(checkMirror), nil, false},
		{"bd server", one(checkDolt), nil, false},
		{"file system", one(checkFileSystem), nil, true},
		{"disk space", one(checkSpace), nil, true},
		{"clock", one(checkClock), nil, true},
		{"git", one(checkGit), nil, false},
		{"terminals", one(checkTerminals), nil, true},
		{"open files", one(checkFiles), nil, true},
		{"processes", one(checkTasks), nil, true},
		{"inotify", one(checkInotify), nil, true},
		{"logout", one(checkLinger), nil, true},
		{"owners", one(checkOwner), nil, false},
		{"", checkServices, nil, false},
		{"", checkProviders, nil, false},
		{"", checkStores, nil, false},
		{"preferences", one(checkPrefs), nil, true},
		{"supervisor", one(checkSupervisor), nil, true},
	}
}

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

func allRepairs(dir string) []repair {
	var out []repair
	for _, c := range checks() {
		if c.fix != nil {
			out = append(out, c.fix(dir)...)
		}
	}
	return out
}
