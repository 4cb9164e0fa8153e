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
// prints nothing if a hook has already continued the turn, or if there is nothing new. The exception is a drain: the
// request to finish is printed once for each drain, also in a continued turn.
func continueTurn(ctx context.Context, e *env.Env, w *foundWork, format string) error {
	continued := turnContinued(ctx, e)
	unread, drain, err := turnState(ctx, e, w, continued || hooks.GetsMail(format))
	if err != nil {
		fmt.Fprintln(e.Err, "gcity: "+output.SafeText(err.Error()))
	}
	if continued {
		w.Text, w.Items, unread = "", nil, nil
	}
	news, err := recordTurn(e, w.Agent, shownIn(w, unread, drain), continued)
	if err != nil {
		fmt.Fprintln(e.Err, "gcity: cannot record which work was shown to the agent, so it was "+
			"not shown: "+output.SafeText(err.Error()))
	}
	if len(news) == 0 {
		return nil
	}
	text := mail.Reminder(unread) + w.reminder()
	if drain != nil && slices.Contains(news, drainMark(drain)) {
		text += finishReminder
	}
	return printForModel(e, format, hooks.Work, text)
}

const finishReminder = "<system-reminder>\nYou have been asked to finish. Complete the work that " +
	"you have started. Then run `gc agent drain-ack`, which ends your session.\n" +
	"</system-reminder>\n"

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

// turnState returns the agent's unread mail, unless the agent gets mail in another way, and its drain, unless the agent
// has acknowledged it. Outside a session, it returns no drain: recordTurn could not prevent that the request continues
// every turn. If the agent is draining, turnState removes work that the agent has not started.
func turnState(ctx context.Context, e *env.Env, w *foundWork, getsMail bool) (unread []mail.Message,
	drain *city.DrainInfo, err error) {
	l, err := e.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if g, err := env.FindAgent(ctx, l, w.Agent); err == nil && g.Drain != nil {
		w.Text = ""
		w.Items = slices.DeleteFunc(w.Items, func(b beads.Bead) bool {
			return b.Status != beads.StatusInProgress
		})
		if !g.Drain.Acked && e.Getenv("GC_SESSION_ID") != "" {
			drain = g.Drain
		}
	}
	if !getsMail {
		unread, err = city.Mail(ctx, l, w.Agent, false)
	}
	return unread, drain, err
}

// turnRecord is the work that was last shown to a session at the end of a turn.
type turnRecord struct {
	Session string   `json:"session"`
	Shown   []string `json:"shown"`
}

func shownIn(w *foundWork, unread []mail.Message, drain *city.DrainInfo) (shown []string) {
	if w.Text != "" {
		shown = append(shown, w.Text)
	}
	for _, b := range w.Items {
		shown = append(shown, b.ID+" "+string(b.Status))
	}
	for _, m := range unread {
		shown = append(shown, m.ID)
	}
	if drain != nil {
		shown = append(shown, drainMark(drain))
	}
	return shown
}

func drainMark(d *city.DrainInfo) string { return "drain " + d.Since.UTC().Format(time.RFC3339) }

// recordTurn returns what in shown was not shown at the end of the last turn. If there is any, it records shown. In a
// continued turn, shown is only a drain, so recordTurn also keeps what the record contains.
//
// Without this record, work that an agent leaves undone could continue its turns forever: Gemini CLI, for example, does
// not report that a hook has continued the turn if the model has called a tool since. Outside a session, recordTurn
// records nothing.
func recordTurn(e *env.Env, agent string, shown []string, continued bool) (news []string,
	err error) {
	now := turnRecord{Session: e.Getenv("GC_SESSION_ID"), Shown: shown}
	if len(now.Shown) == 0 || now.Session == "" {
		return now.Shown, nil
	}
	if e.ReadOnly {
		return nil, env.ReadOnlyError("hook")
	}
	dir, err := e.CityDir()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder.StateDir(dir), "turns", session.Encode(agent)+".json")
	data, err := disk.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var last turnRecord
	// an invalid file is replaced
	if json.Unmarshal(data, &last) != nil || last.Session != now.Session {
		last = turnRecord{}
	}
	news = slices.DeleteFunc(slices.Clone(shown), func(s string) bool {
		return slices.Contains(last.Shown, s)
	})
	if len(news) == 0 {
		return nil, nil
	}
	if continued {
		now.Shown = append(news, last.Shown...)
	}
	if data, err = json.Marshal(now); err != nil {
		return nil, err
	}
	if err = disk.MkdirAll(filepath.Dir(path), 0o700); err == nil {
		err = disk.Replace(path, data, 0o600)
	}
	if err != nil {
		return nil, err
	}
	return news, nil
}
