package pty

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/pty/internal/wire"
)

// A city is its folder: one that is moved takes its sessions along. Whoever is found at the place where it was, a
// copy of it for instance, is another city.

func cwdOf(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/cwd" }

// isIn reports whether a holder lives in a folder of this city, wherever that was when it began: a folder that is
// moved takes its sessions along.
func (p *Provider) isIn(pid int, name string) bool {
	return same(cwdOf(pid), p.at+"/"+name)
}

// movedHere makes a session of a city that was moved one of the city where it is now. Its agent was told of another
// folder, so it differs from what is wanted.
func (p *Provider) movedHere(s wire.State) wire.State {
	r := &s.Record
	if r.City == p.city {
		return s
	}
	p.log.Warn("a session was begun where the city was before it was moved", "session", r.Name,
		"city", r.City)
	var f session.Fingerprint
	if json.Unmarshal(r.Fingerprint, &f) != nil || f.Fields == nil {
		f.Fields = map[string]string{}
	}
	f.Sum, f.Fields["folder "+r.City] = "moved", ""
	r.City = p.city
	r.Fingerprint, _ = json.Marshal(f) // strings only: it cannot fail
	return s
}

// elsewhere reports whether a session's folder, as /proc names it, is in another city, or was until somebody
// deleted it.
func (p *Provider) elsewhere(cwd, name string) bool {
	inside, ok := strings.CutPrefix(p.dir, p.city)
	at, found := strings.CutSuffix(strings.TrimSuffix(cwd, " (deleted)"), inside+"/"+name)
	if !ok || !found || at == "" {
		return false
	}
	if _, err := os.Stat(at); err != nil { // what is named is no more, or not to be seen from here
		return false
	}
	state := filepath.Dir(inside) // may be a link
	return !same(at, p.city) && !same(at+state, p.city+state)
}

func same(a, b string) bool {
	is, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(is, other)
}

// wentAway reports whether the holder of a record lives in the city that was here and was moved.
func (p *Provider) wentAway(rec wire.Record) bool {
	if rec.Boot != p.boot || !proc.Lives(rec.Holder, rec.HolderStart) {
		return false
	}
	cwd, err := os.Readlink(cwdOf(rec.Holder))
	return err == nil && p.elsewhere(cwd, rec.Name)
}
