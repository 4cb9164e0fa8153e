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

// Ability is something that a provider may be able to do or not, in words that follow "cannot".
type Ability string

// What some providers cannot do. The first ones are interfaces of their own; of the others a provider says itself
// that it lacks them, see Limiter.
const (
	Attaching  Ability = "attach"
	Watching   Ability = "watch"
	Pressing   Ability = "press keys"
	Marking    Ability = "keep marks"
	Measuring  Ability = "measure processes"
	Clearing   Ability = "clear the output"
	Capturing  Ability = "keep the last output"
	Heeding    Ability = "see a viewer's draft"
	Telling    Ability = "report ends at once"
	Explaining Ability = "report how a session ended" // its exit code or signal
	Counting   Ability = "count what is printed"
	Running    Ability = "run anything" // it only pretends, or refuses
)

// Limits are what a provider cannot do.
type Limits struct {
	Lacks []Ability
	Why   string // one clause: "it has no terminal"; "" = that is so
}

// String says it in words that follow the provider's name: "cannot attach, press keys: it has no terminal". "" = it
// can do all there is.
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

// Limiter is a provider that cannot do all that its methods seem to promise, or knows why it cannot do what it has no
// method for.
type Limiter interface {
	// Limits returns the missing abilities. Those that a type assertion shows may be omitted.
	Limits() Limits
}

// Mixer is a provider that passes on to several others.
type Mixer interface {
	// LimitsOf are those of one of them. What is not open yet is opened for that; the zero value if it cannot be.
	LimitsOf(provider string) Limits
	// CheckOf returns the result of a provider's Checker, or why the provider cannot be opened. It returns nil if
	// the provider is not a Checker.
	CheckOf(ctx context.Context, provider string) error
}

// LimitsOf is all that a provider cannot do, in the order of the constants.
func LimitsOf(p Provider) Limits {
	var out Limits
	lacks := func(a Ability, has bool) {
		if !has {
			out.Lacks = append(out.Lacks, a)
		}
	}
	_, ok := p.(Attacher)
	lacks(Attaching, ok)
	_, ok = p.(Watcher)
	lacks(Watching, ok)
	_, ok = p.(Keyer)
	lacks(Pressing, ok)
	_, ok = p.(Marker)
	lacks(Marking, ok)
	_, ok = p.(Meter)
	lacks(Measuring, ok)
	_, ok = p.(Clearer)
	lacks(Clearing, ok)
	_, ok = p.(Capturer)
	lacks(Capturing, ok)
	_, ok = p.(Polite)
	lacks(Heeding, ok)
	_, ok = p.(Notifier)
	lacks(Telling, ok)
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

// Can reports whether a provider has an ability.
func Can(p Provider, a Ability) bool { return !slices.Contains(LimitsOf(p).Lacks, a) }

// LackError is an ErrUnsupported that names what is lacking.
type LackError struct {
	Provider string // "" = it has no name here
	Ability  Ability
	Why      string // as of Limits
}

func (e *LackError) Error() string {
	text := fmt.Sprintf("the session provider %s cannot %s", e.Provider, e.Ability)
	if e.Provider == "" {
		text = fmt.Sprintf("its session provider cannot %s", e.Ability)
	}
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// Is makes every LackError an ErrUnsupported.
func (e *LackError) Is(target error) bool { return target == ErrUnsupported }

// Partial is List's error where some of several providers have answered: what came with it is true, and of the
// sessions of the others nothing is known, never that they are not there.
type Partial struct {
	Unknown map[string]error // by provider
}

func (e *Partial) Error() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(e.Unknown)) {
		all = append(all, fmt.Sprintf("%s: %v", name, e.Unknown[name]))
	}
	return strings.Join(all, "; ")
}

// Late is the error of a provider that has not answered yet: it asks a slow program (see Patient). Its look goes on.
type Late struct {
	Waited time.Duration // so far
	// Rest waits for the answer and returns it to every caller.
	Rest func(ctx context.Context) ([]Status, error)
}

func (e *Late) Error() string {
	return fmt.Sprintf("it has not answered within %s, and may still", e.Waited)
}

// Await completes a look by the answers of those that were late, as far as they come before ctx ends.
func Await(ctx context.Context, all []Status, err error) ([]Status, error) {
	partial, ok := errors.AsType[*Partial](err)
	if !ok {
		return all, err
	}
	left := &Partial{Unknown: map[string]error{}}
	for name, err := range partial.Unknown {
		if late, ok := errors.AsType[*Late](err); ok {
			var rest []Status
			rest, err = late.Rest(ctx)
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

// Order brings sessions into the order of their names, and of one name what has ended before what lives.
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

// Unwrap gives the errors themselves.
func (e *Partial) Unwrap() []error { return slices.Collect(maps.Values(e.Unknown)) }
