package exit

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
	CodeDone       = 0
	CodeFailed     = 1
	CodeUsage      = 2 // and a crash of gcity, as Go has it: a service begins anew after it
	CodeNotRunning = 3
	CodeConflict   = 4  // already running, or in conflict with what is
	CodeConfig     = 78 // EX_CONFIG: the configuration is refused
)

// Failure is an error with an exit code of its own. Without an error everything was said already.
type Failure struct {
	Code int
	Err  error
}

func (f *Failure) Error() string {
	if f.Err == nil {
		return ""
	}
	return f.Err.Error()
}

func (f *Failure) Unwrap() error { return f.Err }

func Usage(format string, args ...any) error {
	return &Failure{CodeUsage, fmt.Errorf(format, args...)}
}

func NotRunning(format string, args ...any) error {
	return &Failure{CodeNotRunning, fmt.Errorf(format, args...)}
}

// Quietly ends with a code and no further word.
func Quietly(code int) error { return &Failure{Code: code} }

// Verdict turns the end of a command into an exit code and what is left to say.
func Verdict(err error) (code int, message string) {
	var (
		f         *Failure
		refused   *config.Error
		untrusted *trust.Refusal
		problem   *city.Error
	)
	switch {
	case err == nil:
		return CodeDone, ""
	case crashed(err):
		return CodeUsage, err.Error()
	case errors.As(err, &f):
		return f.Code, f.Error()
	case errors.As(err, &refused):
		return CodeConfig, refusal(refused)
	case errors.As(err, &untrusted):
		return CodeConfig, err.Error()
	case IsNotRunning(err):
		return CodeNotRunning, err.Error()
	case AlreadyRunning(err):
		return CodeConflict, err.Error()
	case errors.As(err, &problem) && problem.Details == city.ConfigRefused:
		return CodeConfig, err.Error()
	case errors.As(err, &problem):
		return problemCode(problem.Code), err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return CodeFailed, "it took too long and was given up: " + err.Error()
	default:
		return CodeFailed, err.Error()
	}
}

// crashed recognises a panic that was caught on its way.
func crashed(err error) bool {
	var p interface{ Stack() []byte }
	return errors.As(err, &p)
}

// HasCode reports whether an error is a city's of that class.
func HasCode(err error, code city.Code) bool {
	var problem *city.Error
	return errors.As(err, &problem) && problem.Code == code
}

func problemCode(c city.Code) int {
	switch c {
	case city.Conflict:
		return CodeConflict
	case city.Invalid:
		return CodeUsage
	default:
		return CodeFailed
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
