package doctor

import (
	"context"

	"gcity/internal/redact"
)

type check struct {
	title string
	look  func(ctx context.Context, p *Subject) finding
	// replaces look if there can be several findings, which have their own titles
	all func(ctx context.Context, p *Subject) []finding
	// nil = --fix cannot repair anything
	fix     func(dir string) []repair
	machine bool // needs no city
}

// configured returns a check that needs a valid configuration.
func configured(look func(context.Context, *Subject) finding) func(context.Context,
	*Subject) finding {
	return func(ctx context.Context, p *Subject) finding {
		if p.config == nil {
			return note("", "not checked: the configuration is invalid")
		}
		return look(ctx, p)
	}
}

func checks() []check {
	return []check{
		{title: "configuration", look: checkCity},
		{title: "trust", look: checkTrust},
		{title: "agents", look: configured(checkAgents)},
		{title: "programs", look: configured(checkPrograms)},
		{title: "options", look: configured(checkOptions)},
		{title: "rigs", look: configured(checkRigs)},
		{title: "automations", look: configured(checkAutomations)},
		{title: "formulas", look: configured(checkFormulas)},
		{title: "overrides", look: checkOverrides},
		{title: "folder .gc", look: checkFolder, fix: openFolder},
		{title: "leftovers", look: checkLeftovers, fix: leftovers},
		{title: "controller", look: checkController},
		{title: "versions", look: checkVersions},
		{title: "API", look: configured(checkAPI)},
		{title: "sessions", look: checkSessions},
		{title: "crashes", look: checkQuarantine},
		{title: "stray processes", look: checkStrays},
		{title: "waiting work", look: CheckStranded},
		{title: "event log", look: checkLog},
		{title: "event script", look: checkMirror},
		{title: "bd server", look: checkDolt},
		{title: "file system", look: checkFileSystem, machine: true},
		{title: "disk space", look: checkSpace, machine: true},
		{title: "clock", look: checkClock, machine: true},
		{title: "git", look: configured(checkGit)},
		{title: "terminals", look: checkTerminals, machine: true},
		{title: "open files", look: checkFiles, machine: true},
		{title: "processes", look: checkTasks, machine: true},
		{title: "inotify", look: checkInotify, machine: true},
		{title: "logout", look: checkLinger, machine: true},
		{title: "owners", look: checkOwner},
		{all: checkServices},
		{all: checkProviders},
		{all: checkStores},
		{title: "preferences", look: checkPrefs, machine: true},
		{title: "supervisor", look: checkSupervisor, machine: true},
	}
}

// examine runs all checks or, if onlyMachine is set, those that do not need a city.
func examine(ctx context.Context, p *Subject, onlyMachine bool) []finding {
	var found []finding
	for _, c := range checks() {
		switch {
		case onlyMachine && !c.machine:
		case c.all != nil:
			found = append(found, c.all(ctx, p)...)
		default:
			f := c.look(ctx, p)
			f.Check = c.title
			found = append(found, f)
		}
	}
	for i := range found {
		found[i].Detail = redact.Text(found[i].Detail)
	}
	return found
}
