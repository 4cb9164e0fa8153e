package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"gcity/agent"
	"gcity/beads"
	"gcity/beads/bd"
	"gcity/beads/sqlite"
	"gcity/city"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/cli/workstore"
	"gcity/config"
	"gcity/describe"
	"gcity/internal/span"
	"gcity/trust"
)

const (
	examineTimeout = 20 * time.Second
	probeTimeout   = 3 * time.Second
)

// errLarge means that a store responds, but cannot be read completely within examineTimeout.
var errLarge = fmt.Errorf("not checked completely: the store responds, but reading all of it "+
	"takes longer than %s", span.Text(examineTimeout))

func checkStores(ctx context.Context, p *Subject) []finding {
	var found []finding
	write := !p.env.ReadOnly
	missing := map[string]string{}
	at := workstore.PlacesOf(p.dir, &city.Snapshot{})
	switch {
	case p.config != nil:
		at = workstore.Places(p.config)
		for _, r := range agent.Rigs(p.config) {
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
			found = append(found, finding{Check: name, State: "note", Detail: "not checked: " +
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
	slow := errors.Is(err, context.DeadlineExceeded)
	if (slow || err == nil && c.Exists) && write {
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
		defer cancel()
		switch probed := workstore.ProbeStore(short, where); {
		case err == nil:
			err = probed
		case probed == nil:
			err = errLarge
		}
	}
	found := judgeStore(where, c, unread, err)
	// another check covers the city's own disk
	if space := checkSpace(ctx, &Subject{dir: where.Dir}); where.Rig != "" && space.State == "bad" {
		found = append(found, space)
	}
	return found
}

func examineForeign(ctx context.Context, where workstore.Place) []finding {
	unread, err := workstore.AskStore(ctx, where)
	if _, untrusted := errors.AsType[*trust.Refusal](err); untrusted {
		return []finding{notTested()}
	}
	if err != nil {
		return []finding{bad("fix the problem that the error describes; until then this work "+
			"cannot be read or changed", "stored by %s: %v",
			output.SafeLine(where.By.Provider), err)}
	}
	if n := len(unread); n > 0 {
		return []finding{note("inspect these records with that program; gcity does not change "+
			"them, and other beads are not affected",
			"stored by %s; gcity skips %s that it cannot read, the first of which is %s: %s",
			output.SafeLine(where.By.Provider), describe.Count(n, "record"),
			output.SafeLine(unread[0].ID), output.SafeLine(unread[0].Reason))}
	}
	return []finding{ok("stored by %s, which responds", output.SafeLine(where.By.Provider))}
}

func judgeStore(where workstore.Place, c workstore.Condition, unread []beads.Unreadable,
	err error) []finding {
	folder := filepath.Join(where.Dir, folder.WorkFolder)
	var found []finding
	if _, _, err := where.Ledger().Read(); err != nil {
		found = append(found, note("no action needed: the file is rewritten when the "+
			"next bead is created", "%v", err))
	}
	lost := workstore.LostStore(err)
	switch {
	case lost != nil:
		fix := fmt.Sprintf("`%s` restores the newest backup; `%s --new-store` accepts the "+
			"current store", lost.How, lost.How)
		found = append(found, bad(fix, "%v", err))
	case errors.Is(err, errLarge):
		found = append(found, note("`gcity bead backup FILE` checks the store with a longer time "+
			"limit", "%v", err))
	case errors.Is(err, context.DeadlineExceeded):
		found = append(found, bad("stop or resume the process that has locked the store: `fuser "+
			folder+"/*` lists the candidates; until then, commands that use the store wait",
			"%v", err))
	case sqlite.IsDamaged(err):
		found = append(found, bad("`gcity bead export FILE` saves the beads that can be read",
			"%v", err))
	case err != nil:
		found = append(found, bad("fix the problem that the error describes", "%v", err))
	}
	if len(c.Damage) > 0 {
		fix := fmt.Sprintf("`gcity bead export FILE` saves the beads that can be read; `%s` "+
			"restores the newest backup", where.Ledger().Restore)
		found = append(found, bad(fix, "damaged: %s", strings.Join(c.Damage, " | ")))
	}
	if n := len(unread); n > 0 {
		first := unread[0]
		found = append(found, note("use the version of gcity that wrote these records; this "+
			"version does not change them, and other beads are not affected",
			"gcity skips %s that this version cannot read, the first of which is %s: %s",
			describe.Count(n, "record"), output.SafeLine(first.ID), output.SafeLine(first.Reason)))
	}
	if len(c.Exposed) > 0 {
		found = append(found, note("run chmod go-rwx "+folder+"/beads.db*, and chmod go-w "+folder,
			"other users can read the store: %s", strings.Join(c.Exposed, ", ")))
	}
	if c.Log > workstore.LargeLog {
		found = append(found, note("stop the process that has been reading the store for a long "+
			"time: `fuser "+folder+"/beads.db` lists the processes",
			"the store's write-ahead log has grown to %s: a long read is preventing a checkpoint",
			output.ByteSize(uint64(c.Log))))
	}
	if len(c.ForeignFiles) > 0 {
		found = append(found, foreignFiles(folder, c))
	}
	if len(found) > 0 {
		return found
	}
	if !c.Exists {
		return []finding{ok("none yet")}
	}
	return []finding{ok("intact, schema %d", c.Schema)}
}

// bd uses the same folder name.
func foreignFiles(folder string, c workstore.Condition) finding {
	const most = 4
	names := strings.Join(c.ForeignFiles[:min(most, len(c.ForeignFiles))], ", ")
	if more := len(c.ForeignFiles) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	fix := "no action needed; to import work from bd, export it there and run `gcity bead " +
		"import FILE`"
	if c.Exists {
		return note(fix, "%s also contains files from another program, perhaps bd (%s): gcity "+
			"does not change them, and that program does not see gcity's beads.db", folder,
			output.SafeLine(names))
	}
	return note(fix, "%s belongs to another program, perhaps bd (%s): gcity does not change its "+
		"files, and creates its own beads.db there for the first bead", folder,
		output.SafeLine(names))
}

func checkDolt(ctx context.Context, p *Subject) finding {
	if p.config == nil || p.config.Beads.Keeper() != "bd" {
		return ok("not needed")
	}
	s := workstore.DoltServer(p.config)
	host, port := p.config.Dolt.Server()
	switch {
	case s != nil:
		host, port = s.Host, s.Port
	case port == 0:
		return ok("bd finds its database on its own")
	}
	err := bd.Ping(ctx, host, port)
	switch {
	case err == nil && s != nil && s.Runs():
		return ok("gcity runs the server at %s:%d", host, port)
	case err == nil:
		return ok("the server responds at %s:%d", host, port)
	case s != nil && p.Running == nil:
		return ok("gcity starts the server with the city")
	case s != nil:
		return bad("see "+filepath.Join(s.State, "server.log")+
			"; gcity retries every few seconds", "%v", err)
	}
	return bad("start that server, or change [dolt] in "+config.FileName, "%v", err)
}
