package script

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"gcity/internal/screen"
	"gcity/internal/shell"
	"gcity/session"
)

const (
	opLimit    = 30 * time.Second
	startLimit = 120 * time.Second
	// pipeWait is how long a call waits for the end of the output after the script has exited.
	pipeWait = 2 * time.Second
	// startPipeWait replaces pipeWait after a start, because the new session can keep the output open.
	startPipeWait = 200 * time.Millisecond
	maxOutput     = 64 << 10
	unknownOp     = 2 // a script's exit code for an unsupported operation
)

// call executes the script. known is false if the script does not support the operation.
func (p *Provider) call(ctx context.Context, op, name string, args []string,
	stdin []byte) (out []byte, known bool, err error) {
	return p.carryOut(ctx, request{op: op, name: name, args: args, stdin: stdin})
}

type request struct {
	op, name string
	args     []string
	stdin    []byte
	env      string // additional entry; "" = none
}

func (p *Provider) carryOut(ctx context.Context, r request) (out []byte, known bool, err error) {
	op := r.op
	p.mu.Lock()
	lacks := p.lacks[op]
	p.mu.Unlock()
	if lacks {
		return nil, false, nil
	}
	if p.o.Observe {
		if err := p.makeFolders(); err != nil {
			return nil, true, err
		}
	}
	limit := opLimit
	if op == "start" {
		limit = startLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := p.mayRun(ctx); err != nil {
		return nil, true, err
	}
	cmd := p.command(ctx, op, r.name, r.args)
	cmd.Stdin = bytes.NewReader(r.stdin)
	if r.env != "" {
		cmd.Env = append(slices.Clip(cmd.Env), r.env)
	}
	stdout, stderr := &shell.Tail{Max: maxOutput}, &shell.Tail{Max: maxOutput}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Start(); err != nil {
		return nil, true, fmt.Errorf("cannot execute %s: %w", p.o.Script, err)
	}
	exited, err := shell.Await(ctx, cmd)
	if !exited { // the script can still write to stdout and stderr
		return nil, true, fmt.Errorf("%s %s was killed: %w; process %d has not exited, because it "+
			"is waiting for a file system or a device", p.o.Script, op, context.Cause(ctx),
			cmd.Process.Pid)
	}
	return p.result(ctx, op, err, stdout, stderr)
}

func (p *Provider) mayRun(ctx context.Context) error {
	if p.o.MayRun == nil {
		return nil
	}
	if err := p.o.MayRun(ctx); err != nil {
		return session.Missing(fmt.Errorf("cannot execute %s: %w", p.o.Script, err))
	}
	return nil
}

// result interprets the end of a script. err is the error from waiting for the script.
func (p *Provider) result(ctx context.Context, op string, err error,
	stdout, stderr *shell.Tail) (out []byte, known bool, _ error) {
	// a session can keep the script's output open
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	var exit *exec.ExitError
	why, unexecuted := shell.NotExecuted(string(stderr.Bytes()))
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, true, fmt.Errorf("%s %s was killed: %w", p.o.Script, op, context.Cause(ctx))
	case errors.As(err, &exit) && unexecuted:
		return nil, true, session.Missing(fmt.Errorf("cannot execute %s: %s", p.o.Script, why))
	case errors.As(err, &exit) && exit.ExitCode() == unknownOp:
		if op == "start" || op == "stop" || op == "is-running" || op == "list-running" {
			return nil, false, fmt.Errorf("%s does not support %s (exit code 2), but every script "+
				"must support it",
				p.o.Script, op)
		}
		p.mu.Lock()
		p.lacks[op] = true
		p.mu.Unlock()
		return nil, false, nil
	case errors.As(err, &exit):
		why := cmp.Or(short(string(stderr.Bytes())), short(string(stdout.Bytes())),
			"the script printed no reason")
		return nil, true, fmt.Errorf("%s %s failed with %s: %s", p.o.Script, op,
			strings.Replace(exit.Error(), "exit status", "exit code", 1), why)
	case err != nil:
		return nil, true, fmt.Errorf("cannot execute %s: %w", p.o.Script, err)
	case stdout.Dropped() > 0 && op == "list-running":
		return nil, true, fmt.Errorf("%s list-running printed more than %d KiB", p.o.Script,
			maxOutput>>10)
	}
	return stdout.Bytes(), true, nil
}

type action struct{ verb, op string }

func (p *Provider) do(ctx context.Context, a action, name string, args []string,
	stdin []byte) error {
	verb, op := a.verb, a.op
	e, err := p.living(verb, name)
	if err != nil {
		return err
	}
	_, known, err := p.call(ctx, op, name, args, stdin)
	if can := needed(op); err == nil && !known && can != "" {
		return fmt.Errorf("cannot %s %q: %w", verb, name,
			&session.LackError{Ability: can, Why: "the script does not support " + op})
	}
	if err == nil {
		return nil
	}
	p.mu.Lock()
	rec := e.rec
	p.mu.Unlock()
	if runs, asked := p.runs(ctx, name); asked == nil && !runs && !p.checkRecord(e, &rec, false) {
		return missing(verb, name)
	}
	return fmt.Errorf("cannot %s %q: %w", verb, name, err)
}

func needed(op string) session.Ability {
	switch op {
	case "nudge":
		return "type text"
	case "send-keys":
		return session.SendingKeys
	case "interrupt":
		return "interrupt"
	}
	return ""
}

func (p *Provider) command(ctx context.Context, op, name string, args []string) *exec.Cmd {
	cmd := shell.InFolder(ctx, p.o.Dir, p.o.Script, slices.Concat([]string{op, name}, args)...)
	cmd.Env = p.env
	shell.OwnGroup(cmd)
	cmd.WaitDelay = pipeWait
	if op == "start" {
		cmd.WaitDelay = startPipeWait
	}
	return cmd
}

func short(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return screen.Plain(lines[len(lines)-1])
}

func scriptEnv(environ []string, city, state string) []string {
	return shell.ScriptEnv(environ, "GC_CITY="+city, "GC_CITY_PATH="+city,
		"GC_EXEC_STATE_DIR="+state)
}

// startRequest is the script's input for a start. gcity itself runs pre_start and setup, waits for readiness, and sends
// the first nudge.
type startRequest struct {
	WorkDir string            `json:"work_dir"`
	Command string            `json:"command"`
	Env     map[string]string `json:"env,omitempty"`
	Names   []string          `json:"process_names,omitempty"`
}

func startInput(s *session.Spec) []byte {
	in := startRequest{WorkDir: s.Dir, Command: s.Command, Env: map[string]string{},
		Names: s.Processes}
	for _, kv := range s.Configured() {
		name, value, _ := strings.Cut(kv, "=")
		in.Env[name] = value
	}
	data, err := json.Marshal(in)
	if err != nil { // strings can always be encoded
		return nil
	}
	return append(data, '\n')
}

func (p *Provider) peek(ctx context.Context, name string, lines int) (string, error) {
	out, known, err := p.call(ctx, "peek", name, []string{fmt.Sprint(lines)}, nil)
	if err == nil && !known {
		err = &session.LackError{Ability: "show its screen",
			Why: "the script does not support peek"}
	}
	if err != nil {
		return "", fmt.Errorf("cannot read the output of %q: %w", name, err)
	}
	all := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	for i, line := range all {
		all[i] = strings.TrimRight(line, " \r")
	}
	return strings.Join(all[max(0, len(all)-lines):], "\n"), nil
}
