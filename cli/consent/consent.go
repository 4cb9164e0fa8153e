package consent

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/config"
	"gcity/describe"
	"gcity/internal/ownership"
	"gcity/internal/redact"
	"gcity/trust"
)

type trustShape struct {
	Path     string         `json:"path"`
	Owner    string         `json:"owner"`
	Origin   string         `json:"origin,omitempty"` // the URL that the checkout was cloned from
	Trusted  bool           `json:"trusted"`
	Why      string         `json:"why"`
	Programs []trustedShape `json:"programs"`
	// git commands that show what has changed since the user trusted the city
	Diffs []string `json:"diffs,omitempty"`

	listed []trust.Program
	files  []string              // from -f
	heads  map[string]trust.Head // from before the programs were read
}

type trustedShape struct {
	What string `json:"what"`
	Line string `json:"line"`
	At   string `json:"at"`
	New  bool   `json:"new,omitempty"` // the user has not agreed to it
	// how it differs from what the user has agreed to, if New is set
	Change string `json:"change,omitempty"`
}

// DescribeTrust returns the programs that a city runs and whether they are trusted. load reads the configuration.
// DescribeTrust calls it twice.
func DescribeTrust(load func() (*config.City, error)) (trustShape, error) {
	c, err := load()
	if err != nil {
		return trustShape{}, err
	}
	// Read the heads before the programs. Otherwise, after a pull between the two, the record
	// would contain the new HEAD but not the new programs. These would later look like edits.
	heads := trust.Heads(c.Path, folder.ProgramsOf(c))
	if c, err = load(); err != nil {
		return trustShape{}, err
	}
	return describeTrust(c, heads), nil
}

func describeTrust(c *config.City, heads map[string]trust.Head) trustShape {
	out := trustShape{Path: c.Path, Origin: trust.Origin(c.Path), Trusted: true,
		Why: "you have confirmed or created this city before", Programs: []trustedShape{},
		heads: heads, files: c.Additional}
	out.Owner, _ = ownership.Of(c.Path)
	fresh := map[string]string{}
	if why, always := folder.Ledger().Always(c.Path); always {
		out.Why = why
	} else if err := folder.Trusted(c.Path, c).Err(); err != nil {
		out.Trusted, out.Why = false, err.Error()
		if r, ok := errors.AsType[*trust.Refusal](err); ok {
			out.Why, out.Diffs = r.Why, r.Diffs
			for _, p := range r.New {
				fresh[p.Sum()] = cmp.Or(p.Change, "new")
			}
		}
	}
	out.listed = folder.ProgramsOf(c)
	for _, p := range out.listed {
		line := p.Line
		// show an untrusted command line in full, because redaction could hide a program
		if out.Trusted {
			line = redact.Text(line)
		}
		change := fresh[p.Sum()]
		out.Programs = append(out.Programs, trustedShape{p.What, line, p.At, change != "", change})
	}
	return out
}

// Command returns the command with which the user can trust the programs.
func (s trustShape) Command() string {
	return (&trust.Refusal{Dir: s.Path, Files: s.files}).Command()
}

// Confirm records that the user trusts the programs as they were described.
func (s trustShape) Confirm(now time.Time) error {
	return folder.Ledger().Save(trust.NewRecord(s.Path, s.listed, s.heads, now))
}

// ShowTrust prints what a city would run.
func ShowTrust(e *env.Env, s trustShape) {
	e.Sayf("%s", output.SafeLine(s.Path))
	e.Sayf("  owned by %s", output.SafeLine(s.Owner))
	if s.Origin != "" {
		e.Sayf("  git clone of %s", output.SafeLine(redact.Text(s.Origin)))
	}
	if len(s.Programs) == 0 {
		e.Sayf("  runs no programs")
		return
	}
	for _, command := range s.Diffs {
		e.Sayf("  to see what has changed, run `%s`", output.SafeLine(command))
	}
	e.Sayf("  runs %s:", describe.Count(len(s.Programs), "program"))
	if width := e.Columns(); width > 0 {
		showPrograms(e, s.Programs, width)
		return
	}
	table := output.NewTable("", "WHAT", "RUNS", "DECLARED AT")
	for _, p := range s.Programs {
		mark := output.Cell{}
		if p.New {
			mark = output.Tinted(p.Change, output.Yellow)
		}
		table.Add(mark, p.What, p.Line, p.At)
	}
	// ask even if the table could not be printed
	_ = e.WriteTable(e.Out, 0, table)
}

func showPrograms(e *env.Env, all []trustedShape, width int) {
	for _, p := range all {
		mark := ""
		if p.New {
			mark = e.Paint(output.Yellow, p.Change) + " "
		}
		e.Sayf("    %s%s  %s", mark, output.SafeLine(p.What),
			e.Paint(output.Dim, output.SafeLine(p.At)))
		e.Sayf("%s", output.Fold(output.SafeLine(p.Line), width, "        "))
	}
}

// AskTrust asks whether the programs are allowed to run, and reports whether the user agrees.
func AskTrust(e *env.Env, s trustShape) bool {
	if env.TypedAhead(e) {
		e.Warn("the terminal had unread input, so gcity did not ask whether to trust the city")
		return false
	}
	// the list can scroll everything above the question off the screen
	fmt.Fprintf(e.Err, "%s.\nAllow %s of %s to run as you? [y/N] ", s.Why,
		thesePrograms(len(s.Programs)), output.SafeLine(s.Path))
	answer, ok := env.ReadAnswer(e)
	return ok && (answer == "y" || answer == "yes")
}

func thesePrograms(n int) string {
	if n == 1 {
		return "this program"
	}
	return fmt.Sprintf("these %d programs", n)
}

// MayStart returns an error if the city is not allowed to run. On a terminal, it asks the user to trust the city.
func MayStart(e *env.Env, dir string) error {
	load := func() (*config.City, error) { return e.LoadAt(dir, nil) }
	c, err := load()
	if err != nil {
		return err
	}
	err = folder.Trusted(dir, c).Err()
	if err == nil || e.ReadOnly {
		return err
	}
	if _, untrusted := errors.AsType[*trust.Refusal](err); !untrusted || !e.InTTY || !e.ErrTTY ||
		e.JSON {
		return err
	}
	shown, failed := DescribeTrust(load)
	if failed != nil {
		return failed
	}
	ShowTrust(e, shown)
	if !AskTrust(e, shown) {
		return err
	}
	if err := shown.Confirm(e.Now()); err != nil {
		return err
	}
	e.Untrusted = nil
	return nil
}

// InitTrust trusts a city that the user has just created.
func InitTrust(e *env.Env, dir string) {
	c, err := folder.LoadCity(dir)
	if err == nil {
		err = folder.Ledger().Trust(c.Path, folder.ProgramsOf(c), e.Now())
	}
	if err != nil {
		e.Warn("the new city is not trusted yet: " + err.Error() + "; run `gcity trust`")
	}
}
