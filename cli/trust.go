package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/consent"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/fleet"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/config"
)

func trustCommand(e *env.Env) *cobra.Command {
	var yes, list, revoke bool
	c := &cobra.Command{
		Use: "trust [DIR]", Short: "Show the programs that a city would run, and trust the city",
		Long: `trust shows a city's owner and every program that the city would run, and asks
whether these programs may run. Until you agree, none of them runs: commands that
read the city only parse its files, and commands that start it fail with exit code
78. A city that you created with "gcity init" is trusted from the start.

After your own edits and commits, gcity does not ask again. It asks about a new or
changed program if something other than "git commit" has changed the git checkout
that the program comes from. If you start the city with -f, trust it with the same
files: gcity asks about programs of a file that the city was not trusted with.

With GCITY_TRUST=all, every city is trusted. With folders = ["~/src"] in the [trust]
table of ~/.config/gcity/config.toml, every city below these folders is trusted.`,
		Example: "  gcity trust\n  gcity trust ~/src/clone --yes\n  gcity trust --list\n  gcity " +
			"trust --revoke ~/src/clone",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case list && (revoke || len(args) > 0):
				return exit.Usage("--list cannot be combined with a folder or with --revoke")
			case list:
				return listTrusted(e)
			}
			if revoke {
				return revokeTrust(e, args)
			}
			return trustCity(cmd.Context(), e, args, yes)
		},
	}
	flags := env.WithSource(e, c).Flags()
	flags.BoolVarP(&yes, "yes", "y", false, "trust the city without asking")
	flags.BoolVar(&list, "list", false, "list the cities that you trust")
	flags.BoolVar(&revoke, "revoke", false,
		"stop trusting a city; its controller keeps running if there is one")
	return c
}

func trustCity(ctx context.Context, e *env.Env, args []string, yes bool) error {
	dir, err := fleet.CityOf(e, args)
	if err != nil {
		return err
	}
	load := func() (*config.City, error) { return e.LoadAt(dir, nil) }
	shown, err := consent.DescribeTrust(load)
	if err != nil {
		return err
	}
	if e.ReadOnly && yes {
		return env.ReadOnlyError("trust --yes")
	}
	asks := !yes && e.InTTY && e.ErrTTY && !e.JSON && !shown.Trusted && !e.ReadOnly
	if yes || asks {
		if !e.JSON {
			consent.ShowTrust(e, shown)
		}
		if asks && !consent.AskTrust(e, shown) {
			return exit.Quietly(exit.CodeConfig)
		}
		if err := shown.Confirm(e.Now()); err != nil {
			return err
		}
		shown.Trusted, shown.Why = true, "you just agreed to it"
		reloadTrusted(ctx, e, dir)
		if !e.JSON {
			e.Sayf("the city in %s is now trusted", output.SafeLine(dir))
			return nil
		}
	}
	if e.JSON {
		if err := e.WriteJSON(shown); err != nil || shown.Trusted {
			return err
		}
		return exit.Quietly(exit.CodeConfig)
	}
	if !yes && !asks {
		consent.ShowTrust(e, shown)
	}
	if !shown.Trusted {
		return exit.Errorf(exit.CodeConfig, "the city is not trusted; run `%s --yes` "+
			"to allow these programs to run", shown.Command())
	}
	e.Sayf("the city in %s is trusted: %s", output.SafeLine(dir), shown.Why)
	return nil
}

func reloadTrusted(ctx context.Context, e *env.Env, dir string) {
	near, closeNear, err := e.Dial(dir)
	if err != nil {
		return
	}
	defer closeNear()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := near.Do(ctx, city.Reload{}); err != nil {
		e.Warn("the city is trusted, but its controller could not reload the " +
			"configuration: " + err.Error())
	}
}

func listTrusted(e *env.Env) error {
	all, err := folder.Ledger().List()
	if err != nil {
		return err
	}
	if e.JSON {
		return e.WriteJSON(output.ListOf(all))
	}
	table := output.NewTable("CITY", "TRUSTED SINCE")
	for _, r := range all {
		table.Add(r.Path, r.At.Local().Format(time.DateTime))
	}
	return e.WriteTable(e.Out, 0, table)
}

func revokeTrust(e *env.Env, args []string) error {
	if e.ReadOnly {
		return env.ReadOnlyError("trust --revoke")
	}
	dir, err := fleet.CityOf(e, args)
	if err != nil && len(args) > 0 {
		dir, err = filepath.Abs(args[0])
	}
	if err != nil {
		return err
	}
	was, err := folder.Ledger().Revoke(dir)
	if err != nil {
		return fmt.Errorf("cannot revoke trust in %s: %w", dir, err)
	}
	if !was {
		return e.Receipt(city.Receipt{Message: dir + " was not trusted"})
	}
	return e.Receipt(city.Receipt{Message: dir + " is no longer trusted"})
}
