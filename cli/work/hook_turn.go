package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/hooks"
	"gcity/internal/deadline"
	"gcity/internal/disk"
	"gcity/mail"
	"gcity/session"
)

// continueTurn prints an agent's work, so that the agent's program continues with it instead of ending its turn. It
// prints nothing if a hook has already continued the turn, or if there is nothing new.
func continueTurn(ctx context.Context, e *env.Env, w *foundWork, format string) error {
	if turnContinued(ctx, e) {
		return nil
	}
	unread, err := turnState(ctx, e, w, hooks.GetsMail(format))
	if err != nil {
		fmt.Fprintln(e.Err, "gcity: "+output.SafeText(err.Error()))
	}
	isNew, err := recordTurn(e, w, unread)
	if err != nil {
		fmt.Fprintln(e.Err, "gcity: cannot record which work was shown to the agent, so it was "+
			"not shown: "+output.SafeText(err.Error()))
	}
	if !isNew {
		return nil
	}
	return printForModel(e, format, hooks.Work, mail.Reminder(unread)+w.reminder())
}

const hookInputLimit = 2 * time.Second

// turnContinued reports whether a hook has already made the model continue in this turn, according to the hook's input.
// It returns false if no input arrives in time.
func turnContinued(ctx context.Context, e *env.Env) bool {
	if e.InTTY {
		return false
	}
	continued, _ := deadline.Within(ctx, hookInputLimit,
		func() bool { return hooks.Continued(e.In) })
	return continued
}

// turnState returns the agent's unread mail, unless the agent gets mail in another way. If the agent is draining,
// turnState removes work that the agent has not started.
func turnState(ctx context.Context, e *env.Env, w *foundWork, getsMail bool) ([]mail.Message,
	error) {
	if getsMail && w.none() {
		return nil, nil
	}
	l, err := e.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if g, err := env.FindAgent(ctx, l, w.Agent); err == nil && g.Drain != nil {
		w.Text = ""
		w.Items = slices.DeleteFunc(w.Items, func(b beads.Bead) bool {
			return b.Status != beads.StatusInProgress
		})
	}
	if getsMail {
		return nil, nil
	}
	return city.Mail(ctx, l, w.Agent, false)
}

// turnRecord is the work that was last shown to a session at the end of a turn.
type turnRecord struct {
	Session string   `json:"session"`
	Shown   []string `json:"shown"`
}

// recordTurn reports whether there is work or mail that was not shown last time, and records it as shown. Without this
// record, work that an agent leaves undone could continue its turns forever: Gemini CLI, for example, does not report
// that a hook has continued the turn if the model has called a tool since. Outside a session, recordTurn records
// nothing.
func recordTurn(e *env.Env, w *foundWork, unread []mail.Message) (isNew bool, err error) {
	now := turnRecord{Session: e.Getenv("GC_SESSION_ID")}
	if w.Text != "" {
		now.Shown = append(now.Shown, w.Text)
	}
	for _, b := range w.Items {
		now.Shown = append(now.Shown, b.ID+" "+string(b.Status))
	}
	for _, m := range unread {
		now.Shown = append(now.Shown, m.ID)
	}
	if len(now.Shown) == 0 || now.Session == "" {
		return len(now.Shown) > 0, nil
	}
	if e.ReadOnly {
		return false, env.ReadOnlyError("hook")
	}
	dir, err := e.CityDir()
	if err != nil {
		return false, err
	}
	path := filepath.Join(folder.StateDir(dir), "turns", session.Encode(w.Agent)+".json")
	data, err := disk.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	var last turnRecord
	// an invalid file is replaced
	if json.Unmarshal(data, &last) == nil && last.Session == now.Session &&
		!slices.ContainsFunc(now.Shown, func(s string) bool {
			return !slices.Contains(last.Shown, s)
		}) {
		return false, nil
	}
	if data, err = json.Marshal(now); err != nil {
		return false, err
	}
	if err = disk.MkdirAll(filepath.Dir(path), 0o700); err == nil {
		err = disk.Replace(path, data, 0o600)
	}
	return err == nil, err
}
