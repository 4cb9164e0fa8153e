package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"gcity/beads"
	"gcity/beads/bd"
	"gcity/city"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/cli/workstore"
	"gcity/config"
	"gcity/describe"
	"gcity/trust"
)

// How long doctor looks at one store, and waits for one that is locked.
const (
	examineTimeout = 20 * time.Second
	probeTimeout   = 3 * time.Second
)

// checkStores looks over the work of the city and of each rig whose folder is there. Unless the command is
// read-only, it also tries whether they can be written.
func checkStores(ctx context.Context, p *Patient) []finding {
	var found []finding
	write := !p.env.ReadOnly
	missing := map[string]string{}
	at := workstore.PlacesOf(p.dir, &city.Snapshot{})
	switch {
	case p.config != nil:
		at = workstore.Places(p.config)
		for _, r := range folder.RigPlan(p.config) {
			missing[r.Name] = r.Problem
		}
	case p.Running != nil:
		at = workstore.PlacesOf(p.dir, p.Running)
	}
	for _, where := range at {
		name := "work"
		if where.Rig != "" {
			name += " of rig " + where.Rig
		}
		if missing[where.Rig] != "" {
			found = append(found, finding{Check: name, State: "note", Detail: "not looked at: " +
				missing[where.Rig]})
			continue
		}
		for _, f := range examinePlace(ctx, where, write) {
			f.Check = name
			found = append(found, f)
		}
	}
	return found
}

func examinePlace(ctx context.Context, where workstore.Place, write bool) []finding {
	ctx, cancel := context.WithTimeout(ctx, examineTimeout)
	defer cancel()
	if where.By.Provider != "" {
		return examineForeign(ctx, where)
	}
	c, unread, err := workstore.ExamineStore(ctx, where)
	if err == nil && c.There && write {
		short, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		err = workstore.ProbeStore(short, where)
	}
	found := judgeStore(where, c, unread, err)
	// the city's has a line of its own
	if space := checkSpace(ctx, &Patient{dir: where.Dir}); where.Rig != "" && space.State == "bad" {
		found = append(found, space)
	}
	return found
}

// examineForeign asks another program for the work that it keeps.
func examineForeign(ctx context.Context, where workstore.Place) []finding {
	unread, err := workstore.AskStore(ctx, where)
	if _, untrusted := errors.AsType[*trust.Refusal](err); untrusted {
		return []finding{untried()}
	}
	if err != nil {
		return []finding{bad("do what it says; until then nothing is known of this work, and "+
			"nobody can change it", "kept by %s: %v", output.SafeLine(where.By.Provider), err)}
	}
	if n := len(unread); n > 0 {
		return []finding{note("look at them with the program itself; the others are not "+
			"touched by it", "kept by %s: %s cannot be read and are left alone, %s first: %s",
			output.SafeLine(where.By.Provider), describe.Count(n, "record"),
			output.SafeLine(unread[0].ID), output.SafeLine(unread[0].Reason))}
	}
	return []finding{ok("kept by %s, which answers", output.SafeLine(where.By.Provider))}
}

// judgeStore says what is wrong with a store, each with what to do about it; that it is well, if nothing is.
func judgeStore(where workstore.Place, c workstore.Condition, unread []beads.Aside,
	err error) []finding {
	folder := filepath.Join(where.Dir, folder.WorkFolder)
	var found []finding
	if _, _, err := where.Ledger().Read(); err != nil {
		found = append(found, note("the next bead that is made writes it again", "%v", err))
	}
	lost := workstore.LostStore(err)
	switch {
	case lost != nil:
		fix := fmt.Sprintf("`%s` restores the newest backup; `%s --new-store` accepts "+
			"what is there", lost.How, lost.How)
		found = append(found, bad(fix, "%v", err))
	case errors.Is(err, context.DeadlineExceeded):
		found = append(found, bad("end or continue who has it: `fuser "+folder+
			"/*` names the processes; everybody else waits and is told so", "%v", err))
	case err != nil:
		found = append(found, bad("do what it says; `gcity bead export FILE` saves what can "+
			"still be read", "%v", err))
	}
	if len(c.Damage) > 0 {
		fix := fmt.Sprintf("`gcity bead export FILE` saves what can be read; `%s` restores the "+
			"newest backup",
			where.Ledger().Restore)
		found = append(found, bad(fix, "damaged: %s", strings.Join(c.Damage, " | ")))
	}
	if n := len(unread); n > 0 {
		first := unread[0]
		found = append(found, note("use the gcity that wrote them; the others are not "+
			"touched by it", "%s cannot be read by this one and are left alone, %s first: %s",
			describe.Count(n, "record"), output.SafeLine(first.ID), output.SafeLine(first.Reason)))
	}
	if len(c.Exposed) > 0 {
		found = append(found, note("chmod go-rwx "+folder+"/beads.db*, and go-w "+folder,
			"others may look into it: %s", strings.Join(c.Exposed, ", ")))
	}
	if c.Log > workstore.LargeLog {
		found = append(found, note("end whoever reads it for long: `fuser "+folder+
			"/beads.db` names the processes",
			"its write-ahead log has %s: a reader that does not end keeps it from being taken in",
			output.ByteSize(uint64(c.Log))))
	}
	if len(c.Strangers) > 0 {
		found = append(found, strangers(folder, c))
	}
	if len(found) > 0 {
		return found
	}
	if !c.There {
		return []finding{ok("none yet")}
	}
	return []finding{ok("whole, schema %d", c.Schema)}
}

// strangers tells of files in a store's folder that are not gcity's: those of the tool bd, perhaps, whose folder has
// this name.
func strangers(folder string, c workstore.Condition) finding {
	const most = 4
	names := strings.Join(c.Strangers[:min(most, len(c.Strangers))], ", ")
	if more := len(c.Strangers) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	fix := "nothing has to be done; to take work over from bd: `gcity bead import FILE`, with " +
		"what it exports"
	if c.There {
		return note(fix, "%s has files of another program, bd perhaps (%s): they are left alone, "+
			"and that program knows nothing of gcity's beads.db beside them", folder,
			output.SafeLine(names))
	}
	return note(fix, "%s is another program's, bd's perhaps (%s): nothing of it is touched; the "+
		"first bead makes a beads.db of gcity's own beside it", folder, output.SafeLine(names))
}

// checkDolt asks the database server that is configured for bd.
func checkDolt(ctx context.Context, p *Patient) finding {
	if p.config == nil || p.config.Beads.Keeper() != "bd" {
		return ok("not needed")
	}
	s := workstore.DoltServer(p.config)
	host, port := p.config.Dolt.Server()
	switch {
	case s != nil:
		host, port = s.Host, s.Port
	case port == 0:
		return ok("bd finds its database by itself")
	}
	err := bd.Answers(ctx, host, port)
	switch {
	case err == nil && s != nil && s.Runs():
		return ok("gcity runs it, %s:%d", host, port)
	case err == nil:
		return ok("it answers at %s:%d", host, port)
	case s != nil && p.Running == nil:
		return ok("gcity starts it with the city")
	case s != nil:
		return bad("see "+filepath.Join(s.State, "server.log")+
			"; gcity tries again every few seconds", "%v", err)
	}
	return bad("start that server, or change [dolt] in "+config.FileName, "%v", err)
}
