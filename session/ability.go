package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Ability is an operation that only some providers support. Its value completes the phrase "cannot …" in messages.
type Ability string

// Abilities that a provider can lack. Up to ReportingExits, a type assertion shows that an ability is missing. A
// provider that lacks one of the others must report it through Limiter.
const (
	Attaching       Ability = "attach"
	Watching        Ability = "watch"
	SendingKeys     Ability = "press keys"
	Marking         Ability = "store marks"
	Measuring       Ability = "measure processes"
	Clearing        Ability = "clear the output"
	Capturing       Ability = "keep output after an exit"
	SeeingDrafts    Ability = "detect unsubmitted input"
	ReportingExits  Ability = "report exits immediately"
	ExplainingExits Ability = "report how a session ended"
	CountingOutput  Ability = "count output"
	// missing in providers that run sessions on other machines, because the environment there is different
	InheritingEnvironment Ability = "pass on the controller's environment"
	// missing in providers that only simulate sessions or reject every start
	RunningPrograms Ability = "run programs"
)

// Limits lists the abilities that a provider lacks.
type Limits struct {
	Lacks []Ability
	// why the abilities are missing, as a clause such as "it has no terminal"; "" if unknown
	Why string
}

// String returns a phrase that follows the provider's name, such as "cannot attach, press keys: it has no terminal".
// If there are no limits, it returns "".
func (l Limits) String() string {
	if len(l.Lacks) == 0 {
		return ""
	}
	words := make([]string, len(l.Lacks))
	for i, a := range l.Lacks {
		words[i] = string(a)
	}
	text := "cannot " + strings.Join(words, ", ")
	if l.Why != "" {
		text += ": " + l.Why
	}
	return text
}

// Limiter is a provider that reports the abilities that it lacks.
type Limiter interface {
	// Limits returns the missing abilities. It can omit those that a type assertion already shows to be missing.
	Limits() Limits
}

// MultiProvider is a provider that forwards calls to several other providers.
type MultiProvider interface {
	// LimitsOf returns the limits of the named provider. It returns the zero value if the provider cannot be opened.
	LimitsOf(provider string) Limits
	// CheckOf returns the result of the named provider's Checker, or why the provider cannot be opened. If the
	// provider is not a Checker, CheckOf returns nil.
	CheckOf(ctx context.Context, provider string) error
}

// LimitsOf returns all abilities that a provider lacks.
func LimitsOf(p Provider) Limits {
	var out Limits
	lacks := func(a Ability, has bool) {
		if !has {
			out.Lacks = append(out.Lacks, a)
		}
	}
	lacks(Attaching, is[Attacher](p))
	lacks(Watching, is[Watcher](p))
	lacks(SendingKeys, is[Keyer](p))
	lacks(Marking, is[Marker](p))
	lacks(Measuring, is[Meter](p))
	lacks(Clearing, is[Clearer](p))
	lacks(Capturing, is[Capturer](p))
	lacks(SeeingDrafts, is[PoliteSender](p))
	lacks(ReportingExits, is[Notifier](p))
	if l, ok := p.(Limiter); ok {
		own := l.Limits()
		out.Why = own.Why
		for _, a := range own.Lacks {
			if !slices.Contains(out.Lacks, a) {
				out.Lacks = append(out.Lacks, a)
			}
		}
	}
	return out
}

func is[A any](p Provider) bool {
	_, ok := p.(A)
	return ok
}

// Can reports whether p has the ability a.
func Can(p Provider, a Ability) bool { return !slices.Contains(LimitsOf(p).Lacks, a) }

// LackError is an ErrUnsupported that names the missing ability.
type LackError struct {
	Provider string // "" if unknown
	Ability  Ability
	Why      string // see Limits
}

func (e *LackError) Error() string {
	text := fmt.Sprintf("the session provider %s cannot %s", e.Provider, e.Ability)
	if e.Provider == "" {
		text = fmt.Sprintf("the session provider cannot %s", e.Ability)
	}
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// Is reports whether target is ErrUnsupported, which every LackError matches.
func (e *LackError) Is(target error) bool { return target == ErrUnsupported }

// PartialError is List's error if some of several providers have not responded. The returned sessions are valid.
type PartialError struct {
	Unknown map[string]error // error of each provider that has failed, by provider name
}

func (e *PartialError) Error() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(e.Unknown)) {
		all = append(all, fmt.Sprintf("%s: %v", name, e.Unknown[name]))
	}
	return strings.Join(all, "; ")
}

// LateError is the error of a provider that has not responded yet (see Patient). The call is still in progress.
type LateError struct {
	Waited time.Duration
	// Result waits for the call to end and returns its result. All callers share one call.
	Result func(ctx context.Context) ([]Status, error)
}

func (e *LateError) Error() string {
	return fmt.Sprintf("no response within %s; still waiting in the background", e.Waited)
}

// Await completes the result of a List call. It waits for late providers and adds their sessions. If some providers
// still fail, it returns a PartialError.
func Await(ctx context.Context, all []Status, err error) ([]Status, error) {
	partial, ok := errors.AsType[*PartialError](err)
	if !ok {
		return all, err
	}
	left := &PartialError{Unknown: map[string]error{}}
	for name, err := range partial.Unknown {
		if late, ok := errors.AsType[*LateError](err); ok {
			var rest []Status
			rest, err = late.Result(ctx)
			all = append(all, rest...)
		}
		if err != nil {
			left.Unknown[name] = err
		}
	}
	Order(all)
	if len(left.Unknown) > 0 {
		return all, left
	}
	return all, nil
}

// Order sorts sessions by name. If several sessions have the same name, the live one comes last.
func Order(all []Status) {
	slices.SortStableFunc(all, func(a, b Status) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 || a.Alive == b.Alive {
			return c
		}
		if b.Alive {
			return -1
		}
		return 1
	})
}

// Unwrap returns the providers' errors.
func (e *PartialError) Unwrap() []error { return slices.Collect(maps.Values(e.Unknown)) }
