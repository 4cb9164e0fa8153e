package work

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/agent"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/mail"
)

// primeLimit bounds how long an agent waits for its prompt.
const primeLimit = 20 * time.Second

// primeShape is a prompt and its agent.
type primeShape struct {
	Agent  string `json:"agent,omitempty"` // "" = no agent in particular
	File   string `json:"file,omitempty"`  // the template
	Prompt string `json:"prompt"`

	// unread messages that the previous session left, newest first
	Handed []mail.Message `json:"handed,omitempty"`
}

// PrimeCommand returns the command prime.
func PrimeCommand(e *env.Env) *cobra.Command {
	var hook bool
	c := &cobra.Command{
		Use: "prime [AGENT]", Short: "Print an agent's prompt", Args: env.Between(0, 1),
		Long: `prime prints an agent's prompt as a start would give it now: its template, filled in.
Without a name it uses the session's own agent (GC_AGENT), and adds unread messages that
the previous session left with gc handoff. For an agent without a prompt, and outside of
a session, it prints a list of useful commands.

--hook is for hook files of agents: the command then never fails.`,
		Example:           "  gc prime\n  gcity prime worker",
		ValidArgsFunction: env.Complete(e, env.KindAgent),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), primeLimit)
			defer cancel()
			p, err := prime(ctx, e, args)
			if err != nil && hook {
				fmt.Fprintln(e.Err, "gcity: "+output.SafeText(err.Error()))
				return nil
			}
			if err != nil {
				return err
			}
			if p.Agent != "" && (len(args) == 0 || args[0] == "") {
				if p.Handed, err = leftFor(ctx, e, p.Agent); err != nil {
					fmt.Fprintln(e.Err, "gcity: cannot read what the previous session left: "+
						output.SafeText(err.Error()))
				}
			}
			if e.JSON {
				return e.WriteJSON(p)
			}
			e.Sayf("%s", shown(e, strings.TrimRight(p.Prompt, "\n")))
			if text := mail.Left(p.Handed); text != "" {
				e.Sayf("\n%s", shown(e, strings.TrimRight(text, "\n")))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&hook, "hook", false, "for a hook file: never fail")
	return c
}

// prime returns the prompt of the agent that is named, or of the session's own agent.
func prime(ctx context.Context, e *env.Env, args []string) (primeShape, error) {
	name, named := e.Getenv("GC_AGENT"), len(args) > 0 && args[0] != ""
	if named {
		name = args[0]
	}
	dir, err := e.CityDir()
	if err != nil && named {
		return primeShape{}, err
	}
	if err != nil || name == "" {
		return primeShape{Prompt: generic(dir)}, nil
	}
	c, err := folder.LoadCity(dir)
	if err != nil {
		return primedBefore(ctx, e, dir, name, err)
	}
	w, err := env.WantOf(folder.Plan(c, dir), name)
	switch {
	case err != nil && named:
		return primeShape{}, err
	case err != nil: // the agent itself asks, so it is running but no longer declared
		return primeShape{Prompt: generic(dir)}, nil
	}
	text, err := folder.PromptOf(ctx, w)
	if err != nil {
		return primeShape{}, err
	}
	if strings.TrimSpace(text) == "" {
		text = unprompted(w)
	}
	return primeShape{Agent: w.Name, File: w.Prompt.File, Prompt: text}, nil
}

// primedBefore asks the controller if the configuration on disk is invalid, because the previous one is in force
// there.
func primedBefore(ctx context.Context, e *env.Env, dir, name string, refused error) (primeShape,
	error) {
	near, closeNear, err := e.Dial(dir)
	if err != nil {
		return primeShape{}, refused
	}
	defer closeNear()
	g, err := env.FindAgent(ctx, near, name)
	if err != nil {
		return primeShape{}, errors.Join(refused, err)
	}
	about, err := near.Inspect(ctx, g.Name)
	if err != nil || about.Prompt == "" {
		return primeShape{}, refused
	}
	return primeShape{Agent: g.Name, File: about.PromptFile, Prompt: about.Prompt}, nil
}

// ways lists the commands that every agent has.
const ways = `  gc hook                    your work: what is in progress, and what you may start
  gc bead show ID            one piece of it with all its details
  gc bead update ID --claim  take it before you start; if that fails, another agent
                             has taken it
  gc bead close ID           when it is done
  gc agent drain-check       exit 0: you are asked to finish; then end with gc agent drain-ack
  gc --help                  everything else`

// unprompted returns the text for an agent without a prompt.
func unprompted(w *agent.Want) string {
	return fmt.Sprintf("You are the agent %s of a city of agents. Your folder is %s.\nYou have "+
		"no prompt. What you can do:\n\n%s", w.Name, w.Spec.Dir, ways)
}

// generic returns the text for a caller that is not an agent.
func generic(dir string) string {
	if dir == "" {
		return "This folder is not in a city: gcity init creates one, --city DIR selects one.\n" +
			"Agents of a city have:\n\n" + ways
	}
	return fmt.Sprintf("This is the city in %s. You are not one of its agents: gc prime AGENT "+
		"prints the prompt of one,\ngc status lists them. Agents have:\n\n%s", dir, ways)
}
