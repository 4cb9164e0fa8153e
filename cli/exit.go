package cli

import (
	"context"
	"errors"
	"fmt"

	"gcity/city"
	"gcity/config"
	"gcity/trust"
)

// The exit codes, for scripts.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2 // and a crash of gcity, as Go has it: a service begins anew after it
	exitNotRunning = 3
	exitConflict   = 4  // already running, or in conflict with what is
	exitConfig     = 78 // EX_CONFIG: the configuration is refused
)

// failure is an error with an exit code of its own. Without an error everything was said already.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

func usage(format string, args ...any) error {
	return &failure{exitUsage, fmt.Errorf(format, args...)}
}

func notRunning(format string, args ...any) error {
	return &failure{exitNotRunning, fmt.Errorf(format, args...)}
}

// quietly ends with a code and no further word.
func quietly(code int) error { return &failure{code: code} }

// verdict turns the end of a command into an exit code and what is left to say.
func verdict(err error) (code int, message string) {
	var (
		f         *failure
		refused   *config.Error
		untrusted *trust.Refusal
		problem   *city.Error
	)
	switch {
	case err == nil:
		return exitDone, ""
	case crashed(err):
		return exitUsage, err.Error()
	case errors.As(err, &f):
		return f.code, f.Error()
	case errors.As(err, &refused):
		return exitConfig, refusal(refused)
	case errors.As(err, &untrusted):
		return exitConfig, err.Error()
	case isNotRunning(err):
		return exitNotRunning, err.Error()
	case alreadyRunning(err):
		return exitConflict, err.Error()
	case errors.As(err, &problem) && problem.Details == city.ConfigRefused:
		return exitConfig, err.Error()
	case errors.As(err, &problem):
		return problemCode(problem.Code), err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return exitFailed, "it took too long and was given up: " + err.Error()
	default:
		return exitFailed, err.Error()
	}
}

// crashed recognises a panic that was caught on its way.
func crashed(err error) bool {
	var p interface{ Stack() []byte }
	return errors.As(err, &p)
}

// hasCode reports whether an error is a city's of that class.
func hasCode(err error, code city.Code) bool {
	var problem *city.Error
	return errors.As(err, &problem) && problem.Code == code
}

func problemCode(c city.Code) int {
	switch c {
	case city.Conflict:
		return exitConflict
	case city.Invalid:
		return exitUsage
	default:
		return exitFailed
	}
}

// refusal lists every mistake of a configuration, one a line, where an editor finds them.
func refusal(e *config.Error) string {
	what := "1 mistake"
	if n := len(e.Problems); n != 1 {
		what = fmt.Sprintf("%d mistakes", n)
	}
	return fmt.Sprintf("the configuration of %s is refused, %s:\n%s", e.Path, what, e.Error())
}
