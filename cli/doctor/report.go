package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/describe"
	"gcity/events"
	"gcity/internal/disk"
	"gcity/internal/redact"
)

const (
	reportEvents = 100
	reportLog    = 64 << 10 // bytes at the end of the log
)

const defaultReport = "gcity-report.txt"

// writeReport hides all secrets.
func writeReport(ctx context.Context, e *env.Env, p *Subject, found []finding, path string) error {
	var b bytes.Buffer
	section := func(title string, write func(io.Writer) error) {
		fmt.Fprintf(&b, "\n== %s ==\n", title)
		if err := write(&b); err != nil {
			fmt.Fprintf(&b, "cannot read this part: %v\n", err)
		}
	}
	fmt.Fprintf(&b, "gcity %s (%s, %s), %d CPUs, TERM=%s, %s\n", e.Version, runtime.Version(),
		Platform(), runtime.NumCPU(), os.Getenv("TERM"),
		time.Now().UTC().Format(time.RFC3339))
	section("doctor", func(w io.Writer) error {
		for _, f := range found {
			fmt.Fprintf(w, "%s %s: %s\n", f.State, f.Check, f.Detail)
		}
		return nil
	})
	section("city.toml", p.writeConfig)
	section("status", p.writeStatus)
	section("events", func(w io.Writer) error { return writeEvents(ctx, w, p.dir) })
	section("controller.log", func(w io.Writer) error { return writeLogEnd(w, p.dir) })
	// an unclosed quote must affect only its own line
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = redact.Text(lines[i])
	}
	text := strings.Join(lines, "\n")
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		text = strings.ReplaceAll(text, home, "~")
	}
	if err := disk.WriteFile(path, []byte(output.SafeText(text)), 0o600); err != nil {
		return fmt.Errorf("cannot write the report: %w", disk.Named(err))
	}
	return nil
}

// writeConfig omits an invalid configuration, because it is unknown which parts of it are secret.
func (p *Subject) writeConfig(w io.Writer) error {
	if p.config == nil {
		_, err := fmt.Fprintf(w, "the configuration is invalid, so this report omits it:\n%v\n",
			p.invalid)
		return err
	}
	_, err := io.WriteString(w, p.config.TOML())
	return err
}

func (p *Subject) writeStatus(w io.Writer) error {
	if p.Running == nil {
		_, err := fmt.Fprintf(w, "no controller responds: %v; %s known\n", p.silent,
			describe.Count(len(p.sessions), "session"))
		return err
	}
	s := p.Running
	fmt.Fprintf(w, "pid %d, mode %s, configuration %s\n", s.PID, s.Mode,
		s.Config.Revision)
	for _, line := range s.Degraded {
		fmt.Fprintf(w, "degraded: %s\n", line)
	}
	for i := range s.Agents {
		g := &s.Agents[i]
		fmt.Fprintf(w, "%s: %s since %s, %d restarts: %s\n", g.Name, g.State,
			g.Since.UTC().Format(time.RFC3339), g.Restarts, g.Reason)
	}
	return nil
}

func writeEvents(ctx context.Context, w io.Writer, dir string) error {
	past, err := folder.ReadEvents(ctx, dir, events.Query{Limit: reportEvents})
	for _, e := range past {
		fmt.Fprintf(w, "%d %s %s %s %s: %s\n", e.Seq, e.TS.UTC().Format(time.RFC3339), e.Type,
			e.Actor, e.Subject, e.Message)
	}
	return err
}

func writeLogEnd(w io.Writer, dir string) error {
	f, err := disk.Open(folder.LogPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fs.ErrInvalid)
	}
	start := max(0, info.Size()-reportLog)
	data, err := io.ReadAll(io.NewSectionReader(f, start, reportLog))
	if start > 0 {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	_, _ = w.Write(data)
	return err
}

func reportPath(args []string) (string, error) {
	name := defaultReport
	if len(args) > 0 {
		name = args[0]
	}
	return filepath.Abs(name)
}

// Platform returns this program's operating system and architecture.
func Platform() string { return runtime.GOOS + "/" + runtime.GOARCH }
