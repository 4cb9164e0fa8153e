package exit

import (
	"context"
	"errors"
	"fmt"

	"gcity/city"
	"gcity/config"
	"gcity/internal/suggest"
	"gcity/trust"
)

const (
	CodeDone   = 0
	CodeFailed = 1
	// CodeUsage is the code for an invalid command line or an unknown name. Go programs that panic also exit with 2, so
	// systemd restarts a service that exits with this code.
	CodeUsage       = 2
	CodeNotRunning  = 3
	CodeCannotStart = 3  // from `gcity plan`: a planned start cannot succeed
	CodeConflict    = 4  // already running, or in conflict with the current state
	CodeStopFailed  = 5  // from a service: after a requested stop, processes might still be running
	CodeConfig      = 78 // EX_CONFIG: the configuration is invalid
)

// Failure is an error with its own exit code. If Err is nil, the message was already printed.
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

// Errorf returns an error with an exit code.
func Errorf(code int, format string, args ...any) error {
	return &Failure{code, fmt.Errorf(format, args...)}
}

// Usage returns the error for an invalid command line.
func Usage(format string, args ...any) error { return Errorf(CodeUsage, format, args...) }

// NotRunning returns the error for a city or supervisor that is not running.
func NotRunning(format string, args ...any) error { return Errorf(CodeNotRunning, format, args...) }

// StopFailed returns err with the exit code for a stop that failed, or nil if err is nil.
func StopFailed(err error) error {
	if err == nil {
		return nil
	}
	return &Failure{CodeStopFailed, err}
}

// Quietly returns a Failure with an exit code and no message.
func Quietly(code int) error { return &Failure{Code: code} }

// Verdict returns the exit code for a command that returned err, and the message to print.
func Verdict(err error) (code int, message string) {
	var (
		f         *Failure
		invalid   *config.Error
		untrusted *trust.Refusal
		problem   *city.Error
		missing   *suggest.Missing
	)
	switch {
	case err == nil:
		return CodeDone, ""
	case crashed(err):
		return CodeUsage, err.Error()
	case errors.As(err, &f):
		return f.Code, f.Error()
	case errors.As(err, &invalid):
		return CodeConfig, configErrors(invalid)
	case errors.As(err, &untrusted):
		return CodeConfig, err.Error()
	case IsNotRunning(err):
		return CodeNotRunning, err.Error()
	case AlreadyRunning(err):
		return CodeConflict, err.Error()
	case errors.As(err, &problem) && (problem.Details == city.ConfigRefused ||
		problem.Details == city.ConfigUntrusted):
		return CodeConfig, err.Error()
	case errors.As(err, &problem):
		return problemCode(problem.Code), err.Error()
	case errors.As(err, &missing):
		return CodeUsage, err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return CodeFailed, "timed out: " + err.Error()
	default:
		return CodeFailed, err.Error()
	}
}

func crashed(err error) bool {
	var p interface{ Stack() []byte }
	return errors.As(err, &p)
}

func problemCode(c city.Code) int {
	switch c {
	case city.Conflict:
		return CodeConflict
	case city.Invalid, city.NotFound:
		return CodeUsage
	default:
		return CodeFailed
	}
}

func configErrors(e *config.Error) string {
	what := "1 error"
	if n := len(e.Problems); n != 1 {
		what = fmt.Sprintf("%d errors", n)
	}
	return fmt.Sprintf("the configuration of %s is invalid (%s):\n%s", e.Path, what, e.Error())
}
