package host

import (
	"context"
	"errors"
	"time"

	"gcity/cli/folder"
	"gcity/config"
	"gcity/internal/deadline"
	"gcity/trust"
)

// checkMayRun returns an error if the city's programs may not run. In a trusted city, it also records edited programs
// as trusted. inForce is the configuration in force; nil = none.
func (o CityOptions) checkMayRun(c, inForce *config.City) error {
	if err := folder.Trusted(o.Dir, c).Err(); err != nil {
		return err
	}
	all, complete := folder.CityPrograms(c)
	if err := folder.OwnedBy(all); err != nil {
		return err
	}
	// The automations in force can run even if c does not name their folders. If a pull has changed them, Extend must
	// not record the new commit. Otherwise, they would later look like edits.
	withAutomations := func(all []trust.Program, complete bool) ([]trust.Program, bool) {
		if inForce == nil || !complete {
			return all, complete
		}
		more, complete := folder.AutomationPrograms(inForce)
		return append(all, more...), complete
	}
	if inForce != c {
		all, complete = withAutomations(all, complete)
	}
	if complete {
		read := func() ([]trust.Program, bool) {
			onDisk, err := o.source.Load()
			if err != nil {
				return nil, false
			}
			return withAutomations(folder.CityPrograms(onDisk))
		}
		if err := folder.Ledger().Extend(c.Path, all, read); err != nil {
			o.Logger.Warn("cannot record that the edited city is trusted, so gcity will ask again",
				"error", err)
		}
	}
	return nil
}

// extendTrust records the current commits if they have changed but the programs have not. Otherwise, a later edit by
// the user would look like a part of a pull. If a script has changed, extendTrust returns a *trust.Refusal.
func (o CityOptions) extendTrust(inForce *config.City) error {
	if !folder.Ledger().Moved(o.Dir) {
		return nil
	}
	err := o.checkMayRun(inForce, inForce)
	if _, refused := errors.AsType[*trust.Refusal](err); !refused {
		return nil // the next start reports other errors
	}
	return err
}

// refusal returns which changed programs the user must first trust, or nil. A command line in force can run a script
// that a pull or a fetch has changed.
func (o CityOptions) refusal(inForce *config.City) *trust.Refusal {
	if _, always := folder.Ledger().Always(o.Dir); always {
		return nil // the record may be out of date forever
	}
	refused, _ := errors.AsType[*trust.Refusal](o.extendTrust(inForce))
	return refused
}

// mayRun returns a function that returns an error if the user must first trust a changed program of an agent, an
// automation or a watchdog; see trust.Program.User. If all programs may run, mayRun returns nil.
func (o CityOptions) mayRun(inForce *config.City) func(user string) error {
	refused := o.refusal(inForce)
	if refused == nil {
		return nil
	}
	return func(user string) error {
		if waits := refused.Of(user); waits != nil {
			return waits
		}
		return nil
	}
}

const (
	trustLimit = 15 * time.Second // includes the time until git has finished a change
	maxChecks  = 32               // scripts that are checked at the same time
)

// runningGrant returns the grant for the programs that the controller calls while it is running: session providers,
// work stores and the event script. inForce returns the configuration in force.
func (o CityOptions) runningGrant(inForce func() *config.City) trust.Grant {
	calls := deadline.New[*trust.Refusal](maxChecks)
	return trust.Running(func(ctx context.Context, line string) error {
		refused, ok := calls.Do(ctx, line, time.Now(), trustLimit, func() *trust.Refusal {
			return o.refusalOf(inForce(), line)
		})
		if !ok {
			return errors.New("cannot check whether it is trusted: a folder does not respond")
		}
		if refused == nil {
			return nil
		}
		if waits := refused.OfLine(line); waits != nil {
			return waits
		}
		return nil
	})
}

// refusalOf is like refusal for the programs with a command line. It does not check other programs, because a merge can
// remain unfinished for hours, and session providers are called often. The patrol changes the record; see extendTrust.
func (o CityOptions) refusalOf(inForce *config.City, line string) *trust.Refusal {
	ledger := folder.Ledger()
	if _, always := ledger.Always(o.Dir); always || !ledger.Moved(o.Dir) {
		return nil
	}
	err := ledger.Check(o.Dir, func() ([]trust.Program, error) {
		return trust.WithLine(folder.ProgramsOf(inForce), line), nil
	}).Err()
	refused, _ := errors.AsType[*trust.Refusal](err)
	return refused
}
